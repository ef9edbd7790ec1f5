"""Fixtures of the fake OpenID provider."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.fakes.openid import FakeOpenIdProvider
from tests.workspaces.browsers import ALICE, use_provider


@pytest.fixture
def provider(db: None, settings: Any) -> Iterator[FakeOpenIdProvider]:
    """The configured provider, with alice (verified address) and bob (unverified address)."""
    with FakeOpenIdProvider() as fake:
        fake.add_person("alice", **ALICE)
        fake.add_person("bob", email="bob@example.com")
        use_provider(settings, fake)
        yield fake
