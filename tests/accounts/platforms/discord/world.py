"""Discord for the tests that all platforms share."""

from __future__ import annotations

from typing import Any

from accounts.platforms.errors import ReauthRequired
from tests.accounts.platforms.contract.world import Post, World
from tests.fakes.discord import EXECUTE, FakeDiscord
from tests.fakes.http_server import Answer


class PlatformWorld(World):
    name, method = "discord", "credentials"
    create = EXECUTE
    ends_access = False  # a webhook is its owner's
    shown = ("News", "News", "https://discord.com/channels/1440000000000000001/1440000000000000002")
    unauthorized = ReauthRequired

    def __init__(self) -> None:
        super().__init__()
        self.server: FakeDiscord = FakeDiscord()
        self._webhook = self.server.add_webhook("News")

    @property
    def api_base(self) -> str:
        return self.server.api_base

    def credentials(self) -> dict[str, str]:
        return {"webhook_url": self._webhook.url}

    def posts(self) -> list[Post]:
        return [_post(message) for message in self.server.messages(self._webhook)]

    def limit(self, seconds: int) -> Answer:
        return Answer.of_json({"message": "You are being rate limited.", "retry_after": float(seconds)}, 429)

    def rejection(self) -> Answer:
        return Answer.of_json({"message": "Invalid Form Body", "code": 50035}, 400)

    def odd(self) -> Answer:
        return Answer.of_json({"message": "Hello", "code": 99_999}, 400)

    def withdraw(self) -> None:
        self.server.delete_webhook(self._webhook)


def _post(message: dict[str, Any]) -> Post:
    """A message; the question of a poll is its text."""
    files = tuple((file["data"], file["description"]) for file in message["attachments"])
    poll = message.get("poll")
    if poll is None:
        return Post(message["content"], files)
    choices = tuple(answer["poll_media"]["text"] for answer in poll["answers"])
    return Post(f"{message['content']}{poll['question']['text']}", files, choices)
