"""The OpenID provider whose tokens the service takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.fakes.openid import FakeOpenIdProvider
from tests.workspaces.browsers import ALICE, use_provider


@pytest.fixture
def provider(settings: Any) -> Iterator[FakeOpenIdProvider]:
    """The service's provider, which knows alice."""
    with FakeOpenIdProvider() as standing:
        standing.add_person("alice", **ALICE)
        use_provider(settings, standing)
        yield standing
