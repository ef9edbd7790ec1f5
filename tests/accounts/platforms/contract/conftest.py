"""A platform's world, its account, and a clock that stands until it is moved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import time_machine
from django.db import transaction
from pytest_django import Settings

from accounts.models import ConnectedAccount
from accounts.services.connect import insert_or_update_account
from tests.accounts.platforms.contract.world import World
from tests.accounts.platforms.contract.worlds import WORLDS, world_of
from tests.posts.rows import NOON
from workspaces.models import Workspace


@pytest.fixture(params=WORLDS)
def platform_name(request: Any) -> str:
    """Every platform in turn, unless a test names those that it is about."""
    return str(request.param)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture
def world(platform_name: str, settings: Settings, clock: Any) -> Iterator[World]:
    with world_of(platform_name, settings) as running:
        yield running


@pytest.fixture
def account(world: World, workspace: Workspace) -> ConnectedAccount:
    """The account, connected and stored as the service does it."""
    connection = world.connection()
    with transaction.atomic():
        return insert_or_update_account(workspace.id, world.name, world.method, connection)
