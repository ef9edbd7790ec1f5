from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from pytest_django import Settings

from accounts.platforms.errors import (
    AccountDisconnected,
    ConnectionUnavailable,
    CredentialsRejected,
    PlatformError,
    RateLimited,
    Transient,
)
from accounts.platforms.linkedin.adapter import LinkedIn
from accounts.platforms.types import Connection, Grant
from tests.accounts.platforms.linkedin.scripted_server import ScriptedServer
from tests.accounts.platforms.linkedin.steps import MEMBER, PAGE, REDIRECT_URI, connect
from tests.fakes.http_server import Answer
from tests.fakes.linkedin import FakeLinkedIn
from tests.fakes.linkedin_methods import ACLS, ORGANIZATIONS, TOKEN, USERINFO
from tests.fakes.linkedin_oauth import (
    CLIENT_SECRET,
    COMMUNITY_MANAGEMENT,
    PAGES_CLIENT_ID,
    PAGES_CLIENT_SECRET,
    Application,
)

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
MEMBER_SCOPES = ["openid", "profile", "w_member_social"]
PAGES_SCOPES = ["r_basicprofile", "w_organization_social", "rw_organization_admin", "w_organization_social_feed"]
TOKENS = {"access_token": "secret-token", "expires_in": 5183999, "scope": ",".join([*MEMBER_SCOPES, *PAGES_SCOPES])}
ALICE = {"sub": "m0-X_z", "name": "Alice"}


def exchange(linkedin: LinkedIn, code: str = "c", redirect_uri: str = REDIRECT_URI) -> tuple[Connection, ...]:
    return linkedin.exchange(code=code, redirect_uri=redirect_uri, stored={"application": "member"})


def test_a_member_is_opened_by_the_application_for_members(linkedin: LinkedIn, server: FakeLinkedIn) -> None:
    with time_machine.travel(NOW, tick=False):
        [member] = connect(linkedin, server, "member")

    assert (member.identity.external_id, member.identity.handle) == (MEMBER, "Alice")
    assert member.identity.avatar_url.startswith("https://media.licdn.com/")
    assert member.scopes == tuple(MEMBER_SCOPES)
    assert member.grant.external_id == member.identity.external_id
    assert member.grant.expires_at == NOW + timedelta(days=60)
    assert set(member.grant.tokens) == {"access_token", "refresh_token", "application"}
    assert linkedin.identify(member.grant) == member.identity


def test_a_connection_that_names_no_application_is_completed_for_members(
    linkedin: LinkedIn, server: FakeLinkedIn
) -> None:
    """It was begun when there was one application only."""
    url = linkedin.authorize(state="s", redirect_uri=REDIRECT_URI, given={"kind": "member"}).url
    code = server.grant(url, "Alice")

    [member] = linkedin.exchange(code=code, redirect_uri=REDIRECT_URI, stored={})

    assert member.identity.external_id == MEMBER


def test_the_pages_that_a_member_may_post_for_are_opened_by_the_application_for_pages(
    linkedin: LinkedIn, server: FakeLinkedIn
) -> None:
    server.set_role("Alice", "5", "CONTENT_ADMINISTRATOR")  # a page without a name
    server.set_role("Alice", "6", "ANALYST")
    server.set_role("Alice", "7", "ADMINISTRATOR", state="REQUESTED")

    page, nameless = connect(linkedin, server, "pages")

    assert (page.identity.external_id, page.identity.handle, page.identity.display_name) == (PAGE, "acme", "Acme")
    assert page.identity.profile_url == "https://www.linkedin.com/company/acme"
    assert (nameless.identity.handle, nameless.identity.profile_url) == ("5", "https://www.linkedin.com/company/5")
    for each in (page, nameless):
        assert each.scopes == tuple(PAGES_SCOPES)
        assert each.grant.external_id == each.identity.external_id
        assert set(each.grant.tokens) == {"access_token", "refresh_token", "application"}
        assert linkedin.identify(each.grant) == each.identity


