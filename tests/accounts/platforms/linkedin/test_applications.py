"""LinkedIn's two applications: the scopes that each requests, and the accounts that each connects."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from pytest_django import Settings

from accounts.platforms.errors import ConnectionUnavailable
from accounts.platforms.linkedin.adapter import LinkedIn
from accounts.platforms.schemas import first_schema_violations
from tests.accounts.platforms.adapter_steps import Account
from tests.accounts.platforms.contract.world import redirect_uri
from tests.accounts.platforms.linkedin.steps import MEMBER, PAGE, connect, post
from tests.fakes.linkedin import FakeLinkedIn
from tests.fakes.linkedin_oauth import ADVERTISING, CLIENT_ID, CLIENT_SECRET, SHARE, SIGN_IN, Application

FOR_MEMBERS = {"LINKEDIN_CLIENT_ID": "the id", "LINKEDIN_CLIENT_SECRET": "s"}
FOR_PAGES = {"LINKEDIN_PAGES_CLIENT_ID": "the pages id", "LINKEDIN_PAGES_CLIENT_SECRET": "s"}
NEITHER = (
    "The operator of this service has not set LINKEDIN_CLIENT_ID and LINKEDIN_CLIENT_SECRET for member profiles, nor "
    "LINKEDIN_PAGES_CLIENT_ID and LINKEDIN_PAGES_CLIENT_SECRET for pages."
)


def asked(linkedin: LinkedIn, given: dict[str, str]) -> dict[str, str]:
    """The parameters of the address to which the owner is sent."""
    parts = urlsplit(linkedin.begin_oauth(state="state-1", redirect_uri=redirect_uri(), given=given).url)
    assert (parts.scheme, parts.netloc, parts.path) == ("https", "www.linkedin.com", "/oauth/v2/authorization")
    return {name: values[0] for name, values in parse_qs(parts.query).items()}


@pytest.mark.parametrize(
    ("kind", "client_id", "scope"),
    [
        ("member", "the id", "openid profile w_member_social"),
        ("pages", "the pages id", "r_basicprofile w_organization_social rw_organization_admin w_organization_social_feed"),
    ],
)
def test_consent_is_requested_by_the_application_of_the_chosen_kind(
    linkedin: LinkedIn, settings: Settings, kind: str, client_id: str, scope: str
) -> None:
    settings.PLATFORM_SETTINGS = {**FOR_MEMBERS, **FOR_PAGES}

    assert asked(linkedin, {"kind": kind}) == {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": redirect_uri(),
        "scope": scope,
        "state": "state-1",
    }


def test_each_application_has_its_own_scopes(linkedin: LinkedIn, settings: Settings) -> None:
    scopes = {"LINKEDIN_SCOPES": "openid profile", "LINKEDIN_PAGES_SCOPES": "r_basicprofile"}
    settings.PLATFORM_SETTINGS = {**FOR_MEMBERS, **FOR_PAGES, **scopes}

    assert asked(linkedin, {"kind": "member"})["scope"] == "openid profile"
    assert asked(linkedin, {"kind": "pages"})["scope"] == "r_basicprofile"


@pytest.mark.parametrize(
    ("set_up", "fits", "default"),
    [
        (FOR_MEMBERS, [{}, {"kind": "member"}, {"kind": "pages"}], "member"),
        (FOR_PAGES, [{}, {"kind": "member"}, {"kind": "pages"}], "pages"),
        ({**FOR_MEMBERS, **FOR_PAGES}, [{"kind": "member"}, {"kind": "pages"}], None),
    ],
)
def test_the_owner_chooses_the_kind_if_both_applications_are_set_up(
    linkedin: LinkedIn, settings: Settings, set_up: dict[str, str], fits: list[Any], default: str | None
) -> None:
    settings.PLATFORM_SETTINGS = set_up
    schema = linkedin.oauth_input_schema

    assert [
        given for given in ({}, {"kind": "member"}, {"kind": "pages"}) if not first_schema_violations(schema, given)
    ] == fits
    assert first_schema_violations(schema, {"kind": "both"})
    assert schema["properties"]["kind"].get("default") == default


@pytest.mark.parametrize(
    ("set_up", "client_id", "missing"),
    [
        (FOR_MEMBERS, "the id", ("pages", "LINKEDIN_PAGES_CLIENT_ID and LINKEDIN_PAGES_CLIENT_SECRET")),
        (FOR_PAGES, "the pages id", ("member", "LINKEDIN_CLIENT_ID and LINKEDIN_CLIENT_SECRET")),
    ],
)
def test_a_single_application_connects_its_own_kind_only(
    linkedin: LinkedIn, settings: Settings, set_up: dict[str, str], client_id: str, missing: tuple[str, str]
) -> None:
    settings.PLATFORM_SETTINGS = set_up

    assert linkedin.unavailable_reason("oauth") is None
    assert asked(linkedin, {})["client_id"] == client_id
    kind, names = missing
    with pytest.raises(ConnectionUnavailable, match=f"has not set {names}, which LinkedIn needs"):
        asked(linkedin, {"kind": kind})


@pytest.mark.parametrize(
    ("set_up", "reason"),
    [
        ({}, NEITHER),
        ({"LINKEDIN_CLIENT_ID": "a"}, NEITHER.replace("LINKEDIN_CLIENT_ID and ", "")),
        ({"LINKEDIN_PAGES_CLIENT_SECRET": "a"}, NEITHER.replace(" and LINKEDIN_PAGES_CLIENT_SECRET", "")),
    ],
)
def test_without_an_application_nothing_can_be_connected(
    linkedin: LinkedIn, settings: Settings, set_up: dict[str, str], reason: str
) -> None:
    settings.PLATFORM_SETTINGS = set_up

    assert linkedin.unavailable_reason("oauth") == reason
    with pytest.raises(ConnectionUnavailable):
        asked(linkedin, {})


@pytest.mark.parametrize(
    ("setting", "kind", "scopes"),
    [
        ("LINKEDIN_SCOPES", "member", "openid profile w_member_social w_member_social_feed"),
        ("LINKEDIN_SCOPES", "member", "openid profile w_organization_social rw_organization_admin"),
        ("LINKEDIN_PAGES_SCOPES", "pages", "openid profile w_organization_social rw_organization_admin"),
    ],
)
def test_scopes_outside_the_products_of_an_application_are_refused(
    linkedin: LinkedIn, server: FakeLinkedIn, settings: Settings, setting: str, kind: str, scopes: str
) -> None:
    settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, setting: scopes}

    with pytest.raises(ValueError, match="unauthorized_scope_error"):
        connect(server, kind)


def test_the_application_for_pages_also_connects_the_member_if_its_scopes_allow_it(
    linkedin: LinkedIn, server: FakeLinkedIn, settings: Settings
) -> None:
    """At LinkedIn a person has another id for each application."""
    scopes = "r_basicprofile w_member_social w_member_social_feed w_organization_social rw_organization_admin"
    settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, "LINKEDIN_PAGES_SCOPES": scopes}

    member, page = connect(server, "pages")

    assert (member.identity.external_id, member.identity.handle) == (f"{MEMBER}-p", "Alice")
    assert member.identity.profile_url == "https://www.linkedin.com/in/alice"
    assert linkedin.check_and_identify(linkedin.refresh_grant(member.grant)) == member.identity
    Account(linkedin, member.grant).publish(post("Hello", first_comment="First!"))
    assert [made["comments"] for made in server.posts(f"{MEMBER}-p")] == [[(f"{MEMBER}-p", "First!")]]
    assert page.identity.external_id == PAGE


def test_an_application_with_the_advertising_api_connects_members_and_pages(
    linkedin: LinkedIn, server: FakeLinkedIn, settings: Settings
) -> None:
    server.add_application(CLIENT_ID, Application(CLIENT_SECRET, (SIGN_IN, SHARE, ADVERTISING)))
    scopes = "openid profile w_member_social w_organization_social rw_organization_admin"
    settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, "LINKEDIN_SCOPES": scopes}

    connections = connect(server, "member")

    assert [each.identity.external_id for each in connections] == [MEMBER, PAGE]
    assert [linkedin.check_and_identify(linkedin.refresh_grant(each.grant)) for each in connections] == [
        each.identity for each in connections
    ]
