"""The OpenID provider at which the tests' people sign in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.fakes.openid import FakeOpenIdProvider
from tests.workspaces.browsers import ALICE, use_provider


@pytest.fixture
def provider(db: None, settings: Any) -> Iterator[FakeOpenIdProvider]:
    """The service's provider, which knows alice with a verified address and bob without."""
    with FakeOpenIdProvider() as standing:
        standing.add_person("alice", **ALICE)
        standing.add_person("bob", email="bob@example.com")
        use_provider(settings, standing)
        yield standing
