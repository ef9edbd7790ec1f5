"""Telegram for the tests that all platforms share."""

from __future__ import annotations

from itertools import groupby

from accounts.platforms.errors import OutcomeUnknown, Transient
from tests.accounts.platforms.contract.world import Post, World
from tests.fakes.http_server import Answer
from tests.fakes.telegram import FakeTelegram, refusal_answer


class PlatformWorld(World):
    name, method = "telegram", "credentials"
    create = "sendMessage"
    shows_alt_texts = "none"
    ends_access = False  # a bot's token is its owner's
    shown = ("@the_news", "The News", "https://t.me/the_news")
    unauthorized = Transient  # a response without a JSON body is not Telegram's
    trusted = ("getMe",)  # its `id` is sent on as it is
    unusual = {("publish", "sendMessage"): {"any": OutcomeUnknown}}

    def __init__(self) -> None:
        super().__init__()
        self.server: FakeTelegram = FakeTelegram()
        self._token = self.server.add_bot("news_bot")
        self._chat = self.server.add_chat("channel", "The News", username="the_news")
        self.server.set_member(self._chat, self._token, "administrator", can_post_messages=True)

    def credentials(self) -> dict[str, str]:
        return {"bot_token": self._token, "chat_id": "@the_news"}

    def posts(self) -> list[Post]:
        sent = self.server.messages(self._chat)
        albums = [list(items) for _, items in groupby(sent, lambda each: each.media_group_id or each.message_id)]
        return [
            Post(
                items[0].text,
                tuple((each.file.content, None) for each in items if each.file),
                tuple(items[0].item.get("options", ())),
            )
            for items in albums
        ]

    def limit(self, seconds: int) -> Answer:
        return refusal_answer(429, f"Too Many Requests: retry after {seconds}", retry_after=seconds)

    def rejection(self) -> Answer:
        return refusal_answer(400, "Bad Request: message is too long")

    def odd(self) -> Answer:
        return refusal_answer(409, "Conflict: Hello")

    def withdraw(self) -> None:
        self.server.revoke_token(self._token)
