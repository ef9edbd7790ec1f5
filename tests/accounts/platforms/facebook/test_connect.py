from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from pytest_django import Settings

from accounts.platforms.errors import ConnectionUnavailable, CredentialsRejected, PlatformError, RateLimited, Transient
from accounts.platforms.facebook.adapter import Facebook
from tests.accounts.platforms.facebook.steps import REDIRECT_URI, connect
from tests.fakes.facebook import ACCOUNTS, ME, PERMISSIONS, TOKEN, FakeFacebook
from tests.fakes.facebook_login import CLIENT_SECRET
from tests.fakes.http_server import Answer

NEEDED = ["pages_show_list", "pages_read_engagement", "pages_manage_posts"]


def test_consent_is_asked_for_on_facebooks_own_page(facebook: Facebook, settings: Settings) -> None:
    settings.PLATFORM_SETTINGS = {"FACEBOOK_CLIENT_ID": "123", "FACEBOOK_CLIENT_SECRET": "s"}

    authorization = facebook.authorize(state="state-1", redirect_uri=REDIRECT_URI, given={})

    parts = urlsplit(authorization.url)
    assert (parts.scheme, parts.netloc, parts.path) == ("https", "www.facebook.com", "/v25.0/dialog/oauth")
    assert {name: values[0] for name, values in parse_qs(parts.query).items()} == {
        "client_id": "123",
        "redirect_uri": REDIRECT_URI,
        "response_type": "code",
        "scope": ",".join([*NEEDED, "pages_manage_engagement", "business_management"]),
        "state": "state-1",
    }


def test_the_operator_says_which_version_is_spoken_and_what_is_asked_for(
    facebook: Facebook, server: FakeFacebook, page_id: str, settings: Settings
) -> None:
    set_up = settings.PLATFORM_SETTINGS
    settings.PLATFORM_SETTINGS = {**set_up, "FACEBOOK_API_BASE": f"{server.url}/v25.0", "FACEBOOK_API_VERSION": "v99.0"}
    settings.PLATFORM_SETTINGS["FACEBOOK_SCOPES"] = " ".join(NEEDED)

    url = facebook.authorize(state="s", redirect_uri=REDIRECT_URI, given={}).url

    assert "/v99.0/dialog/oauth?" in url
    assert f"scope={'%2C'.join(NEEDED)}&" in f"{url}&"
    settings.PLATFORM_SETTINGS["FACEBOOK_AUTH_BASE"] = f"{server.url}/v25.0"
    assert [each.identity.external_id for each in connect(facebook, server)] == [page_id]


def test_one_login_opens_every_page_at_which_the_person_may_publish(facebook: Facebook, server: FakeFacebook) -> None:
    many = [server.add_page(f"Page {number}", admin="alice") for number in range(120)]
    server.add_page("Only to look at", admin="alice", tasks=("ANALYZE",))
    server.add_page("Another's", admin="bob")
    bakery = server.add_page("The Bakery", admin="alice", tasks=("CREATE_CONTENT",), username="bakery")

    connections = connect(facebook, server)

    assert [each.identity.external_id for each in connections] == [*many, bakery]
    assert len({each.grant.tokens["access_token"] for each in connections}) == 121
    identity, grant = connections[-1].identity, connections[-1].grant
    assert (identity.handle, identity.display_name) == ("bakery", "The Bakery")
    assert identity.profile_url == "https://www.facebook.com/bakery"
    assert identity.avatar_url == f"https://scontent.example/{bakery}.jpg"
    assert (grant.external_id, grant.expires_at) == (bakery, None)
    assert set(NEEDED) <= set(connections[0].scopes)
    assert facebook.identify(grant) == identity


@pytest.mark.parametrize("left_out", NEEDED)
def test_a_consent_to_less_than_is_needed_is_told_by_what_is_missing(
    facebook: Facebook, server: FakeFacebook, page_id: str, left_out: str
) -> None:
    with pytest.raises(CredentialsRejected) as caught:
        connect(facebook, server, [scope for scope in NEEDED if scope != left_out])

    assert left_out in caught.value.message


def test_a_consent_without_comments_still_connects(facebook: Facebook, server: FakeFacebook, page_id: str) -> None:
    [connection] = connect(facebook, server, NEEDED)

    assert "pages_manage_engagement" not in connection.scopes


def test_a_login_without_pages_says_so(facebook: Facebook, server: FakeFacebook) -> None:
    with pytest.raises(CredentialsRejected, match="opens no page"):
        connect(facebook, server)


