"""The page by which an account of one platform is connected."""

from __future__ import annotations

import re
from typing import Any

import pytest

from accounts.models import ConnectedAccount, ConnectionAttempt
from accounts.platforms.registry import PLATFORMS, platform
from auditlog.models import AuditEntry
from tests.accounts.conftest import APP_PASSWORD, HANDLE
from tests.fakes.bluesky import FakeBluesky
from tests.fakes.oauth_platform import FakeOAuthPlatform
from tests.pages import Pages, form_of, has_form, words
from workspaces.models import User, Workspace

SECRETS = {"app_password", "access_token", "bot_token", "webhook_url"}


@pytest.fixture
def pages(workspace: Workspace, owner: User) -> Pages:
    return Pages(workspace, owner)


@pytest.fixture
def typed(pds: FakeBluesky) -> dict[str, str]:
    """Good credentials, as people paste them."""
    return {"identifier": f" {HANDLE}", "app_password": f"{APP_PASSWORD} ", "service": pds.url}


@pytest.mark.parametrize("name", PLATFORMS)
def test_every_way_of_every_platform_has_a_form_or_says_why_not(pages: Pages, name: str) -> None:
    """What is asked for are texts, so that a form can take them; secrets are marked, and typed unseen."""
    page = pages.get("account-connect", platform_name=name)
    chosen = platform(name)
    for method in chosen.methods:
        obstacle = chosen.unavailable_reason(method)
        assert obstacle is None or obstacle in words(page)
        assert obstacle or has_form(page, "/dashboard/connect" if method == "oauth" else "")
    for schema in filter(None, (chosen.credentials_schema, chosen.oauth_schema)):
        assert {rule["type"] for rule in schema["properties"].values()} == {"string"}
        assert {field for field, rule in schema["properties"].items() if rule.get("writeOnly")} == SECRETS & set(
            schema["properties"]
        )
    inputs = dict(re.findall(r'<input type="([a-z]+)" name="([a-z_]+)"', page.content.decode()))
    assert all(kind == "password" for kind, field in inputs.items() if field in SECRETS)


@pytest.mark.parametrize("name", PLATFORMS)
def test_a_way_that_is_not_available_tells_what_the_operator_has_to_do(pages: Pages, name: str, settings: Any) -> None:
    settings.PLATFORM_SETTINGS = {}
    page = pages.get("account-connect", platform_name=name)
    applications = platform(name).setup.applications
    assert ("What the operator of this service has to do" in words(page)) is bool(applications)
    for application in applications:
        assert f'href="{application.portal}"' in page.content.decode()
        redirect = f"{settings.BASE_URL}{application.redirect_path}"
        for told in (*application.products, redirect, *application.scopes, *application.settings, application.review):
            assert told in words(page)


def test_what_the_operator_has_done_is_not_told(pages: Pages, settings: Any) -> None:
    settings.PLATFORM_SETTINGS = {"X_CLIENT_ID": "the id", "X_CLIENT_SECRET": "the secret"}
    assert "What the operator" not in words(pages.get("account-connect", platform_name="x"))


@pytest.mark.parametrize("name", PLATFORMS)
def test_what_is_not_possible_is_told_before_an_account_is_connected(pages: Pages, name: str) -> None:
    shown = words(pages.get("account-connect", platform_name=name))
    assert all(sentence in shown for sentence in platform(name).capabilities.not_possible)


def test_good_credentials_connect_the_account(pages: Pages, workspace: Workspace, typed: dict[str, str]) -> None:
    told = pages.post("account-connect", typed, follow=True, platform_name="bluesky")

    account = ConnectedAccount.objects.get()
    assert (account.workspace, account.handle, account.method) == (workspace, HANDLE, "credentials")
    assert f"The Bluesky account {HANDLE} is connected." in words(told)
    assert told.request["PATH_INFO"] == pages.address("account", account_id=account.id)
    assert AuditEntry.objects.get(operation="accounts.connect").actor_type == "user"


def test_an_account_that_is_connected_again_is_renewed(
    pages: Pages, connected: ConnectedAccount, typed: dict[str, str]
) -> None:
    ConnectedAccount.objects.update(status="needs_reauth")
    pages.post("account-connect", typed, platform_name="bluesky")
    assert ConnectedAccount.objects.values_list("pk", "status").get() == (connected.pk, "active")


def test_credentials_that_the_platform_refuses_are_told_and_never_shown(pages: Pages, typed: dict[str, str]) -> None:
    page = pages.post("account-connect", {**typed, "app_password": "wrong-wrong"}, platform_name="bluesky")

    assert page.status_code == 422
    assert 'role="alert"' in page.content.decode()
    assert "wrong-wrong" not in page.content.decode()
    assert form_of(page)["identifier"].strip() == HANDLE
    assert not ConnectedAccount.objects.exists()
    refused = AuditEntry.objects.get(operation="accounts.connect")
    assert (refused.outcome, refused.code) == ("refused", "CREDENTIALS_REJECTED")


@pytest.mark.parametrize(
    ("name", "form", "told"),
    [
        ("bluesky", {"identifier": HANDLE}, "This field is required."),
        ("telegram", {"bot_token": "none", "chat_id": "@news"}, "This does not look as the hint says."),
        ("telegram", {"bot_token": "1:a", "chat_id": "two words"}, "This does not look as the hint says."),
        ("bluesky", {"identifier": "a" * 513, "app_password": "a"}, "at most 512 characters"),
        ("x", {}, "X is connected by oauth."),
    ],
)
def test_a_form_with_mistakes_is_shown_again(pages: Pages, name: str, form: dict[str, str], told: str) -> None:
    page = pages.post("account-connect", form, platform_name=name)
    assert page.status_code == 422
    assert told in words(page)
    assert not ConnectedAccount.objects.exists()


def test_the_way_by_oauth_leads_to_the_platform(
    pages: Pages, workspace: Workspace, provider: FakeOAuthPlatform
) -> None:
    page = pages.get("account-connect", platform_name="pinterest")
    answer = pages.http.post("/dashboard/connect", form_of(page, "/dashboard/connect"))

    assert answer["location"].startswith(provider.url)
    attempt = ConnectionAttempt.objects.get()
    assert (attempt.workspace, attempt.platform) == (workspace, "pinterest")


def test_what_oauth_asks_for_is_asked(pages: Pages) -> None:
    page = pages.get("account-connect", platform_name="mastodon")
    assert set(form_of(page, "/dashboard/connect")) >= {"workspace_id", "platform", "instance"}


def test_there_is_no_page_for_a_platform_that_is_not_known(pages: Pages) -> None:
    assert pages.get("account-connect", platform_name="nowhere").status_code == 404


def test_nobody_else_connects_anything(
    workspace: Workspace, owner: User, teammate: User, stranger: User, typed: dict[str, str], pds: FakeBluesky
) -> None:
    member, foreign = Pages(workspace, teammate), Pages(workspace, stranger)
    forged = Pages(workspace, owner, csrf=True)
    assert member.get("account-connect", platform_name="bluesky").status_code == 403
    assert foreign.get("account-connect", platform_name="bluesky").status_code == 404
    told = member.post("account-connect", typed, follow=True, platform_name="bluesky")
    assert "it needs an owner or admin" in words(told)
    assert foreign.post("account-connect", typed, platform_name="bluesky").status_code == 404
    assert forged.post("account-connect", typed, platform_name="bluesky").status_code == 403
    assert pds.sessions_created == 0
    assert not ConnectedAccount.objects.exists()
