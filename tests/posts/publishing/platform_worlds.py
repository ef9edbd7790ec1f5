"""One account at a loopback stand-in of each platform, for tests that go the whole way from the API to the platform."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from accounts.models import ConnectedAccount
from tests.conftest import ApiClient
from tests.fakes.bluesky import FakeBluesky
from tests.fakes.discord import EXECUTE, FakeDiscord
from tests.fakes.faults import FaultyServer
from tests.fakes.mastodon import FakeMastodon
from tests.fakes.mastodon_methods import CREATE
from tests.fakes.telegram import FakeTelegram


class World:
    """A platform: `send` is its irreversible call, `accepted` the texts that it really took."""

    platform: str
    send: str
    server: FaultyServer

    def credentials(self, settings: Any) -> dict[str, str]:
        """A new account's credentials; the settings are made to point at the stand-in."""
        raise NotImplementedError

    def accepted(self) -> list[str]:
        raise NotImplementedError

    def media(self) -> list[tuple[str, bytes, str | None]]:
        """(mime type, bytes, alt text) of the files of all posts, in order; None where the platform has no alt text."""
        raise NotImplementedError

    def connect(self, api: ApiClient, workspace_id: str, settings: Any) -> ConnectedAccount:
        body = {
            "workspace_id": workspace_id,
            "platform": self.platform,
            "method": "credentials",
            "credentials": self.credentials(settings),
        }
        answer = api.post("/accounts/connect", body)
        assert answer.status_code == 200, answer.content
        return ConnectedAccount.objects.get(pk=answer.json()["account"]["id"])


class BlueskyWorld(World):
    platform, send = "bluesky", "com.atproto.repo.putRecord"

    def __init__(self) -> None:
        self.server: FakeBluesky = FakeBluesky()

    def credentials(self, settings: Any) -> dict[str, str]:
        self._did = self.server.add_account("alice.test", "abcd-efgh-ijkl-mnop")
        return {"identifier": "alice.test", "app_password": "abcd-efgh-ijkl-mnop", "service": self.server.url}

    def accepted(self) -> list[str]:
        return [record["value"]["text"] for record in self.server.records(self._did)]

    def media(self) -> list[tuple[str, bytes, str | None]]:
        blobs = {blob.cid: blob for blob in self.server.blobs(self._did)}
        images = [image for one in self.server.records(self._did) for image in one["value"]["embed"]["images"]]
        shown = [(blobs[image["image"]["ref"]["$link"]], image["alt"]) for image in images]
        return [(blob.mime_type, blob.data, alt) for blob, alt in shown]


class MastodonWorld(World):
    """On a server that does not know an Idempotency-Key again."""

    platform, send = "mastodon", CREATE

    def __init__(self) -> None:
        self.server: FakeMastodon = FakeMastodon(honours_idempotency_key=False)

    def credentials(self, settings: Any) -> dict[str, str]:
        return {"instance": self.server.url, "access_token": self.server.add_account("alice")}

    def accepted(self) -> list[str]:
        return [status["text"] for status in self.server.statuses("alice")]

    def media(self) -> list[tuple[str, bytes, str | None]]:
        uploads = {upload["id"]: upload for upload in self.server.uploads("alice")}
        shown = [uploads[media_id] for one in self.server.statuses("alice") for media_id in one["media"]]
        return [(upload["mime_type"], upload["content"], upload["description"]) for upload in shown]


class TelegramWorld(World):
    platform, send = "telegram", "sendMessage"

    def __init__(self) -> None:
        self.server: FakeTelegram = FakeTelegram()

    def credentials(self, settings: Any) -> dict[str, str]:
        settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, "TELEGRAM_API_BASE": self.server.url}
        token = self.server.add_bot("news_bot")
        self._chat = self.server.add_chat("channel", "The News", username="the_news")
        self.server.set_member(self._chat, token, "administrator", can_post_messages=True)
        return {"bot_token": token, "chat_id": "@the_news"}

    def accepted(self) -> list[str]:
        return [message.text for message in self.server.messages(self._chat)]

    def media(self) -> list[tuple[str, bytes, str | None]]:
        files = [message.file for message in self.server.messages(self._chat) if message.file]
        return [(file.mime_type, file.content, None) for file in files]


class DiscordWorld(World):
    platform, send = "discord", EXECUTE

    def __init__(self) -> None:
        self.server: FakeDiscord = FakeDiscord()

    def credentials(self, settings: Any) -> dict[str, str]:
        settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, "DISCORD_API_BASE": self.server.api_base}
        self._webhook = self.server.add_webhook("News")
        return {"webhook_url": self._webhook.url}

    def accepted(self) -> list[str]:
        return [message["content"] for message in self.server.messages(self._webhook)]

    def media(self) -> list[tuple[str, bytes, str | None]]:
        files = [file for message in self.server.messages(self._webhook) for file in message["attachments"]]
        return [(file["content_type"], file["data"], file["description"]) for file in files]


WORLDS = {world.platform: world for world in (BlueskyWorld, MastodonWorld, TelegramWorld, DiscordWorld)}


@contextmanager
def world_of(platform: str) -> Iterator[World]:
    """The platform's world with its server running."""
    world = WORLDS[platform]()
    with world.server:
        yield world