def test_pages_are_named_one_by_one_for_an_application_of_the_development_tier(
    linkedin: LinkedIn, server: FakeLinkedIn
) -> None:
    """What is not named in the time that an owner waits is shown by its number."""
    tier = Application(PAGES_CLIENT_SECRET, (COMMUNITY_MANAGEMENT,), batches=False)
    server.add_application(PAGES_CLIENT_ID, tier)
    server.add_member("Bob", pages={str(number): f"Page{number}" for number in range(1000, 1025)})

    connections = connect(linkedin, server, "pages", "Bob")

    assert [each.identity.handle for each in connections] == [
        *(f"page{number}" for number in range(1000, 1020)),
        *(str(number) for number in range(1020, 1025)),
    ]
    assert linkedin.identify(connections[-1].grant).handle == "page1024"


def test_who_has_no_page_is_told_so_by_name(linkedin: LinkedIn, server: FakeLinkedIn) -> None:
    """A browser may be signed in to LinkedIn as somebody else than the owner thinks."""
    server.add_member("Bob Smith")

    with pytest.raises(CredentialsRejected) as caught:
        connect(linkedin, server, "pages", "Bob Smith")

    assert caught.value.message == "Bob Smith may not post for any LinkedIn page."
    assert "sign in to LinkedIn as somebody" in caught.value.suggested_action


def test_pages_beyond_one_answer_are_found_as_well(linkedin: LinkedIn, server: FakeLinkedIn) -> None:
    server.add_member("Bob", pages={str(number): f"Page{number}" for number in range(1000, 1120)})

    connections = connect(linkedin, server, "pages", "Bob")

    assert [each.identity.handle for each in connections] == [f"page{number}" for number in range(1000, 1120)]


@pytest.mark.parametrize(
    ("kind", "scopes", "told"),
    [
        ("member", ["openid", "w_member_social"], "profile"),
        ("member", ["openid", "profile"], "w_member_social"),
        ("pages", ["w_organization_social", "rw_organization_admin"], "r_basicprofile"),
        ("pages", ["r_basicprofile", "w_organization_social"], "rw_organization_admin, w_organization_social"),
    ],
)
def test_a_consent_that_opens_nothing_is_told_by_what_is_missing(
    linkedin: LinkedIn, server: FakeLinkedIn, kind: str, scopes: list[str], told: str
) -> None:
    with pytest.raises(CredentialsRejected) as caught:
        connect(linkedin, server, kind, scopes=scopes)

    assert caught.value.message == f"The grant lacks what the service needs at LinkedIn: {told}."
    assert "grant everything" in caught.value.suggested_action


def test_a_code_is_good_for_one_exchange_of_who_began_for_half_an_hour(
    linkedin: LinkedIn, server: FakeLinkedIn
) -> None:
    url = linkedin.authorize(state="s", redirect_uri=REDIRECT_URI, given={"kind": "member"}).url
    with time_machine.travel(NOW, tick=False) as clock:
        for code, redirect_uri, minutes in [
            ("guessed", REDIRECT_URI, 0),
            ("", "https://evil.example/", 0),
            ("", REDIRECT_URI, 31),
        ]:
            code = code or server.grant(url, "Alice")
            clock.shift(timedelta(minutes=minutes))
            with pytest.raises(CredentialsRejected):
                exchange(linkedin, code, redirect_uri)
        code = server.grant(url, "Alice")
        exchange(linkedin, code)
        with pytest.raises(CredentialsRejected):
            exchange(linkedin, code)


def test_a_wrong_app_is_the_operators_to_put_right(
    linkedin: LinkedIn, server: FakeLinkedIn, settings: Settings
) -> None:
    settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, "LINKEDIN_CLIENT_SECRET": "wrong"}

    with pytest.raises(ConnectionUnavailable):
        connect(linkedin, server, "member")


def test_a_version_that_linkedin_has_retired_is_the_operators_to_put_right(
    linkedin: LinkedIn, server: FakeLinkedIn, settings: Settings
) -> None:
    server.retire_version("202712")
    with pytest.raises(ConnectionUnavailable) as caught:
        connect(linkedin, server, "pages")
    assert "LINKEDIN_API_VERSION" in caught.value.suggested_action

    settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, "LINKEDIN_API_VERSION": "202712"}
    assert len(connect(linkedin, server, "pages")) == 1


