from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from accounts.platforms.errors import AccountDisconnected, PlatformError, RateLimited, TokenExpired, Transient
from accounts.platforms.instagram.adapter import Instagram
from accounts.platforms.types import Grant
from tests.accounts.platforms.instagram.steps import connect
from tests.fakes.http_server import Answer
from tests.fakes.instagram import RENEW, FakeInstagram

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def test_a_token_is_renewed_for_sixty_days_more_before_it_ends(instagram: Instagram, server: FakeInstagram) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        grant = connect(instagram, server).grant
        for days in (48, 96):
            clock.move_to(NOW + timedelta(days=days))
            renewed = instagram.refresh(grant)
            assert renewed.expires_at == NOW + timedelta(days=days + 60)
            assert renewed.tokens["access_token"] != grant.tokens["access_token"]
            assert instagram.identify(renewed).handle == "alice"
            grant = renewed


def test_a_token_that_has_ended_needs_its_owner(instagram: Instagram, server: FakeInstagram) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        grant = connect(instagram, server).grant
        clock.shift(timedelta(days=60))

        with pytest.raises(TokenExpired):
            instagram.identify(grant)
        with pytest.raises(AccountDisconnected):
            instagram.refresh(grant)


def test_a_token_that_is_too_young_is_renewed_later(instagram: Instagram, server: FakeInstagram, grant: Grant) -> None:
    with pytest.raises(Transient):
        instagram.refresh(grant)


def test_an_access_that_was_taken_away_needs_its_owner(
    instagram: Instagram, server: FakeInstagram, grant: Grant
) -> None:
    server.withdraw("alice")

    with pytest.raises(AccountDisconnected):
        instagram.refresh(grant)


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Answer(503), Transient),
        (Answer(429, b"", {"Retry-After": "30"}), RateLimited),
        (Answer(403, b"<html>Blocked</html>"), Transient),
        (Answer(200, b"{}"), Transient),
        (Answer.of_json({"error": {"code": 10, "message": "no"}}, 403), Transient),
        (Answer.of_json({"error": {"code": 101, "message": "no"}}, 400), Transient),
        (Answer.of_json({"error": {"code": 190, "message": "no"}}, 400), AccountDisconnected),
    ],
)
def test_only_instagrams_word_that_it_has_ended_ends_a_grant(
    instagram: Instagram, server: FakeInstagram, grant: Grant, answer: Answer, fault: type[PlatformError]
) -> None:
    server.refuse_next(RENEW, answer)

    with pytest.raises(PlatformError) as caught:
        instagram.refresh(grant)

    assert type(caught.value) is fault


def test_an_account_keeps_its_identity_under_another_name(
    instagram: Instagram, server: FakeInstagram, grant: Grant
) -> None:
    server.rename("alice", "alicia")

    identity = instagram.identify(grant)

    assert (identity.external_id, identity.handle) == (grant.external_id, "alicia")


def test_a_token_of_another_account_is_refused(instagram: Instagram, grant: Grant) -> None:
    with pytest.raises(AccountDisconnected):
        instagram.identify(replace(grant, external_id="999"))
