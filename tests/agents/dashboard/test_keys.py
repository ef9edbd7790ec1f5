"""The API key pages: list, create, revoke."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from agents.models import ApiKey
from auditlog.models import AuditEntry
from config.api.scopes import SCOPES
from tests import factories
from tests.conftest import ApiClient
from tests.pages import Pages, form_of, words
from workspaces.models import User, Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
FORM = {"key": "k", "name": "Script", "scopes": ["posts.read", "usage.read"], "expires_at": ""}


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """The frozen clock, set to noon."""
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture
def pages(clock: Any, workspace: Workspace, owner: User) -> Pages:
    return Pages(workspace, owner)


def token_on(page: Any) -> str:
    return str(page.content.decode().partition('<code id="token">')[2].partition("<")[0])


def test_a_new_key_is_shown_once(pages: Pages, workspace: Workspace) -> None:
    page = pages.post("api-key-new", FORM)

    key, token = ApiKey.objects.get(), token_on(page)
    assert page.status_code == 200
    assert (key.name, key.scopes, key.expires_at) == ("Script", ["posts.read", "usage.read"], None)
    assert ApiClient(token).get(f"/posts/search?workspace_id={workspace.id}").status_code == 200
    assert "no-store" in page["cache-control"]

    again = pages.post("api-key-new", FORM, follow=True)
    assert "This key was already created" in words(again)
    assert token not in again.content.decode()
    assert ApiKey.objects.count() == 1
    assert "Script" in words(again)


def test_the_last_day_ends_at_midnight_in_the_workspaces_zone(pages: Pages, workspace: Workspace) -> None:
    Workspace.objects.filter(pk=workspace.pk).update(default_timezone="America/New_York")
    page = pages.post("api-key-new", {**FORM, "expires_at": "2027-03-31"})
    shown = words(pages.get("api-keys"))

    assert page.status_code == 200
    assert ApiKey.objects.get().expires_at == datetime(2027, 4, 1, 4, tzinfo=UTC)
    assert "works until 1 Apr 2027, 00:00" in shown


def test_a_key_limited_to_networks_shows_them(pages: Pages) -> None:
    page = pages.post("api-key-new", {**FORM, "allowed_networks": " 203.0.113.0/24\r\n2001:DB8::/32, 198.51.100.7\n"})

    assert ApiKey.objects.get().allowed_networks == ["203.0.113.0/24", "2001:db8::/32", "198.51.100.7/32"]
    for shown in (words(page), words(pages.get("api-keys"))):
        assert "works only from 203.0.113.0/24, 2001:db8::/32, 198.51.100.7/32" in shown


def test_the_list_shows_the_networks_that_a_key_was_used_from(pages: Pages, workspace: Workspace) -> None:
    token = factories.workspace_key(workspace)
    for address in ("203.0.113.7", "198.51.100.7"):
        Client(headers={"authorization": f"Bearer {token}"}, REMOTE_ADDR=address).get("/capabilities")

    expected = "used from 203.0.113.0/24, 198.51.100.0/24; the last of these new on 10 Mar 2027, 12:00"
    assert expected in words(pages.get("api-keys"))


def test_the_form_shows_the_default_expiry(pages: Pages, settings: Any) -> None:
    assert "Empty: works until it is revoked." in words(pages.get("api-key-new"))
    settings.API_KEY_DEFAULT_DAYS = 90
    assert "Empty: works for 90 days." in words(pages.get("api-key-new"))

    assert "works until 8 Jun 2027, 12:00" in words(pages.post("api-key-new", FORM))
    assert "works until 8 Jun 2027, 12:00" in words(pages.get("api-keys"))


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ({"name": " "}, "This field is required."),
        ({"scopes": []}, "This field is required."),
        ({"scopes": ["posts.everything"]}, "posts.everything is not one of the available choices"),
        ({"expires_at": "2027-03-09"}, "Must be in the future."),
        ({"expires_at": "9999-12-31"}, "Choose an earlier day"),
        ({"expires_at": "soon"}, "Enter a valid date."),
        ({"allowed_networks": "203.0.113.7/24"}, "203.0.113.7/24: Has bits set after its prefix; write 203.0.113.0/24."),
        ({"allowed_networks": "0.0.0.0/0\nhere"}, "here: Must be a network such as"),
        ({"allowed_networks": " ".join(f"10.0.0.{number}" for number in range(21))}, "Enter at most 20 networks."),
        ({"key": ""}, "The form is incomplete. Load the page again"),
    ],
    ids=str,
)
def test_a_form_with_mistakes_is_shown_again(pages: Pages, typed: dict[str, Any], expected: str) -> None:
    form = {**FORM, "name": "Kept", **typed}
    page = pages.post("api-key-new", form)

    assert page.status_code == 422
    assert expected in words(page)
    assert form_of(page)["name"].strip() == form["name"].strip()
    assert not ApiKey.objects.exists()


def test_every_key_shows_its_scopes_and_can_be_revoked(pages: Pages, workspace: Workspace) -> None:
    token = factories.workspace_key(workspace, ["usage.read"])
    key = ApiKey.objects.get()
    agent = factories.AgentFactory(workspace=workspace, scopes=["api_keys.write"])
    factories.agent_key(agent)

    shown = words(pages.get("api-keys"))
    assert "See usage and costs" in shown
    assert "key of the agent Robot" in shown
    assert "Nothing: agents cannot administer" in shown
    assert "Administer" not in shown

    expected = pages.post("api-key-revoke", follow=True, api_key_id=key.id)
    assert "The key A key is revoked" in words(expected)
    assert ApiClient(token).get(f"/usage?workspace_id={workspace.id}").json()["code"] == "API_KEY_REVOKED"
    assert AuditEntry.objects.get(operation="api_keys.revoke").resource_id == key.id


def test_members_and_strangers_cannot_see_create_or_revoke_keys(
    workspace: Workspace, owner: User, teammate: User, stranger: User
) -> None:
    factories.workspace_key(workspace)
    key = ApiKey.objects.get()
    member = Pages(workspace, teammate)

    page = member.get("api-keys")
    assert "Owners and admins see the keys" in words(page)
    assert key.prefix not in page.content.decode()
    assert member.get("api-key-new").status_code == 403
    for pages in (member, Pages(stranger.owned_workspaces.get(), stranger), Pages(workspace, owner, csrf=True)):
        assert pages.post("api-key-revoke", api_key_id=key.id).status_code in (303, 403)
    assert member.post("api-key-new", FORM).status_code == 303
    assert Pages(workspace, owner, csrf=True).post("api-key-new", FORM).status_code == 403
    assert Pages(workspace, stranger).post("api-key-new", FORM).status_code == 404
    assert [each.status for each in ApiKey.objects.all()] == ["active"]


def test_a_key_of_the_owners_other_workspace_is_not_revoked(pages: Pages, owner: User) -> None:
    factories.workspace_key(factories.WorkspaceFactory(owner_user=owner))
    key = ApiKey.objects.get()
    assert "There is no such API key" in words(pages.post("api-key-revoke", follow=True, api_key_id=key.id))
    key.refresh_from_db()
    assert key.status == "active"


def test_a_paused_workspace_refuses_a_new_key_and_shows_why(pages: Pages, workspace: Workspace) -> None:
    Workspace.objects.filter(pk=workspace.pk).update(status="paused")
    page = pages.post("api-key-new", FORM)
    assert page.status_code == 403
    assert "This workspace is paused" in words(page)
    assert not ApiKey.objects.exists()


def test_the_list_needs_few_queries(
    pages: Pages, workspace: Workspace, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(5):
        factories.agent_key(factories.AgentFactory(workspace=workspace, scopes=list(SCOPES)))
    with django_assert_max_num_queries(9):
        pages.get("api-keys")
