from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from pytest_django import Settings

from accounts.platforms.errors import (
    AccountDisconnected,
    PlatformError,
    RateLimited,
    TokenExpired,
    Transient,
)
from accounts.platforms.pinterest.adapter import Pinterest
from accounts.platforms.types import Grant
from tests.accounts.platforms.pinterest.steps import connect
from tests.fakes.http_server import Answer
from tests.fakes.pinterest import ME, REVOKE, TOKEN, FakePinterest

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def test_an_access_token_is_good_for_thirty_days_and_is_renewed(pinterest: Pinterest, server: FakePinterest) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        grant = connect(pinterest, server).grant
        clock.shift(timedelta(days=30))
        with pytest.raises(TokenExpired):
            pinterest.identify(grant)

        renewed = pinterest.refresh(grant)

        assert pinterest.identify(renewed).external_id == renewed.external_id == grant.external_id
        assert renewed.expires_at == NOW + timedelta(days=60)
        assert [renewed.tokens["refresh_token"]] == server.refresh_tokens("alice")
        with pytest.raises(AccountDisconnected):  # each refresh token is good once
            pinterest.refresh(grant)


def test_a_refresh_token_is_good_for_sixty_days(pinterest: Pinterest, server: FakePinterest) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        grant = connect(pinterest, server).grant
        clock.shift(timedelta(days=60))
        with pytest.raises(AccountDisconnected):
            pinterest.refresh(grant)


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Answer(503), Transient),
        (Answer(429, b"", {"Retry-After": "30"}), RateLimited),
        (Answer(403, b"<html>Blocked</html>"), Transient),
        (Answer(200, b"{}"), Transient),
        (Answer.of_json({"code": 2, "message": "Authentication failed."}, 401), Transient),
        (Answer.of_json({"code": 283, "message": "Invalid Application ID"}, 401), Transient),
        (Answer.of_json({"code": 283, "message": "The authorization grant is invalid"}, 400), AccountDisconnected),
    ],
)
def test_only_pinterests_word_that_it_has_ended_ends_a_grant(
    pinterest: Pinterest, server: FakePinterest, grant: Grant, answer: Answer, fault: type[PlatformError]
) -> None:
    server.refuse_next(TOKEN, answer)

    with pytest.raises(PlatformError) as caught:
        pinterest.refresh(grant)

    assert type(caught.value) is fault
    assert grant.tokens["refresh_token"] not in f"{caught.value!r} {caught.value.__cause__!r}"


def test_a_pair_without_a_refresh_token_keeps_the_one_before(
    pinterest: Pinterest, server: FakePinterest, grant: Grant
) -> None:
    server.refuse_next(TOKEN, Answer.of_json({"access_token": "new", "refresh_token": "", "expires_in": 60}))

    renewed = pinterest.refresh(grant)

    assert renewed.tokens == {"access_token": "new", "refresh_token": grant.tokens["refresh_token"]}


def test_an_access_that_was_taken_away_needs_its_owner(
    pinterest: Pinterest, server: FakePinterest, grant: Grant
) -> None:
    server.withdraw("alice")

    with pytest.raises(TokenExpired):
        pinterest.identify(grant)
    with pytest.raises(AccountDisconnected):
        pinterest.refresh(grant)


def test_a_suspended_account_and_a_foreign_token_are_disconnected(
    pinterest: Pinterest, server: FakePinterest, grant: Grant
) -> None:
    with pytest.raises(AccountDisconnected):
        pinterest.identify(replace(grant, external_id="999"))
    server.suspend("alice")
    with pytest.raises(AccountDisconnected, match="suspended"):
        pinterest.identify(grant)


@pytest.mark.parametrize("answer", [Answer(404), Answer(500), Answer(403, b"<html>"), Answer(200, b"[]")])
def test_no_account_is_blamed_for_disorder_at_pinterest(
    pinterest: Pinterest, server: FakePinterest, grant: Grant, answer: Answer
) -> None:
    server.refuse_next(ME, answer)

    with pytest.raises(Transient):
        pinterest.identify(grant)


def test_disconnecting_ends_both_tokens(
    pinterest: Pinterest, server: FakePinterest, grant: Grant, settings: Settings
) -> None:
    server.fail_next(REVOKE)
    with pytest.raises(Transient):
        pinterest.revoke(grant)

    pinterest.revoke(grant)

    assert (server.refresh_tokens("alice"), server.access_tokens("alice")) == ([], [])
    pinterest.revoke(grant)  # what has ended already is well
    settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, "PINTEREST_CLIENT_SECRET": "wrong"}
    with pytest.raises(Transient):
        pinterest.revoke(grant)
