"""Fixtures of sign-in: by the fake OpenID provider, and by links in e-mails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import time_machine

from tests import factories
from tests.fakes.openid import FakeOpenIdProvider
from tests.workspaces.browsers import ALICE, use_provider
from tests.workspaces.mailed_links import ADDRESS, NOON
from workspaces.models import User


@pytest.fixture
def provider(db: None, settings: Any) -> Iterator[FakeOpenIdProvider]:
    """The configured provider, with alice (verified address) and bob (unverified address)."""
    with FakeOpenIdProvider() as fake:
        fake.add_person("alice", **ALICE)
        fake.add_person("bob", email="bob@example.com")
        use_provider(settings, fake)
        yield fake


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """A clock that tests of sign-in links move."""
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture
def own_limits(settings: Any) -> None:
    """Count the links of an hour in this process, whose limits each test begins without; Redis keeps those of other tests."""
    settings.REDIS_URL = ""


@pytest.fixture
def ada() -> User:
    """A person who can sign in by a link."""
    made: User = factories.UserFactory(email=ADDRESS, email_verified=True, display_name="Ada")
    return made
