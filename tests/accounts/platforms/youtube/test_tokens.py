from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from accounts.platforms.errors import AccountDisconnected, PlatformError, RateLimited, TokenExpired, Transient
from accounts.platforms.types import Grant
from accounts.platforms.youtube.adapter import YouTube
from tests.accounts.platforms.youtube.steps import connect
from tests.fakes.http_server import Answer
from tests.fakes.youtube import CHANNELS, REVOKE, TOKEN, FakeYouTube

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def test_an_access_token_is_good_for_an_hour_and_is_renewed_by_a_refresh_token_that_stays(
    youtube: YouTube, server: FakeYouTube
) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        [connection] = connect(youtube, server)
        grant = connection.grant
        clock.shift(timedelta(hours=1))
        with pytest.raises(TokenExpired):
            youtube.identify(grant)

        renewed = youtube.refresh(grant)

        assert youtube.identify(renewed).external_id == renewed.external_id == grant.external_id
        assert renewed.expires_at == NOW + timedelta(seconds=7199)
        assert renewed.tokens["access_token"] != grant.tokens["access_token"]
        assert renewed.tokens["refresh_token"] == grant.tokens["refresh_token"]
        youtube.refresh(renewed)


def test_access_that_was_taken_away_needs_a_person(youtube: YouTube, server: FakeYouTube, grant: Grant) -> None:
    server.withdraw("alice")

    with pytest.raises(TokenExpired):
        youtube.identify(grant)
    with pytest.raises(AccountDisconnected):
        youtube.refresh(grant)


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Answer(500), Transient),
        (Answer(429, b"", {"Retry-After": "7"}), RateLimited),
        (Answer.of_json({"error": "invalid_client"}, 401), Transient),
        (Answer.of_json({"error": "unsupported_grant_type"}, 400), Transient),
        (Answer(200, b"<html>"), Transient),
        (Answer.of_json({"error": "invalid_grant"}, 400), AccountDisconnected),
    ],
)
def test_only_googles_word_that_the_grant_has_ended_asks_for_a_person(
    youtube: YouTube, server: FakeYouTube, grant: Grant, answer: Answer, fault: type[PlatformError]
) -> None:
    server.refuse_next(TOKEN, answer)

    with pytest.raises(PlatformError) as caught:
        youtube.refresh(grant)

    assert type(caught.value) is fault


def test_a_grant_that_opens_another_channel_is_no_longer_this_one(
    youtube: YouTube, server: FakeYouTube, grant: Grant
) -> None:
    other = Grant(grant.credentials, grant.tokens, "UCelse")

    with pytest.raises(AccountDisconnected):
        youtube.identify(other)


def test_the_channel_is_told_as_it_stands(youtube: YouTube, server: FakeYouTube, grant: Grant) -> None:
    assert youtube.identify(grant).handle == "alice0"


def test_revoking_ends_the_grant_and_once_more_is_no_fault(youtube: YouTube, server: FakeYouTube, grant: Grant) -> None:
    youtube.revoke(grant)
    youtube.revoke(grant)

    assert (server.access_tokens("alice"), server.refresh_tokens("alice")) == ([], [])
    server.fail_next(REVOKE)
    with pytest.raises(Transient):
        youtube.revoke(grant)


def test_a_server_that_hangs_up_is_asked_again_later(youtube: YouTube, server: FakeYouTube, grant: Grant) -> None:
    for call, ask in [(TOKEN, youtube.refresh), (CHANNELS, youtube.identify), (REVOKE, youtube.revoke)]:
        server.drop_next(call)
        with pytest.raises(Transient):
            ask(grant)
