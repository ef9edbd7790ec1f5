from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from pytest_django import Settings

from accounts.platforms.errors import (
    AccountDisconnected,
    ConnectionUnavailable,
    CredentialsRejected,
    PlatformError,
    RateLimited,
    TokenExpired,
    Transient,
)
from accounts.platforms.threads.adapter import Threads
from accounts.platforms.types import Connection, Grant
from tests.accounts.platforms.threads.scripted_server import ScriptedServer
from tests.accounts.platforms.threads.steps import REDIRECT_URI, connect
from tests.fakes.http_server import Answer
from tests.fakes.threads import CODE, LONG, ME, REFRESH, FakeThreads
from tests.fakes.threads_oauth import CLIENT_SECRET

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
SHORT = {"access_token": "secret-short", "user_id": 1}
LASTING = {"access_token": "secret-token", "token_type": "bearer", "expires_in": 5_184_000}
ALICE = {"id": "1", "username": "alice", "name": "Alice"}


def exchange(threads: Threads, code: str = "secret-code", redirect_uri: str = REDIRECT_URI) -> tuple[Connection, ...]:
    return threads.exchange(code=code, redirect_uri=redirect_uri, stored={})


def graph_error(code: int, status: int = 400, **more: object) -> Answer:
    return Answer.of_json({"error": {"message": "no", "code": code, "type": "OAuthException", **more}}, status)


def test_consent_is_asked_for_on_threads_own_page(threads: Threads, settings: Settings) -> None:
    settings.PLATFORM_SETTINGS = {"THREADS_CLIENT_ID": "the id", "THREADS_CLIENT_SECRET": "s"}
    parts = urlsplit(threads.authorize(state="state-1", redirect_uri=REDIRECT_URI, given={}).url)
    settings.PLATFORM_SETTINGS = {
        **settings.PLATFORM_SETTINGS,
        "THREADS_SCOPES": "threads_basic threads_content_publish",
    }
    less = threads.authorize(state="state-1", redirect_uri=REDIRECT_URI, given={}).url

    assert (parts.scheme, parts.netloc, parts.path) == ("https", "threads.com", "/oauth/authorize")
    assert {name: values[0] for name, values in parse_qs(parts.query).items()} == {
        "client_id": "the id",
        "redirect_uri": REDIRECT_URI,
        "scope": "threads_basic,threads_content_publish,threads_manage_replies,threads_read_replies",
        "response_type": "code",
        "state": "state-1",
    }
    assert parse_qs(urlsplit(less).query)["scope"] == ["threads_basic,threads_content_publish"]


def test_a_consent_connects_the_profile_with_a_token_of_60_days(threads: Threads, server: FakeThreads) -> None:
    with time_machine.travel(NOW, tick=False):
        connection = connect(threads, server)

    identity = connection.identity
    assert (identity.handle, identity.display_name) == ("alice", "Alice")
    assert identity.profile_url == "https://www.threads.com/@alice"
    assert identity.avatar_url.startswith("https://scontent.cdninstagram.com/")
    assert connection.grant.external_id == identity.external_id
    assert connection.grant.expires_at == NOW + timedelta(days=60)
    assert set(connection.grant.tokens) == {"access_token"}
    assert threads.identify(connection.grant) == identity


def test_a_code_is_good_for_one_exchange_of_who_began(threads: Threads, server: FakeThreads) -> None:
    url = threads.authorize(state="s", redirect_uri=REDIRECT_URI, given={}).url
    for code, redirect_uri in [("guessed", REDIRECT_URI), (server.grant(url, "alice"), "https://evil.example/")]:
        with pytest.raises(CredentialsRejected):
            exchange(threads, code, redirect_uri)
    code = server.grant(url, "alice")
    exchange(threads, code)
    with pytest.raises(CredentialsRejected):
        exchange(threads, code)