def test_a_code_is_good_for_one_exchange_and_for_its_own_address(
    facebook: Facebook, server: FakeFacebook, page_id: str
) -> None:
    url = facebook.authorize(state="s", redirect_uri=REDIRECT_URI, given={}).url
    code = server.grant(url, "alice")
    facebook.exchange(code=code, redirect_uri=REDIRECT_URI, stored={})

    for again, redirect_uri in [
        (code, REDIRECT_URI),
        ("guessed", REDIRECT_URI),
        (server.grant(url, "alice"), "https://x.example/"),
    ]:
        with pytest.raises(CredentialsRejected):
            facebook.exchange(code=again, redirect_uri=redirect_uri, stored={})


@pytest.mark.parametrize("missing", ["FACEBOOK_CLIENT_ID", "FACEBOOK_CLIENT_SECRET"])
def test_without_an_app_nothing_can_be_connected(facebook: Facebook, settings: Settings, missing: str) -> None:
    given = {"FACEBOOK_CLIENT_ID": "a", "FACEBOOK_CLIENT_SECRET": "b"}
    settings.PLATFORM_SETTINGS = given
    assert facebook.unavailable_reason("oauth") is None

    settings.PLATFORM_SETTINGS = {name: value for name, value in given.items() if name != missing}
    assert facebook.unavailable_reason("oauth") == f"The operator of this service has not set {missing}."


def test_a_wrong_secret_is_the_operators_to_put_right(
    facebook: Facebook, server: FakeFacebook, page_id: str, settings: Settings
) -> None:
    [connection] = connect(facebook, server)
    settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, "FACEBOOK_CLIENT_SECRET": "wrong"}

    with pytest.raises(ConnectionUnavailable):
        connect(facebook, server)
    with pytest.raises(ConnectionUnavailable, match="appsecret_proof"):
        facebook.identify(connection.grant)


@pytest.mark.parametrize("call", [TOKEN, PERMISSIONS, ACCOUNTS])
@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Answer(503), Transient),
        (Answer(429, b"", {"Retry-After": "30"}), RateLimited),
        (Answer.of_json({"error": {"code": 4, "message": "(#4) Application request limit reached"}}, 400), RateLimited),
        (Answer.of_json({"error": {"code": 190, "message": "Malformed access token"}}, 400), CredentialsRejected),
        (Answer.of_json({"error": {"code": 2, "message": "Service", "is_transient": True}}, 500), Transient),
        (Answer(200, b"<html>"), Transient),
    ],
)
def test_what_fails_on_the_way_is_told_by_what_helps(
    facebook: Facebook, server: FakeFacebook, page_id: str, call: str, answer: Answer, fault: type[PlatformError]
) -> None:
    server.refuse_next(call, answer)

    with pytest.raises(PlatformError) as caught:
        connect(facebook, server)

    assert type(caught.value) is fault


def test_a_hostile_page_is_cut_down_to_harmless_text(facebook: Facebook, server: FakeFacebook, page_id: str) -> None:
    told: dict[str, Any] = {
        "id": page_id,
        "name": "A\x00\n" + "b " * 500,
        "link": "javascript:alert(1)",
        "picture": {"data": {"url": "data:text/html,x"}},
        "access_token": "t",
    }
    server.refuse_next(ACCOUNTS, Answer.of_json({"data": [told]}))

    [connection] = connect(facebook, server)

    assert connection.identity.display_name.startswith("A  b b")
    assert len(connection.identity.display_name) <= 300
    assert connection.identity.avatar_url == ""
    assert connection.identity.profile_url == f"https://www.facebook.com/{page_id}"


@pytest.mark.parametrize("page_id_told", ["../admin", 7, None, "1" * 40])
def test_a_page_without_a_proper_id_is_not_taken(
    facebook: Facebook, server: FakeFacebook, page_id: str, page_id_told: Any
) -> None:
    server.refuse_next(ACCOUNTS, Answer.of_json({"data": [{"id": page_id_told, "access_token": "t"}]}))

    if page_id_told == 7:
        assert connect(facebook, server)[0].identity.external_id == "7"
    else:
        with pytest.raises(Transient):
            connect(facebook, server)


def test_no_fault_and_no_value_shows_a_secret(facebook: Facebook, server: FakeFacebook, page_id: str) -> None:
    [connection] = connect(facebook, server)
    token, shown = connection.grant.tokens["access_token"], repr(connection)
    for call in (TOKEN, PERMISSIONS, ACCOUNTS, ME):
        for status in (400, 401, 500):
            error = {"code": 190, "message": f"Malformed access token {token}"}
            server.refuse_next(call, Answer.of_json({"error": error}, status))
            with pytest.raises(PlatformError) as caught:
                facebook.identify(connection.grant) if call == ME else connect(facebook, server)
            shown += f"{caught.value!r} {caught.value.__cause__!r}"

    assert token not in shown
    assert CLIENT_SECRET not in shown
