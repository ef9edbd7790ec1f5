from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from pytest_django import Settings

from accounts.platforms.errors import (
    AccountDisconnected,
    ConnectionUnavailable,
    PlatformError,
    RateLimited,
    TokenExpired,
    Transient,
)
from accounts.platforms.types import Grant
from accounts.platforms.x.adapter import X
from tests.accounts.platforms.x.scripted_server import ScriptedServer
from tests.accounts.platforms.x.steps import connect
from tests.fakes.http_server import Answer
from tests.fakes.x import FakeX
from tests.fakes.x_methods import ME, REVOKE, TOKEN

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def test_an_access_token_is_good_for_two_hours_and_is_renewed(x: X, server: FakeX) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        grant = connect(x, server).grant
        clock.shift(timedelta(hours=2))
        with pytest.raises(TokenExpired):
            x.identify(grant)

        renewed = x.refresh(grant)

        assert x.identify(renewed).external_id == renewed.external_id == grant.external_id
        assert renewed.expires_at == NOW + timedelta(hours=4)
        assert renewed.tokens["username"] == "alice"
        assert renewed.tokens["access_token"] != grant.tokens["access_token"]
        assert [renewed.tokens["refresh_token"]] == server.refresh_tokens("alice")


def test_a_refresh_token_is_good_for_one_use(x: X, server: FakeX, grant: Grant) -> None:
    renewed = x.refresh(grant)

    with pytest.raises(AccountDisconnected):
        x.refresh(grant)

    assert x.identify(x.refresh(renewed)).handle == "alice"


def test_a_pair_that_was_lost_on_the_way_is_lost(x: X, server: FakeX, grant: Grant) -> None:
    server.drop_next(TOKEN)
    with pytest.raises(Transient):
        x.refresh(grant)

    with pytest.raises(AccountDisconnected):
        x.refresh(grant)


def test_an_access_that_was_taken_away_needs_its_owner(x: X, server: FakeX, grant: Grant) -> None:
    server.withdraw("alice")

    with pytest.raises(TokenExpired):
        x.identify(grant)
    with pytest.raises(AccountDisconnected):
        x.refresh(grant)


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Answer(503), Transient),
        (Answer(429, b"", {"Retry-After": "30"}), RateLimited),
        (Answer(403, b"<html>Blocked</html>"), Transient),
        (Answer(200, b"{}"), Transient),
        (Answer.of_json({"error": "unauthorized_client"}, 401), Transient),
        (Answer.of_json({"error": "invalid_grant"}, 400), AccountDisconnected),
    ],
)
def test_only_xs_word_that_it_has_ended_ends_a_grant(
    x: X, scripted: ScriptedServer, scripted_grant: Grant, answer: Answer, fault: type[PlatformError]
) -> None:
    scripted.answers[TOKEN] = answer

    with pytest.raises(PlatformError) as caught:
        x.refresh(scripted_grant)

    assert type(caught.value) is fault


def test_an_account_keeps_its_identity_under_another_name(x: X, server: FakeX, grant: Grant) -> None:
    server.rename("alice", "alicia")

    identity = x.identify(grant)

    assert (identity.external_id, identity.handle) == (grant.external_id, "alicia")


def test_a_suspended_account_is_disconnected(x: X, server: FakeX, grant: Grant) -> None:
    server.suspend("alice")

    with pytest.raises(AccountDisconnected, match="suspended"):
        x.identify(grant)


def test_a_token_of_another_account_is_refused(x: X, server: FakeX, grant: Grant) -> None:
    with pytest.raises(AccountDisconnected):
        x.identify(replace(grant, external_id="999"))


def test_credits_that_are_used_up_are_the_operators_to_buy(x: X, server: FakeX, grant: Grant) -> None:
    server.use_up_credits()

    with pytest.raises(ConnectionUnavailable) as caught:
        x.identify(grant)

    assert "operator" in caught.value.suggested_action


@pytest.mark.parametrize(
    "answer", [Answer(404), Answer(500), Answer(403, b"<html>"), Answer(200, b"{}"), Answer.of_json({}, 403)]
)
def test_no_account_is_blamed_for_disorder_at_x(
    x: X, scripted: ScriptedServer, scripted_grant: Grant, answer: Answer
) -> None:
    scripted.answers[ME] = answer

    with pytest.raises(Transient):
        x.identify(scripted_grant)


def test_disconnecting_ends_both_tokens(x: X, server: FakeX, grant: Grant) -> None:
    x.revoke(grant)

    assert (server.refresh_tokens("alice"), server.access_tokens("alice")) == ([], [])
    x.revoke(grant)  # what has ended already is well


def test_a_revocation_that_did_not_happen_is_told(x: X, server: FakeX, grant: Grant, settings: Settings) -> None:
    server.fail_next(REVOKE)
    with pytest.raises(Transient):
        x.revoke(grant)

    settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, "X_CLIENT_SECRET": "wrong"}
    with pytest.raises(Transient):
        x.revoke(grant)
    assert server.refresh_tokens("alice") == [grant.tokens["refresh_token"]]
