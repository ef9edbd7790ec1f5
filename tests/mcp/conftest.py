"""Fixtures for the tests of the Model Context Protocol endpoint."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import time_machine

from tests.posts.rows import NOON


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """A clock that stands at noon until it is moved."""
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller
