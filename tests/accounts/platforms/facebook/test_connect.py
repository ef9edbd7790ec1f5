"""Connecting Facebook pages: logins with several pages, and page tokens, which outlive a login."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from pytest_django import Settings

from accounts.platforms.errors import CredentialsRejected, TokenExpired
from accounts.platforms.facebook.adapter import Facebook
from tests.accounts.platforms.meta.steps import REDIRECT_URI, connect, connect_all
from tests.fakes.facebook import FakeFacebook

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
NEEDED = ["pages_show_list", "pages_read_engagement", "pages_manage_posts"]


def test_the_consent_page_is_facebooks_own(facebook: Facebook, settings: Settings) -> None:
    settings.PLATFORM_SETTINGS = {"FACEBOOK_CLIENT_ID": "123", "FACEBOOK_CLIENT_SECRET": "s"}

    parts = urlsplit(facebook.begin_oauth(state="state-1", redirect_uri=REDIRECT_URI, given={}).url)

    assert (parts.scheme, parts.netloc, parts.path) == ("https", "www.facebook.com", "/v25.0/dialog/oauth")
    assert {name: values[0] for name, values in parse_qs(parts.query).items()} == {
        "client_id": "123",
        "redirect_uri": REDIRECT_URI,
        "response_type": "code",
        "scope": ",".join([*NEEDED, "pages_manage_engagement", "business_management"]),
        "state": "state-1",
    }


def test_the_operator_sets_the_version_and_the_scopes(
    facebook: Facebook, server: FakeFacebook, page_id: str, settings: Settings
) -> None:
    settings.PLATFORM_SETTINGS |= {
        "FACEBOOK_API_BASE": f"{server.url}/v25.0",
        "FACEBOOK_API_VERSION": "v99.0",
        "FACEBOOK_SCOPES": " ".join(NEEDED),
    }

    parts = urlsplit(facebook.begin_oauth(state="s", redirect_uri=REDIRECT_URI, given={}).url)

    assert (parts.path, parse_qs(parts.query)["scope"]) == ("/v99.0/dialog/oauth", [",".join(NEEDED)])
    settings.PLATFORM_SETTINGS["FACEBOOK_AUTH_BASE"] = f"{server.url}/v25.0"
    assert connect(facebook, server).identity.external_id == page_id


def test_one_login_opens_every_page_to_which_the_person_may_publish(facebook: Facebook, server: FakeFacebook) -> None:
    many = [server.add_page(f"Page {number}", admin="alice") for number in range(120)]
    server.add_page("Read only", admin="alice", tasks=("ANALYZE",))
    server.add_page("Another's", admin="bob")
    bakery = server.add_page("The Bakery", admin="alice", tasks=("CREATE_CONTENT",), username="bakery")

    connections = connect_all(facebook, server)

    assert [each.identity.external_id for each in connections] == [*many, bakery]
    assert len({each.grant.tokens["access_token"] for each in connections}) == 121
    assert connections[-1].identity.avatar_url == f"https://scontent.example/{bakery}.jpg"
    assert connections[-1].grant.expires_at is None
    assert set(NEEDED) <= set(connections[0].scopes)


def test_a_login_without_pages_is_rejected(facebook: Facebook, server: FakeFacebook) -> None:
    with pytest.raises(CredentialsRejected, match="opens no page"):
        connect(facebook, server)


def test_a_page_token_outlives_the_login_until_the_person_loses_the_role(
    facebook: Facebook, server: FakeFacebook, page_id: str
) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        server.add_page("Other", admin="alice")
        bakery, other = connect_all(facebook, server)
        clock.shift(timedelta(days=400))
        assert facebook.check_and_identify(bakery.grant).external_id == page_id

        server.leave("alice", page_id)

        with pytest.raises(TokenExpired):
            facebook.check_and_identify(bakery.grant)
        assert facebook.check_and_identify(other.grant).display_name == "Other"


def test_disconnecting_one_page_leaves_the_others_connected(facebook: Facebook, server: FakeFacebook, page_id: str) -> None:
    server.add_page("Other", admin="alice")
    bakery, other = connect_all(facebook, server)
    before = len(server.requests)

    facebook.revoke_grant(bakery.grant)

    assert len(server.requests) == before
    assert facebook.check_and_identify(other.grant).display_name == "Other"
