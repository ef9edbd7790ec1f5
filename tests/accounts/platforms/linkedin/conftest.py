"""LinkedIn on loopback with one member who administers a page, both connected, each by an application of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from accounts.platforms.linkedin.adapter import LinkedIn
from accounts.platforms.types import Grant
from tests.accounts.platforms.adapter_steps import Account
from tests.accounts.platforms.contract.worlds import world_of
from tests.accounts.platforms.linkedin.scripted_server import ScriptedServer
from tests.accounts.platforms.linkedin.steps import PAGE, connect
from tests.fakes.linkedin import FakeLinkedIn
from tests.fakes.linkedin_oauth import PAGES_CLIENT_ID, PAGES_CLIENT_SECRET


@pytest.fixture
def server(settings: Settings) -> Iterator[FakeLinkedIn]:
    with world_of("linkedin", settings) as world:
        pages = {"LINKEDIN_PAGES_CLIENT_ID": PAGES_CLIENT_ID, "LINKEDIN_PAGES_CLIENT_SECRET": PAGES_CLIENT_SECRET}
        settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, **pages}
        assert isinstance(world.server, FakeLinkedIn)
        yield world.server


@pytest.fixture
def scripted(server: FakeLinkedIn, settings: Settings) -> Iterator[ScriptedServer]:
    """A server in LinkedIn's place, which gives the responses that a test sets."""
    with ScriptedServer() as running:
        places = {"LINKEDIN_API_BASE": running.url, "LINKEDIN_AUTH_BASE": running.url}
        settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, **places}
        yield running


@pytest.fixture
def linkedin() -> LinkedIn:
    return LinkedIn()


@pytest.fixture
def member(server: FakeLinkedIn) -> Account:
    return Account(LinkedIn(), connect(server, "member")[0].grant)


@pytest.fixture
def page(server: FakeLinkedIn) -> Account:
    return Account(LinkedIn(), connect(server, "pages")[0].grant)


@pytest.fixture
def scripted_page(scripted: ScriptedServer) -> Account:
    return Account(LinkedIn(), Grant(tokens={"access_token": "secret-token"}, external_id=PAGE))
