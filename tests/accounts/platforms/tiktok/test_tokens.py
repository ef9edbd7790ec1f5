from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from accounts.platforms.errors import AccountDisconnected, PlatformError, RateLimited, TokenExpired, Transient
from accounts.platforms.tiktok.adapter import TikTok
from accounts.platforms.types import Grant
from tests.accounts.platforms.tiktok.steps import connect
from tests.fakes.http_server import Answer
from tests.fakes.tiktok import REVOKE, TOKEN, USER, FakeTikTok

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def test_tokens_are_renewed_by_a_refresh_token_that_is_good_once(tiktok: TikTok, server: FakeTikTok) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        grant = connect(tiktok, server).grant
        clock.shift(timedelta(hours=2))
        with pytest.raises(TokenExpired):
            tiktok.identify(grant)

        renewed = tiktok.refresh(grant)

        assert tiktok.identify(renewed).external_id == renewed.external_id == grant.external_id
        assert renewed.expires_at == NOW + timedelta(hours=4)
        assert [renewed.tokens["refresh_token"]] == server.refresh_tokens("alice") != [grant.tokens["refresh_token"]]
        with pytest.raises(AccountDisconnected):
            tiktok.refresh(grant)


def test_a_refresh_token_ends_after_half_a_year_without_use(tiktok: TikTok, server: FakeTikTok) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        grant = connect(tiktok, server).grant
        clock.shift(timedelta(days=181))

        with pytest.raises(AccountDisconnected):
            tiktok.refresh(grant)


def test_a_renewal_without_a_refresh_token_leaves_the_old_one(tiktok: TikTok, server: FakeTikTok, grant: Grant) -> None:
    answer = {"access_token": "act.new", "refresh_token": "", "expires_in": 86_400}
    server.refuse_next(TOKEN, Answer.of_json(answer))

    assert tiktok.refresh(grant).tokens == {"access_token": "act.new", "refresh_token": grant.tokens["refresh_token"]}


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Answer(500), Transient),
        (Answer(429), RateLimited),
        (Answer.of_json({"error": "invalid_client"}, 400), Transient),
        (Answer.of_json({"error": "invalid_request"}, 200), Transient),
        (Answer(200, b"<html>"), Transient),
        (Answer.of_json({"error": "invalid_grant"}, 200), AccountDisconnected),
    ],
)
def test_only_tiktoks_word_that_the_grant_has_ended_asks_for_a_person(
    tiktok: TikTok, server: FakeTikTok, grant: Grant, answer: Answer, fault: type[PlatformError]
) -> None:
    server.refuse_next(TOKEN, answer)

    with pytest.raises(PlatformError) as caught:
        tiktok.refresh(grant)

    assert type(caught.value) is fault


def test_a_token_of_another_account_is_not_this_one(tiktok: TikTok, server: FakeTikTok, grant: Grant) -> None:
    with pytest.raises(AccountDisconnected):
        tiktok.identify(Grant({}, grant.tokens, "open-bob"))


def test_revoking_ends_the_access_and_once_more_is_no_fault(tiktok: TikTok, server: FakeTikTok, grant: Grant) -> None:
    tiktok.revoke(grant)
    tiktok.revoke(grant)

    assert (server.access_tokens("alice"), server.refresh_tokens("alice")) == ([], [])
    server.fail_next(REVOKE)
    with pytest.raises(Transient):
        tiktok.revoke(grant)


def test_a_server_that_hangs_up_is_asked_again_later(tiktok: TikTok, server: FakeTikTok, grant: Grant) -> None:
    for call, ask in [(TOKEN, tiktok.refresh), (USER, tiktok.identify), (REVOKE, tiktok.revoke)]:
        server.drop_next(call, after_accept=False)
        with pytest.raises(Transient):
            ask(grant)