@pytest.mark.parametrize(
    ("call", "answer", "fault"),
    [
        (TOKEN, Answer(503), Transient),
        (TOKEN, Answer(200, b"<html>"), Transient),
        (USERINFO, Answer(503), Transient),
        (USERINFO, Answer(429, b"", {"Retry-After": "30"}), RateLimited),
        (USERINFO, Answer.of_json({"status": 401}, 401), CredentialsRejected),
        (USERINFO, Answer.of_json({"message": "Not enough permissions", "status": 403}, 403), CredentialsRejected),
        (USERINFO, Answer(200, b"<html>"), Transient),
        (USERINFO, Answer.of_json({**ALICE, "sub": "../x"}), Transient),
        (ACLS, Answer.of_json({"elements": None}), Transient),
        (ACLS, Answer(999, b"Request denied"), Transient),
        (ORGANIZATIONS, Answer(503), Transient),
    ],
)
def test_what_fails_on_the_way_is_told_by_what_helps(
    linkedin: LinkedIn, scripted: ScriptedServer, call: str, answer: Answer, fault: type[PlatformError]
) -> None:
    role = {"organization": PAGE, "role": "ADMINISTRATOR", "state": "APPROVED"}
    scripted.answers |= {
        TOKEN: Answer.of_json(TOKENS),
        USERINFO: Answer.of_json(ALICE),
        ACLS: Answer.of_json({"elements": [role]}),
        ORGANIZATIONS: Answer.of_json({"results": {}}),
        call: answer,
    }

    with pytest.raises(PlatformError) as caught:
        exchange(linkedin)

    assert type(caught.value) is fault


def test_a_hostile_profile_is_cut_down_to_harmless_text(linkedin: LinkedIn, scripted: ScriptedServer) -> None:
    page: dict[str, Any] = {"localizedName": "B\n" + "y " * 5000, "vanityName": "../../admin"}
    urns: list[Any] = [PAGE, "urn:li:organization:1/../2", None, {}]
    roles = [{"organization": urn, "role": "ADMINISTRATOR"} for urn in urns]
    profile = {**ALICE, "name": "A\x00\n" + "x " * 5000, "picture": "javascript:alert(1)"}
    scripted.answers |= {
        TOKEN: Answer.of_json(TOKENS),
        USERINFO: Answer.of_json(profile),
        ACLS: Answer.of_json({"elements": [*roles, "x"]}),
        ORGANIZATIONS: Answer.of_json({"results": {"2414183": page}}),
    }

    member, found = (each.identity for each in exchange(linkedin))

    assert (member.display_name[:4], len(member.display_name), member.avatar_url) == ("A  x", 300, "")
    assert (found.handle, found.profile_url) == ("2414183", "https://www.linkedin.com/company/2414183")
    assert found.display_name.isprintable()


@pytest.mark.parametrize("role", ["ANALYST", "ADMINISTRATOR"])
def test_a_page_whose_role_the_member_has_lost_is_not_theirs_any_more(
    linkedin: LinkedIn, server: FakeLinkedIn, page: Grant, role: str
) -> None:
    server.set_role("Alice", "2414183", role, state="REVOKED" if role == "ADMINISTRATOR" else "APPROVED")

    with pytest.raises(AccountDisconnected):
        linkedin.identify(page)


def test_no_fault_and_no_value_shows_a_secret(linkedin: LinkedIn, scripted: ScriptedServer) -> None:
    shown = []
    for call, status in [(TOKEN, 400), (TOKEN, 500), (USERINFO, 401), (USERINFO, 403), (USERINFO, 500)]:
        scripted.answers |= {TOKEN: Answer.of_json(TOKENS), call: Answer.of_json({"message": "no"}, status)}
        with pytest.raises(PlatformError) as caught:
            exchange(linkedin, code="secret-code")
        shown.append(f"{caught.value!r} {caught.value.__cause__!r}")
    scripted.answers |= {TOKEN: Answer.of_json(TOKENS), USERINFO: Answer.of_json(ALICE)}
    scripted.answers[ACLS] = Answer.of_json({"elements": []})

    text = " ".join([*shown, repr(exchange(linkedin))])

    assert "secret-" not in text
    assert CLIENT_SECRET not in text
