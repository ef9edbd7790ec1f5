"""What every test of webhooks needs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from tests.fakes.receiver import Receiver
from tests.webhooks.rows import make_workspace
from workspaces.models import Workspace


@pytest.fixture(autouse=True)
def _loopback(settings: Settings) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = True


@pytest.fixture
def workspace(db: None) -> Workspace:
    return make_workspace()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as listening:
        yield listening
