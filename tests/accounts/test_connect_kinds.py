"""Two applications at one platform: a member's profile and pages are connected side by side, and each stays connected."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.urls import reverse
from pytest_django import Settings

from accounts.models import ConnectedAccount
from accounts.services import renew_expiring_tokens
from tests.accounts.oauth_calls import Granted, begin, complete
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.fakes.linkedin import FakeLinkedIn
from tests.fakes.linkedin_methods import TOKEN
from tests.fakes.linkedin_oauth import CLIENT_ID, CLIENT_SECRET, PAGES_CLIENT_ID, PAGES_CLIENT_SECRET
from tests.pages import Pages, form_of, words
from workspaces.models import User, Workspace

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
FOR_PAGES = ("LINKEDIN_PAGES_CLIENT_ID", "LINKEDIN_PAGES_CLIENT_SECRET")
MEMBER, PAGE = "urn:li:person:m0-X_z", "urn:li:organization:2414183"


@pytest.fixture
def server(settings: Settings) -> Iterator[FakeLinkedIn]:
    with FakeLinkedIn() as running:
        running.register_redirect(settings.BASE_URL + reverse("connect-callback"))
        running.add_member("Alice", pages={"2414183": "Acme"})
        settings.PLATFORM_SETTINGS = {
            "LINKEDIN_CLIENT_ID": CLIENT_ID,
            "LINKEDIN_CLIENT_SECRET": CLIENT_SECRET,
            "LINKEDIN_PAGES_CLIENT_ID": PAGES_CLIENT_ID,
            "LINKEDIN_PAGES_CLIENT_SECRET": PAGES_CLIENT_SECRET,
            "LINKEDIN_API_BASE": running.url,
            "LINKEDIN_AUTH_BASE": running.url,
        }
        yield running


@pytest.fixture
def without_pages(server: FakeLinkedIn, settings: Settings) -> None:
    """Configure only the application for members."""
    settings.PLATFORM_SETTINGS = {name: value for name, value in settings.PLATFORM_SETTINGS.items() if name not in FOR_PAGES}


def connect(api: ApiClient, workspace: Workspace, server: FakeLinkedIn, **given: str) -> dict[str, Any]:
    """Connect an account of the chosen kind and return it."""
    begun = begin(api, workspace, platform="linkedin", credentials=given).json()
    brought = Granted(begun["state"], server.grant(begun["authorization_url"], "Alice"))
    return dict(complete(api, brought).json()["account"])


def schema_of(api: ApiClient) -> dict[str, Any]:
    """Return the schema of the values needed before the grant, as GET /capabilities shows it."""
    rows = api.get("/capabilities").json()["account_connections"]
    [row] = [row for row in rows if row["provider"] == "linkedin"]
    assert row["available"] is True
    return dict(row["credentials_schema"])


def test_a_profile_and_a_page_are_connected_side_by_side_and_both_renewed(
    api: ApiClient, workspace: Workspace, server: FakeLinkedIn
) -> None:
    assert schema_of(api)["required"] == ["kind"]
    with time_machine.travel(NOON, tick=False) as clock:
        accounts = [connect(api, workspace, server, kind=kind) for kind in ("member", "pages")]
        assert [(each["external_id"], each["handle"]) for each in accounts] == [(MEMBER, "Alice"), (PAGE, "acme")]

        clock.shift(timedelta(days=50))
        assert renew_expiring_tokens() == 2

        renewed = list(ConnectedAccount.objects.values_list("token_expires_at", flat=True))
        assert renewed == [NOON + timedelta(days=110)] * 2
        clock.shift(timedelta(days=61))  # the next run finds both tokens stale
        for each in accounts:
            assert api.get(f"/accounts/{each['id']}/status").json()["account"]["status"] == "active"
    assert server.requests_to(TOKEN) == 6


def test_the_kind_is_required_if_there_is_a_choice(api: ApiClient, workspace: Workspace, server: FakeLinkedIn) -> None:
    for given, field, code in [({}, "kind", "required"), ({"kind": "group"}, "kind", "enum")]:
        answer = begin(api, workspace, platform="linkedin", credentials=given)
        [detail] = assert_envelope(answer, 422, "VALIDATION_FAILED")["details"]
        assert (detail["field"], detail["code"]) == (f"credentials.{field}", code)


@pytest.mark.usefixtures("without_pages")
def test_with_one_application_no_kind_is_required(api: ApiClient, workspace: Workspace, server: FakeLinkedIn) -> None:
    schema = schema_of(api)
    assert (schema["required"], schema["properties"]["kind"]["default"]) == ([], "member")

    assert connect(api, workspace, server)["external_id"] == MEMBER


@pytest.mark.usefixtures("without_pages")
def test_a_kind_without_its_application_is_refused_with_the_names_of_its_settings(
    api: ApiClient, workspace: Workspace
) -> None:
    answer = begin(api, workspace, platform="linkedin", credentials={"kind": "pages"})

    error = assert_envelope(answer, 503, "CONNECTION_UNAVAILABLE")
    assert error["message"] == (
        "The operator of this service has not set LINKEDIN_PAGES_CLIENT_ID and LINKEDIN_PAGES_CLIENT_SECRET, which "
        "LinkedIn needs for pages."
    )


def test_a_person_chooses_the_kind_on_the_page(workspace: Workspace, owner: User, server: FakeLinkedIn) -> None:
    pages = Pages(workspace, owner)
    page = pages.get("account-connect", platform_name="linkedin")
    assert "What to connect" in words(page)
    form = form_of(page, "/dashboard/connect")
    assert "kind" not in form  # nothing is chosen for the person

    for kind, client_id in [("member", CLIENT_ID), ("pages", PAGES_CLIENT_ID)]:
        assert f'value="{kind}"' in page.content.decode()
        answer = pages.http.post("/dashboard/connect", {**form, "kind": kind})
        assert f"client_id={client_id}&" in answer["location"]


@pytest.mark.usefixtures("without_pages")
def test_the_page_has_no_choice_of_kind_with_one_application(workspace: Workspace, owner: User) -> None:
    pages = Pages(workspace, owner)
    page = pages.get("account-connect", platform_name="linkedin")
    assert "What to connect" not in words(page)

    answer = pages.http.post("/dashboard/connect", form_of(page, "/dashboard/connect"))

    assert f"client_id={CLIENT_ID}&" in answer["location"]
