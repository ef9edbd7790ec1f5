from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from pytest_django import Settings

from accounts.platforms.errors import (
    ConnectionUnavailable,
    CredentialsRejected,
    PlatformError,
    ReauthRequired,
    Transient,
)
from accounts.platforms.linkedin.adapter import LinkedIn
from tests.accounts.platforms.adapter_steps import Account
from tests.accounts.platforms.contract.world import redirect_uri
from tests.accounts.platforms.linkedin.scripted_server import ScriptedServer
from tests.accounts.platforms.linkedin.steps import MEMBER, PAGE, connect, error
from tests.fakes.http_server import Answer
from tests.fakes.linkedin import FakeLinkedIn
from tests.fakes.linkedin_methods import ACLS, ME, ORGANIZATIONS, TOKEN
from tests.fakes.linkedin_oauth import COMMUNITY_MANAGEMENT, PAGES_CLIENT_ID, PAGES_CLIENT_SECRET, Application

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
PAGES_SCOPES = ["r_basicprofile", "w_organization_social", "rw_organization_admin", "w_organization_social_feed"]


def test_a_member_is_connected_for_60_days(server: FakeLinkedIn) -> None:
    with time_machine.travel(NOW, tick=False):
        [member] = connect(server, "member")

    assert member.identity.external_id == MEMBER
    assert member.identity.avatar_url.startswith("https://media.licdn.com/")
    assert member.scopes == ("openid", "profile", "w_member_social")
    assert member.grant.expires_at == NOW + timedelta(days=60)
    assert set(member.grant.tokens) == {"access_token", "refresh_token", "application"}


def test_a_connection_without_an_application_is_one_for_members(linkedin: LinkedIn, server: FakeLinkedIn) -> None:
    """The connection was started when there was only one application."""
    url = linkedin.begin_oauth(state="s", redirect_uri=redirect_uri(), given={"kind": "member"}).url
    code = server.grant(url, "Alice")

    [member] = linkedin.exchange_code_for_accounts(code=code, redirect_uri=redirect_uri(), stored={})

    assert member.identity.external_id == MEMBER


def test_the_pages_that_a_member_may_post_for_are_connected(linkedin: LinkedIn, server: FakeLinkedIn) -> None:
    server.set_role("Alice", "5", "CONTENT_ADMINISTRATOR")  # a page without a name
    server.set_role("Alice", "6", "ANALYST")
    server.set_role("Alice", "7", "ADMINISTRATOR", state="REQUESTED")

    page, nameless = connect(server, "pages")

    assert (page.identity.external_id, page.identity.handle, page.identity.display_name) == (PAGE, "acme", "Acme")
    assert page.identity.profile_url == "https://www.linkedin.com/company/acme"
    assert (nameless.identity.handle, nameless.identity.profile_url) == ("5", "https://www.linkedin.com/company/5")
    for each in (page, nameless):
        assert each.scopes == tuple(PAGES_SCOPES)
        assert set(each.grant.tokens) == {"access_token", "refresh_token", "application"}
        assert linkedin.check_and_identify(each.grant) == each.identity


def test_the_development_tier_describes_pages_one_by_one(linkedin: LinkedIn, server: FakeLinkedIn) -> None:
    """Only some pages are described, because the owner is waiting; the others are shown by their numbers."""
    tier = Application(PAGES_CLIENT_SECRET, (COMMUNITY_MANAGEMENT,), batches=False)
    server.add_application(PAGES_CLIENT_ID, tier)
    server.add_member("Bob", pages={str(number): f"Page{number}" for number in range(1000, 1025)})

    connections = connect(server, "pages", "Bob")

    assert [each.identity.handle for each in connections] == [
        *(f"page{number}" for number in range(1000, 1020)),
        *(str(number) for number in range(1020, 1025)),
    ]
    assert linkedin.check_and_identify(connections[-1].grant).handle == "page1024"


def test_the_error_for_a_member_without_pages_names_the_member(server: FakeLinkedIn) -> None:
    """A browser may be signed in to LinkedIn as somebody else than the owner thinks."""
    server.add_member("Bob Smith")

    with pytest.raises(CredentialsRejected) as caught:
        connect(server, "pages", "Bob Smith")

    assert caught.value.message == "Bob Smith may not post for any LinkedIn page."
    assert "sign in to LinkedIn as somebody" in caught.value.suggested_action


def test_pages_beyond_the_first_response_are_connected(server: FakeLinkedIn) -> None:
    server.add_member("Bob", pages={str(number): f"Page{number}" for number in range(1000, 1120)})

    connections = connect(server, "pages", "Bob")

    assert [each.identity.handle for each in connections] == [f"page{number}" for number in range(1000, 1120)]


