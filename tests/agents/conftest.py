"""Fixtures of the OpenID provider whose access tokens the service accepts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.fakes.openid import FakeOpenIdProvider
from tests.workspaces.browsers import ALICE, use_provider


@pytest.fixture
def provider(settings: Any) -> Iterator[FakeOpenIdProvider]:
    """The configured provider, with the user alice."""
    with FakeOpenIdProvider() as fake:
        fake.add_person("alice", **ALICE)
        use_provider(settings, fake)
        yield fake
