"""A stand-in for X with one connected account, and a clock that a test moves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import time_machine
from pytest_django import Settings

from accounts.platforms.types import Grant
from tests.accounts.platforms.contract.worlds import world_of
from tests.accounts.platforms.x.world import PlatformWorld
from tests.fakes.x import FakeX
from tests.posts.rows import NOON


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture
def world(settings: Settings, clock: Any) -> Iterator[PlatformWorld]:
    with world_of("x", settings) as running:
        assert isinstance(running, PlatformWorld)
        yield running


@pytest.fixture
def server(world: PlatformWorld) -> FakeX:
    return world.server


@pytest.fixture
def grant(world: PlatformWorld) -> Grant:
    return world.connection().grant
