"""LinkedIn on loopback with one member who administers a page, both connected, each by an application of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from accounts.platforms.linkedin.adapter import LinkedIn
from accounts.platforms.types import Grant
from tests.accounts.platforms.linkedin.scripted_server import ScriptedServer
from tests.accounts.platforms.linkedin.steps import PAGE, REDIRECT_URI, connect
from tests.fakes.linkedin import FakeLinkedIn
from tests.fakes.linkedin_oauth import CLIENT_ID, CLIENT_SECRET, PAGES_CLIENT_ID, PAGES_CLIENT_SECRET


@pytest.fixture
def server(settings: Settings) -> Iterator[FakeLinkedIn]:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    with FakeLinkedIn() as running:
        running.register_redirect(REDIRECT_URI)
        running.add_member("Alice", pages={"2414183": "Acme"})
        settings.PLATFORM_SETTINGS = _settings(running.url)
        yield running


@pytest.fixture
def scripted(settings: Settings) -> Iterator[ScriptedServer]:
    """In LinkedIn's place, with both applications set up."""
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    with ScriptedServer() as running:
        settings.PLATFORM_SETTINGS = _settings(running.url)
        yield running


@pytest.fixture
def linkedin() -> LinkedIn:
    return LinkedIn()


@pytest.fixture
def member(linkedin: LinkedIn, server: FakeLinkedIn) -> Grant:
    return connect(linkedin, server, "member")[0].grant


@pytest.fixture
def page(linkedin: LinkedIn, server: FakeLinkedIn) -> Grant:
    return connect(linkedin, server, "pages")[0].grant


@pytest.fixture
def scripted_grant() -> Grant:
    return Grant(tokens={"access_token": "secret-token"}, external_id=PAGE)


def _settings(url: str) -> dict[str, str]:
    return {
        "LINKEDIN_CLIENT_ID": CLIENT_ID,
        "LINKEDIN_CLIENT_SECRET": CLIENT_SECRET,
        "LINKEDIN_PAGES_CLIENT_ID": PAGES_CLIENT_ID,
        "LINKEDIN_PAGES_CLIENT_SECRET": PAGES_CLIENT_SECRET,
        "LINKEDIN_API_BASE": url,
        "LINKEDIN_AUTH_BASE": url,
    }
