from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from pytest_django import Settings

from accounts.platforms.errors import ConnectionUnavailable, CredentialsRejected, PlatformError, RateLimited, Transient
from accounts.platforms.instagram.adapter import Instagram
from tests.accounts.platforms.instagram.steps import REDIRECT_URI, connect
from tests.fakes.http_server import Answer
from tests.fakes.instagram import CODE, LENGTHEN, ME, FakeInstagram
from tests.fakes.instagram_login import CLIENT_SECRET

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
NEEDED = ["instagram_business_basic", "instagram_business_content_publish"]


def test_consent_is_asked_for_on_instagrams_own_page(instagram: Instagram, settings: Settings) -> None:
    settings.PLATFORM_SETTINGS = {"INSTAGRAM_CLIENT_ID": "123", "INSTAGRAM_CLIENT_SECRET": "s"}

    authorization = instagram.authorize(state="state-1", redirect_uri=REDIRECT_URI, given={})

    parts = urlsplit(authorization.url)
    assert (parts.scheme, parts.netloc, parts.path) == ("https", "www.instagram.com", "/oauth/authorize")
    assert {name: values[0] for name, values in parse_qs(parts.query).items()} == {
        "client_id": "123",
        "redirect_uri": REDIRECT_URI,
        "response_type": "code",
        "scope": ",".join([*NEEDED, "instagram_business_manage_comments"]),
        "state": "state-1",
    }


def test_the_operator_says_which_version_is_spoken_and_what_is_asked_for(
    instagram: Instagram, server: FakeInstagram, settings: Settings
) -> None:
    settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, "INSTAGRAM_API_VERSION": "v99.0"}
    settings.PLATFORM_SETTINGS["INSTAGRAM_SCOPES"] = ",".join(NEEDED)
    with pytest.raises(Transient, match="Unknown path"):
        connect(instagram, server)

    settings.PLATFORM_SETTINGS["INSTAGRAM_API_BASE"] = f"{server.url}/v25.0/"

    assert connect(instagram, server).scopes == tuple(NEEDED)


@pytest.mark.parametrize("wrapped", [True, False])
def test_a_consent_connects_the_account_for_sixty_days(
    instagram: Instagram, server: FakeInstagram, wrapped: bool
) -> None:
    if not wrapped:
        server.answer_codes_plainly()
    with time_machine.travel(NOW, tick=False):
        connection = connect(instagram, server)

    identity, grant = connection.identity, connection.grant
    assert (identity.handle, identity.display_name) == ("alice", "Alice")
    assert identity.profile_url == "https://www.instagram.com/alice/"
    assert identity.avatar_url.startswith("https://scontent.cdninstagram.com/")
    assert connection.scopes == (*NEEDED, "instagram_business_manage_comments")
    assert grant.expires_at == NOW + timedelta(days=60)
    assert grant.tokens == {"access_token": server.access_tokens("alice")[-1]}
    assert grant.external_id == identity.external_id


@pytest.mark.parametrize("left_out", NEEDED)
def test_a_consent_to_less_than_is_needed_is_told_by_what_is_missing(
    instagram: Instagram, server: FakeInstagram, left_out: str
) -> None:
    with pytest.raises(CredentialsRejected) as caught:
        connect(instagram, server, [scope for scope in NEEDED if scope != left_out])

    assert left_out in caught.value.message


def test_a_private_account_is_told_what_to_become(instagram: Instagram, server: FakeInstagram) -> None:
    server.add_account("alice", "PERSONAL")

    with pytest.raises(CredentialsRejected, match="professional") as caught:
        connect(instagram, server)

    assert "business or creator" in caught.value.suggested_action


def test_a_code_is_good_for_one_exchange_and_for_its_own_address(instagram: Instagram, server: FakeInstagram) -> None:
    url = instagram.authorize(state="s", redirect_uri=REDIRECT_URI, given={}).url
    code = server.grant(url, "alice")
    instagram.exchange(code=code, redirect_uri=REDIRECT_URI, stored={})

    for again, redirect_uri in [
        (code, REDIRECT_URI),
        ("guessed", REDIRECT_URI),
        (server.grant(url, "alice"), "https://x.example/"),
    ]:
        with pytest.raises(CredentialsRejected):
            instagram.exchange(code=again, redirect_uri=redirect_uri, stored={})


@pytest.mark.parametrize("missing", ["INSTAGRAM_CLIENT_ID", "INSTAGRAM_CLIENT_SECRET"])
def test_without_an_app_nothing_can_be_connected(instagram: Instagram, settings: Settings, missing: str) -> None:
    given = {"INSTAGRAM_CLIENT_ID": "a", "INSTAGRAM_CLIENT_SECRET": "b"}
    settings.PLATFORM_SETTINGS = given
    assert instagram.unavailable_reason("oauth") is None

    settings.PLATFORM_SETTINGS = {name: value for name, value in given.items() if name != missing}
    assert instagram.unavailable_reason("oauth") == f"The operator of this service has not set {missing}."


def test_a_wrong_secret_is_the_operators_to_put_right(
    instagram: Instagram, server: FakeInstagram, settings: Settings
) -> None:
    settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, "INSTAGRAM_CLIENT_SECRET": "wrong"}

    with pytest.raises(ConnectionUnavailable):
        connect(instagram, server)


@pytest.mark.parametrize("call", [CODE, LENGTHEN, ME])
@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Answer(503), Transient),
        (Answer(429, b"", {"Retry-After": "30"}), RateLimited),
        (Answer.of_json({"error": {"code": 190, "message": "Invalid OAuth access token"}}, 400), CredentialsRejected),
        (Answer(200, b"<html>"), Transient),
        (Answer(200, b'{"data": []}'), Transient),
    ],
)
def test_what_fails_on_the_way_is_told_by_what_helps(
    instagram: Instagram, server: FakeInstagram, call: str, answer: Answer, fault: type[PlatformError]
) -> None:
    server.refuse_next(call, answer)

    with pytest.raises(PlatformError) as caught:
        connect(instagram, server)

    assert type(caught.value) is fault


@pytest.mark.parametrize(
    "told",
    [
        {"user_id": "1", "username": "../admin"},
        {"user_id": "x", "username": "alice"},
        {"username": "alice"},
    ],
)
def test_an_account_without_a_proper_name_or_id_is_not_taken(
    instagram: Instagram, server: FakeInstagram, told: dict[str, Any]
) -> None:
    server.refuse_next(ME, Answer.of_json(told))

    with pytest.raises(Transient):
        connect(instagram, server)


def test_no_fault_and_no_value_shows_a_secret(instagram: Instagram, server: FakeInstagram) -> None:
    connection = connect(instagram, server)
    token, shown = connection.grant.tokens["access_token"], repr(connection)
    for call in (CODE, LENGTHEN, ME):
        for status in (400, 401, 500):
            error = {"code": 190, "message": f"Malformed access token {token}"}
            server.refuse_next(call, Answer.of_json({"error": error}, status))
            with pytest.raises(PlatformError) as caught:
                connect(instagram, server)
            shown += f"{caught.value!r} {caught.value.__cause__!r}"

    assert token not in shown
    assert CLIENT_SECRET not in shown
