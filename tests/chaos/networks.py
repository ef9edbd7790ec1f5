"""The platforms of a chaos run."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from tests.chaos.gate import Gates
from tests.chaos.platforms import Accepted, Account, Platform, Watched
from tests.fakes.bluesky import FakeBluesky
from tests.fakes.discord import EXECUTE, FakeDiscord, FakeWebhook
from tests.fakes.http_server import Answer
from tests.fakes.mastodon import FakeMastodon
from tests.fakes.mastodon_methods import CREATE, LIST, SOURCE
from tests.fakes.telegram import FakeTelegram, refusal_answer

TOKEN_SECONDS = 20.0  # how long an access token is good at least


class WatchedBluesky(Watched, FakeBluesky):
    refusal = Answer.of_json({"error": "InvalidRequest", "message": "Unwanted word at $.record.text"}, 400)


class WatchedMastodon(Watched, FakeMastodon):
    refusal = Answer.of_json({"error": "Validation failed: Text holds an unwanted word"}, 422)


class ForgetfulMastodon(WatchedMastodon):
    """A Mastodon-compatible server that ignores the Idempotency-Key."""

    def __init__(self) -> None:
        super().__init__(honours_idempotency_key=False)


class WatchedTelegram(Watched, FakeTelegram):
    refusal = refusal_answer(400, "Bad Request: message is unwanted")


class WatchedDiscord(Watched, FakeDiscord):
    refusal = Answer.of_json({"message": "Message content is unwanted", "code": 200000}, 400)


class Bluesky(Platform):
    """Bluesky, whose record keys are chosen by the service, so that repeating a post is harmless."""

    name = label = "bluesky"
    repeatable = True
    publishing = "com.atproto.repo.putRecord"
    others = ("com.atproto.repo.getRecord", "com.atproto.server.refreshSession")
    server: WatchedBluesky

    def __init__(self, server: WatchedBluesky, gates: Gates) -> None:
        super().__init__(server, gates)
        server.announce_endpoint(self.gate.url)
        self._dids: list[str] = []
        self._access_ended = 0.0  # monotonic seconds

    def settings(self) -> Mapping[str, str]:
        return {"BLUESKY_API_BASE": self.gate.url}

    def credentials(self, number: int) -> dict[str, str]:
        handle, password = f"account{number}.test", "abcd-efgh-ijkl-mnop"
        self._dids.append(self.server.add_account(handle, password))
        return {"identifier": handle, "app_password": password}

    def texts(self, number: int) -> list[str]:
        return [record["value"]["text"] for record in self.server.records(self._dids[number])]

    def rate_limited(self, seconds: int) -> Answer:
        body = {"error": "RateLimitExceeded", "message": "Rate Limit Exceeded"}
        return Answer.of_json(body, 429, {"Retry-After": str(seconds)})

    def end_access(self) -> bool:
        if time.monotonic() - self._access_ended < TOKEN_SECONDS:
            return False
        self._access_ended = time.monotonic()
        self.server.expire_access_tokens()
        return True


class Mastodon(Platform):
    """Mastodon on a server with Idempotency-Key, where posts can also be found."""

    name = label = "mastodon"
    publishing = CREATE
    others = (LIST, SOURCE)
    may_limit = False  # the service then lets an account post once in 36 s, longer than any run
    accounts_each = 3
    server: WatchedMastodon

    def credentials(self, number: int) -> dict[str, str]:
        return {"instance": self.gate.url, "access_token": self.server.add_account(f"account{number}")}

    def texts(self, number: int) -> list[str]:
        return [status["text"] for status in self.server.statuses(f"account{number}")]

    def rate_limited(self, seconds: int) -> Answer:
        return Answer.of_json({"error": "Too many requests"}, 429, {"Retry-After": str(seconds)})


class OtherMastodon(Mastodon):
    """Mastodon on a server without Idempotency-Key: only finding a post prevents a double."""

    label = "mastodon without keys"


class Telegram(Platform):
    """Telegram, where published posts cannot be found."""

    name = label = "telegram"
    publishing = "sendMessage"
    accounts_each = 8
    server: WatchedTelegram

    def __init__(self, server: WatchedTelegram, gates: Gates) -> None:
        super().__init__(server, gates)
        self._bot = server.add_bot("chaos_bot")
        self._chats: list[int] = []

    def settings(self) -> Mapping[str, str]:
        return {"TELEGRAM_API_BASE": self.gate.url}

    def credentials(self, number: int) -> dict[str, str]:
        chat = self.server.add_chat("channel", f"Channel {number}", username=f"channel{number}")
        self.server.set_member(chat, self._bot, "administrator", can_post_messages=True)
        self._chats.append(chat)
        return {"bot_token": self._bot, "chat_id": str(chat)}

    def texts(self, number: int) -> list[str]:
        return [message.text for message in self.server.messages(self._chats[number])]

    def rate_limited(self, seconds: int) -> Answer:
        return refusal_answer(429, f"Too Many Requests: retry after {seconds}", retry_after=seconds)


class Discord(Platform):
    """Discord webhooks, where published posts cannot be found."""

    name = label = "discord"
    publishing = EXECUTE
    accounts_each = 6
    server: WatchedDiscord

    def __init__(self, server: WatchedDiscord, gates: Gates) -> None:
        super().__init__(server, gates)
        self._webhooks: list[FakeWebhook] = []

    def settings(self) -> Mapping[str, str]:
        return {"DISCORD_API_BASE": f"{self.gate.url}/api/v10"}

    def credentials(self, number: int) -> dict[str, str]:
        webhook = self.server.add_webhook(f"Channel {number}")
        self._webhooks.append(webhook)
        return {"webhook_url": f"{self.gate.url}/api/webhooks/{webhook.id}/{webhook.token}"}

    def texts(self, number: int) -> list[str]:
        return [message["content"] for message in self.server.messages(self._webhooks[number])]

    def rate_limited(self, seconds: int) -> Answer:
        body = {"message": "You are being rate limited.", "retry_after": float(seconds), "global": False}
        return Answer.of_json(body, 429, {"Retry-After": str(seconds), "X-RateLimit-Scope": "user"})


KINDS: tuple[tuple[type[Any], type[Any]], ...] = (
    (Bluesky, WatchedBluesky),
    (Mastodon, WatchedMastodon),
    (OtherMastodon, ForgetfulMastodon),
    (Telegram, WatchedTelegram),
    (Discord, WatchedDiscord),
)


class Networks:
    """All platforms of a run; a context manager."""

    def __init__(self, gates: Gates) -> None:
        self._gates = gates
        self._open = ExitStack()
        self.all: list[Platform] = []

    def __enter__(self) -> Networks:
        self.all = [kind(self._open.enter_context(server()), self._gates) for kind, server in KINDS]
        return self

    def __exit__(self, *_: Any) -> None:
        self._open.close()

    @property
    def accounts(self) -> list[Account]:
        """Return the connected accounts of all platforms."""
        return [account for platform in self.all for account in platform.accounts]

    def settings(self) -> dict[str, str]:
        """Return the environment variables for the service."""
        return {name: value for platform in self.all for name, value in platform.settings().items()}

    def accepted(self) -> Accepted:
        """Return the posts that all platforms accepted."""
        return sum((platform.accepted() for platform in self.all), Counter())

    def first_seen(self) -> dict[str, float]:
        """Return when each marker first arrived at a platform, in Unix seconds."""
        seen: dict[str, float] = {}
        for platform in self.all:
            for marker, at in list(platform.server.first_seen.items()):
                seen[marker] = min(at, seen.get(marker, at))
        return seen