@pytest.mark.parametrize(
    ("kind", "scopes", "missing"),
    [
        ("member", ["openid", "w_member_social"], "profile"),
        ("member", ["openid", "profile"], "w_member_social"),
        ("pages", ["w_organization_social", "rw_organization_admin"], "r_basicprofile"),
        ("pages", ["r_basicprofile", "w_organization_social"], "rw_organization_admin, w_organization_social"),
    ],
)
def test_the_error_names_the_missing_scopes(server: FakeLinkedIn, kind: str, scopes: list[str], missing: str) -> None:
    with pytest.raises(CredentialsRejected) as caught:
        connect(server, kind, scopes=scopes)

    assert caught.value.message == f"The grant lacks what the service needs at LinkedIn: {missing}."


def test_a_retired_version_is_an_error_of_the_operator(server: FakeLinkedIn, settings: Settings) -> None:
    server.retire_version("202712")
    with pytest.raises(ConnectionUnavailable) as caught:
        connect(server, "pages")
    assert "LINKEDIN_API_VERSION" in caught.value.suggested_action

    settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, "LINKEDIN_API_VERSION": "202712"}
    assert len(connect(server, "pages")) == 1


@pytest.mark.parametrize(
    ("call", "answer", "expected"),
    [
        (ME, error(403, "Not enough permissions"), CredentialsRejected),
        (ACLS, Answer.of_json({"elements": None}), Transient),
        (ACLS, Answer(999, b"Request denied"), Transient),
        (ORGANIZATIONS, Answer(503), Transient),
    ],
)
def test_each_error_of_the_list_of_pages_is_translated(
    server: FakeLinkedIn, call: str, answer: Answer, expected: type[PlatformError]
) -> None:
    server.refuse_next(call, answer)

    with pytest.raises(PlatformError) as caught:
        connect(server, "pages")

    assert type(caught.value) is expected


def test_a_hostile_description_of_a_page_becomes_harmless_text(linkedin: LinkedIn, scripted: ScriptedServer) -> None:
    description = {"localizedName": "B\n" + "y " * 5000, "vanityName": "../../admin"}
    urns: list[Any] = [PAGE, "urn:li:organization:1/../2", None, {}]
    roles = [{"organization": urn, "role": "ADMINISTRATOR"} for urn in urns]
    scripted.answers |= {
        TOKEN: Answer.of_json({"access_token": "secret-token", "scope": ",".join(PAGES_SCOPES)}),
        ME: Answer.of_json({"id": "m0-X_z"}),
        ACLS: Answer.of_json({"elements": [*roles, "x"]}),
        ORGANIZATIONS: Answer.of_json({"results": {"2414183": description}}),
    }

    [found] = linkedin.exchange_code_for_accounts(code="c", redirect_uri=redirect_uri(), stored={"application": "pages"})

    assert found.identity.handle == "2414183"
    assert found.identity.profile_url == "https://www.linkedin.com/company/2414183"
    assert found.identity.display_name.isprintable()
    assert len(found.identity.display_name) <= 300


@pytest.mark.parametrize(("role", "state"), [("ANALYST", "APPROVED"), ("ADMINISTRATOR", "REVOKED")])
def test_a_page_is_disconnected_when_the_member_loses_the_role(
    server: FakeLinkedIn, page: Account, role: str, state: str
) -> None:
    server.set_role("Alice", "2414183", role, state=state)

    with pytest.raises(ReauthRequired):
        page.adapter.check_and_identify(page.grant)


def test_without_a_refresh_token_the_owner_connects_again(linkedin: LinkedIn, server: FakeLinkedIn) -> None:
    server.without_refresh_tokens()
    [member] = connect(server, "member")
    assert set(member.grant.tokens) == {"access_token", "application"}

    with pytest.raises(ReauthRequired, match="60 days"):
        linkedin.refresh_grant(member.grant)
    assert server.requests_to(TOKEN) == 1


def test_disconnecting_a_page_leaves_the_other_pages_of_the_login_connected(linkedin: LinkedIn, server: FakeLinkedIn) -> None:
    server.set_role("Alice", "5", "ADMINISTRATOR")
    first, second = (each.grant for each in connect(server, "pages"))

    linkedin.revoke_grant(first)

    assert linkedin.check_and_identify(second).handle == "5"


def test_tokens_are_renewed_by_the_application_that_they_were_issued_to(page: Account, member: Account) -> None:
    with pytest.raises(ReauthRequired):
        page.adapter.refresh_grant(replace(page.grant, tokens={**page.grant.tokens, "application": "member"}))
    assert page.adapter.refresh_grant(page.grant).tokens["application"] == "pages"

    older = {name: value for name, value in member.grant.tokens.items() if name != "application"}
    renewed = member.adapter.refresh_grant(replace(member.grant, tokens=older))
    assert member.adapter.check_and_identify(renewed).external_id == MEMBER


def test_tokens_of_an_application_that_is_not_set_up_are_not_sent(
    server: FakeLinkedIn, page: Account, settings: Settings
) -> None:
    settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, "LINKEDIN_PAGES_CLIENT_ID": ""}
    before = server.requests_to(TOKEN)

    with pytest.raises(ConnectionUnavailable, match="LINKEDIN_PAGES_CLIENT_ID"):
        page.adapter.refresh_grant(page.grant)

    assert server.requests_to(TOKEN) == before
