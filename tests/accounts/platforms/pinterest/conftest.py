"""A stand-in for Pinterest with one connected account and two boards, and a clock that does not move."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import time_machine
from pytest_django import Settings

from accounts.platforms.types import Grant
from tests.accounts.platforms.contract.worlds import world_of
from tests.accounts.platforms.pinterest.world import PlatformWorld
from tests.fakes.pinterest import FakePinterest
from tests.posts.rows import NOON


@pytest.fixture
def world(settings: Settings) -> Iterator[PlatformWorld]:
    with time_machine.travel(NOON, tick=False), world_of("pinterest", settings) as running:
        assert isinstance(running, PlatformWorld)
        yield running


@pytest.fixture
def server(world: PlatformWorld) -> FakePinterest:
    return world.server


@pytest.fixture
def boards(world: PlatformWorld) -> dict[str, str]:
    """The ids of the account's boards by their names."""
    return world.boards


@pytest.fixture
def grant(world: PlatformWorld) -> Grant:
    return world.connection().grant
