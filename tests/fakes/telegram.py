"""A stand-in of Telegram's Bot API, with the chats behind it.

Source: core.telegram.org/bots/api; what the documentation leaves open (order of checks, statuses, descriptions) is that
of the API's own server, tdlib/telegram-bot-api. Stricter than that on purpose: files have to be uploaded.

    with FakeTelegram() as telegram:
        bot = telegram.add_bot("news_bot")
        chat = telegram.add_chat("channel", "News", username="news")
        telegram.set_member(chat, bot, "administrator", can_post_messages=True)
        telegram.drop_next("sendMessage")
        ...
        assert len(telegram.messages(chat)) == 1

Calls are named by their methods, such as sendMessage. Chats are named by their numbers, bots by their tokens.
"""

from __future__ import annotations

import re

from tests.fakes.faults import FaultyServer
from tests.fakes.http_server import Answer, RawAnswer, ReceivedRequest
from tests.fakes.telegram_chats import ChatType, Refusal, SentMessage, Status
from tests.fakes.telegram_methods import TelegramMethods
from tests.fakes.telegram_requests import arguments

MAX_REQUEST_BYTES = 50 * 1024 * 1024
_PATH = re.compile(r"/bot(?P<token>[^/]*)/(?P<method>[^/]+)")
_SERVER_ERRORS = {500: "Internal Server Error", 502: "Bad Gateway", 504: "Gateway Timeout"}


class FakeTelegram(FaultyServer):
    """A Bot API server: tests set up bots, chats, rights and faults, and read the messages that were sent."""

    platform = "telegram"

    def __init__(self) -> None:
        super().__init__()
        self._methods = TelegramMethods()
        self._names = {name.lower(): name for name in self._methods.endpoints}
        self.calls = frozenset(self._methods.endpoints)
        self._limited = 0
        self._retry_after = 0

    # what a test arranges

    def add_bot(self, username: str) -> str:
        """Create a Telegram bot; returns its token."""
        with self._lock:
            return self._methods.directory.add_bot(username).token

    def revoke_token(self, token: str) -> None:
        """Replace a bot's token, as its owner does at @BotFather."""
        with self._lock:
            del self._methods.directory.bots[token]

    def add_chat(self, kind: ChatType, title: str, *, username: str = "") -> int:
        """Create a Telegram chat without bots (a private one: with every bot); returns its number."""
        with self._lock:
            return self._methods.directory.add_chat(kind, title, username).id

    def set_member(self, chat: int, token: str, status: Status, **rights: bool) -> None:
        """Set a bot's status in a chat, with these rights and no others."""
        with self._lock:
            bot = self._methods.directory.bots[token]
            self._methods.directory.chats[chat].members[bot.id] = {"status": status, **rights}

    def silence_members(self, chat: int) -> None:
        """Let only administrators write in a group."""
        with self._lock:
            self._methods.directory.chats[chat].members_may_send = False

    def add_topic(self, chat: int, message_thread_id: int) -> None:
        """Create a topic of a Telegram forum."""
        with self._lock:
            self._methods.topics.add((chat, message_thread_id))

    def upgrade(self, group: int) -> int:
        """Turn a group into a supergroup; returns the supergroup's number."""
        with self._lock:
            return self._methods.directory.upgrade(self._methods.directory.chats[group]).id

    def rate_limit_next(self, count: int, retry_after: int = 30) -> None:
        """Answer the next `count` requests to Telegram with 429 and `retry_after` seconds."""
        with self._lock:
            self._limited, self._retry_after = count, retry_after

    # what a test reads

    def messages(self, chat: int) -> tuple[SentMessage, ...]:
        """The messages of a Telegram chat, in order; each item of an album is a message."""
        with self._lock:
            return tuple(self._methods.directory.chats[chat].messages)

    # the service

    def call_of(self, request: ReceivedRequest) -> str:
        """The name of the Telegram method as documented; the API accepts it in upper and lower case."""
        path = _PATH.fullmatch(request.path)
        return self._names.get(path["method"].lower(), path["method"]) if path else ""

    def server_error(self, status: int) -> Answer:
        return refusal_answer(status, _SERVER_ERRORS.get(status, "Internal Server Error"))

    def answer(self, request: ReceivedRequest) -> Answer | RawAnswer:
        """Answer a request to Telegram; the rate limit and the maximum size are checked first."""
        with self._lock:
            if self._limited:
                self._limited -= 1
                wait = self._retry_after
                return refusal_answer(429, f"Too Many Requests: retry after {wait}", retry_after=wait)
        if len(request.body) > MAX_REQUEST_BYTES:
            return refusal_answer(413, "Request Entity Too Large")
        return super().answer(request)

    def perform(self, request: ReceivedRequest) -> Answer:
        path = _PATH.fullmatch(request.path)
        if path is None or request.method not in ("GET", "POST"):
            return refusal_answer(404, "Not Found")
        try:
            result = self._methods.perform(path["token"], self.call_of(request), lambda: arguments(request))
        except Refusal as refusal:
            return refusal_answer(refusal.status, refusal.description, **refusal.parameters)
        return Answer.of_json({"ok": True, "result": result})


def refusal_answer(status: int, description: str, **parameters: int) -> Answer:
    """An error response of the Bot API."""
    body = {"ok": False, "error_code": status, "description": description}
    return Answer.of_json({**body, "parameters": parameters} if parameters else body, status)
