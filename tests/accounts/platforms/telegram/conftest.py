"""A Bot API server with a bot and a connected public channel to which the bot posts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from accounts.platforms.telegram.adapter import Telegram
from accounts.platforms.types import Grant
from tests.fakes.telegram import FakeTelegram


@pytest.fixture
def server() -> Iterator[FakeTelegram]:
    with FakeTelegram() as server:
        yield server


@pytest.fixture(autouse=True)
def _loopback(settings: Settings, server: FakeTelegram) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    settings.PLATFORM_SETTINGS = {"TELEGRAM_API_BASE": server.url}


@pytest.fixture
def telegram() -> Telegram:
    return Telegram()


@pytest.fixture
def token(server: FakeTelegram) -> str:
    return server.add_bot("news_bot")


@pytest.fixture
def channel(server: FakeTelegram, token: str) -> int:
    chat = server.add_chat("channel", "The News", username="the_news")
    server.set_member(chat, token, "administrator", can_post_messages=True)
    return chat


@pytest.fixture
def grant(telegram: Telegram, token: str, channel: int) -> Grant:
    return telegram.connect_with_credentials({"bot_token": token, "chat_id": "@the_news"}).grant
