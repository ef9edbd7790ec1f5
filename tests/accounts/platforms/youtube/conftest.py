"""Fixtures: YouTube's stand-in on loopback with one connected channel."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from accounts.platforms.registry import get_adapter
from tests.accounts.platforms.adapter_steps import Account
from tests.accounts.platforms.contract.world import World
from tests.accounts.platforms.contract.worlds import world_of
from tests.fakes.youtube import FakeYouTube


@pytest.fixture
def world(settings: Settings) -> Iterator[World]:
    with world_of("youtube", settings) as running:
        yield running


@pytest.fixture
def server(world: World) -> FakeYouTube:
    assert isinstance(world.server, FakeYouTube)
    return world.server


@pytest.fixture
def account(world: World) -> Account:
    return Account(get_adapter("youtube"), world.connection().grant)
