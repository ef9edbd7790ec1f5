"""Exchanging and renewing Meta's tokens: the meaning of its error codes, and when tokens expire."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from pytest_django import Settings

from accounts.platforms.errors import (
    CredentialsRejected,
    PlatformError,
    RateLimited,
    ReauthRequired,
    TokenExpired,
    Transient,
)
from accounts.platforms.registry import get_adapter
from tests.accounts.platforms.contract.broken_calls import calls_of
from tests.accounts.platforms.contract.worlds import world_of
from tests.accounts.platforms.meta.steps import error
from tests.fakes.http_server import Answer

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
SIXTY_DAYS = timedelta(days=60)
RENEWED = ("instagram", "threads")


@pytest.fixture
def world(request: Any, settings: Settings) -> Any:
    with world_of(request.param, settings) as running:
        yield running


@pytest.mark.parametrize("world", ["facebook", *RENEWED], indirect=True)
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (error(4, "(#4) Application request limit reached"), RateLimited),
        (error(190, "Malformed access token"), CredentialsRejected),
        (error(2, "Service", status=500), Transient),
    ],
)
def test_an_error_of_any_call_while_connecting_is_translated(
    world: Any, answer: Answer, expected: type[PlatformError]
) -> None:
    for call in calls_of(world, world.connection):
        world.server.refuse_next(call, answer)
        with pytest.raises(PlatformError) as caught:
            world.connection()
        assert type(caught.value) is expected


@pytest.mark.parametrize("world", RENEWED, indirect=True)
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (error(190, status=401), ReauthRequired),
        (error(100), Transient),  # a token that is less than a day old
        (error(10, status=403), Transient),
        (error(101), Transient),
        (error(4), RateLimited),
    ],
)
def test_only_an_expired_token_ends_a_grant(world: Any, answer: Answer, expected: type[PlatformError]) -> None:
    grant = world.connection().grant
    world.server.refuse_next(world.renew, answer)

    with pytest.raises(PlatformError) as caught:
        get_adapter(world.name).refresh_grant(grant)

    assert type(caught.value) is expected


@pytest.mark.parametrize("world", RENEWED, indirect=True)
def test_a_long_lived_token_expires_after_sixty_days(world: Any) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        grant = world.connection().grant
        assert grant.expires_at == NOW + SIXTY_DAYS

        clock.shift(timedelta(days=48))
        renewed = get_adapter(world.name).refresh_grant(grant)
        assert renewed.expires_at == NOW + timedelta(days=48) + SIXTY_DAYS

        clock.shift(SIXTY_DAYS)
        with pytest.raises(TokenExpired):
            get_adapter(world.name).check_and_identify(renewed)
        with pytest.raises(ReauthRequired):
            get_adapter(world.name).refresh_grant(renewed)