@pytest.mark.parametrize("missing", ["THREADS_CLIENT_ID", "THREADS_CLIENT_SECRET"])
def test_without_an_app_nothing_can_be_connected(threads: Threads, settings: Settings, missing: str) -> None:
    given = {"THREADS_CLIENT_ID": "a", "THREADS_CLIENT_SECRET": "b"}
    settings.PLATFORM_SETTINGS = given
    assert threads.unavailable_reason("oauth") is None

    settings.PLATFORM_SETTINGS = {name: value for name, value in given.items() if name != missing}
    assert threads.unavailable_reason("oauth") == f"The operator of this service has not set {missing}."


def test_a_wrong_app_is_the_operators_to_put_right(threads: Threads, server: FakeThreads, settings: Settings) -> None:
    settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, "THREADS_CLIENT_SECRET": "wrong"}

    with pytest.raises(ConnectionUnavailable):
        connect(threads, server)


@pytest.mark.parametrize(
    ("call", "answer", "fault"),
    [
        (CODE, Answer(503), Transient),
        (CODE, Answer(200, b"<html>"), Transient),
        (CODE, graph_error(4), RateLimited),
        (LONG, graph_error(2, 500), Transient),
        (LONG, graph_error(190), CredentialsRejected),
        (ME, Answer(503), Transient),
        (ME, graph_error(190, 401), CredentialsRejected),
        (ME, graph_error(200, 403), CredentialsRejected),
        (ME, Answer.of_json({**ALICE, "username": "../admin"}), Transient),
    ],
)
def test_what_fails_on_the_way_is_told_by_what_helps(
    threads: Threads, scripted: ScriptedServer, call: str, answer: Answer, fault: type[PlatformError]
) -> None:
    scripted.answers |= {
        CODE: Answer.of_json(SHORT),
        LONG: Answer.of_json(LASTING),
        ME: Answer.of_json(ALICE),
        call: answer,
    }

    with pytest.raises(PlatformError) as caught:
        exchange(threads)

    assert type(caught.value) is fault
    shown = f"{caught.value!r} {caught.value.__cause__!r}"
    assert "secret-" not in shown
    assert CLIENT_SECRET not in shown


def test_a_token_is_renewed_for_another_60_days_while_it_is_good(threads: Threads, server: FakeThreads) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        grant = connect(threads, server).grant
        clock.shift(timedelta(days=48))

        renewed = threads.refresh(grant)

        assert renewed.expires_at == NOW + timedelta(days=108)
        assert threads.identify(renewed).external_id == renewed.external_id == grant.external_id
        assert renewed.tokens["access_token"] != grant.tokens["access_token"]
        clock.shift(timedelta(days=60))
        with pytest.raises(TokenExpired):
            threads.identify(renewed)
        with pytest.raises(AccountDisconnected):
            threads.refresh(renewed)


def test_what_the_owner_took_back_is_told_at_the_renewal(threads: Threads, server: FakeThreads, grant: Grant) -> None:
    server.withdraw("alice")

    with pytest.raises(TokenExpired):
        threads.identify(grant)
    with pytest.raises(AccountDisconnected):
        threads.refresh(grant)


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (graph_error(190, 401), AccountDisconnected),
        (graph_error(100), Transient),  # a token that is not a day old
        (graph_error(10, 403), Transient),
        (graph_error(4), RateLimited),
        (Answer(502, b"<html>"), Transient),
        (Answer(200, b"{}"), Transient),
    ],
)
def test_only_metas_word_that_the_token_has_ended_ends_it(
    threads: Threads, scripted: ScriptedServer, scripted_grant: Grant, answer: Answer, fault: type[PlatformError]
) -> None:
    scripted.answers[REFRESH] = answer

    with pytest.raises(PlatformError) as caught:
        threads.refresh(scripted_grant)

    assert type(caught.value) is fault


def test_another_profile_is_not_taken_for_the_one_that_was_connected(
    threads: Threads, scripted: ScriptedServer, scripted_grant: Grant
) -> None:
    scripted.answers[ME] = Answer.of_json({**ALICE, "id": "2"})

    with pytest.raises(AccountDisconnected):
        threads.identify(scripted_grant)
