"""A Discord server with one webhook, connected."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from accounts.platforms.discord.adapter import Discord
from accounts.platforms.types import Grant
from tests.fakes.discord import FakeDiscord, FakeWebhook


@pytest.fixture
def server(settings: Settings) -> Iterator[FakeDiscord]:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    with FakeDiscord() as fake:
        settings.PLATFORM_SETTINGS = {"DISCORD_API_BASE": fake.api_base}
        yield fake


@pytest.fixture
def webhook(server: FakeDiscord) -> FakeWebhook:
    return server.add_webhook("News")


@pytest.fixture
def discord() -> Discord:
    return Discord()


@pytest.fixture
def grant(discord: Discord, webhook: FakeWebhook) -> Grant:
    return discord.connect_with_credentials({"webhook_url": webhook.url}).grant
