"""A stand-in of Discord's webhooks, API v10: getting a webhook by its token, and posting by it.

Written from docs.discord.com: Webhook Resource, API Reference (User Agent, Uploading Files, Error Messages), Rate Limits,
JSON Error Codes. Statuses that the documents leave open are those that clients report.

    with FakeDiscord() as discord:
        webhook = discord.add_webhook("News")
        discord.drop_next(EXECUTE, after_accept=True)
        ...
        assert [message["content"] for message in discord.messages(webhook)] == ["Hello"]
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.discord_messages import DiscordError, ReadMessage, read_message
from tests.fakes.faults import FaultyServer
from tests.fakes.http_server import Answer, RawAnswer, ReceivedRequest

GET, EXECUTE = "get webhook", "execute webhook"
FIRST_SNOWFLAKE = 1_440_000_000_000_000_000
PATH = re.compile(r"/api(?:/v(?P<version>\d+))?/webhooks/(?P<id>\d+)/(?P<token>[\w-]+)")
USER_AGENT = re.compile(r"DiscordBot \(https?://[^ ,)]+, [0-9][^ )]*\).*")
BUCKET = {"X-RateLimit-Limit": "5", "X-RateLimit-Bucket": "a1b2c3d4e5f6a7b8"}


@dataclass
class FakeWebhook:
    """An incoming webhook of a Discord channel; `forum` channels accept only threads."""

    id: str
    token: str
    url: str  # as Discord shows it to the channel's owner
    name: str
    guild_id: str
    channel_id: str
    avatar: str | None
    forum: bool
    threads: set[str] = field(default_factory=set)
    messages: list[dict[str, Any]] = field(default_factory=list)


class FakeDiscord(FaultyServer):
    """A Discord server: tests set up webhooks, threads and limits, and read the messages that were posted."""

    platform = "discord"
    calls = frozenset({GET, EXECUTE})

    def __init__(self) -> None:
        super().__init__()
        self._webhooks: dict[str, FakeWebhook] = {}
        self._snowflakes = itertools.count(FIRST_SNOWFLAKE)

    # what a test arranges

    @property
    def api_base(self) -> str:
        """The stand-in's URL in place of https://discord.com/api/v10."""
        return f"{self.url}/api/v10"

    def add_webhook(self, name: str = "News", *, avatar: str | None = None, forum: bool = False) -> FakeWebhook:
        """Create a webhook with a new channel of a new Discord server."""
        with self._lock:
            webhook_id = self._snowflake()
            token = f"token-of-{webhook_id}-{'x' * 30}_Secret"
            url = f"{self.url}/api/webhooks/{webhook_id}/{token}"
            webhook = FakeWebhook(
                webhook_id, token, url, name, self._snowflake(), self._snowflake(), avatar=avatar, forum=forum
            )
            self._webhooks[webhook_id] = webhook
            return webhook

    def delete_webhook(self, webhook: FakeWebhook) -> None:
        """Delete a webhook, as its owner does."""
        with self._lock:
            del self._webhooks[webhook.id]

    def add_thread(self, webhook: FakeWebhook) -> str:
        """Create a thread in the webhook's channel; returns its id."""
        with self._lock:
            thread_id = self._snowflake()
            webhook.threads.add(thread_id)
            return thread_id

    def rate_limit_next(self, call: str, *, retry_after: float = 1.5, everywhere: bool = False) -> None:
        """Refuse the next such call by the rate limit of its bucket, or of all calls together (`everywhere`)."""
        body = {"message": "You are being rate limited.", "retry_after": retry_after, "global": everywhere}
        headers = {"Retry-After": str(int(-(-retry_after // 1)))}
        if everywhere:
            headers |= {"X-RateLimit-Global": "true", "X-RateLimit-Scope": "global"}
        else:
            headers |= {
                **BUCKET,
                "X-RateLimit-Remaining": "0",
                "X-RateLimit-Reset-After": str(retry_after),
                "X-RateLimit-Scope": "user",
            }
        self.refuse_next(call, Answer.of_json(body, 429, headers))

    # what a test reads

    def messages(self, webhook: FakeWebhook) -> list[dict[str, Any]]:
        """The messages of a Discord webhook in order, as the API shows them; each attachment has its `data` in bytes."""
        with self._lock:
            return list(webhook.messages)

    # the service

    def call_of(self, request: ReceivedRequest) -> str:
        """The name of the Discord call: GET, or EXECUTE for everything else."""
        return GET if request.method == "GET" else EXECUTE

    def server_error(self, status: int) -> Answer:
        return Answer.of_json({"message": f"{status}: Server Error", "code": 0}, status)

    def perform(self, request: ReceivedRequest) -> Answer | RawAnswer:
        try:
            return self._perform(request)
        except DiscordError as error:
            return Answer.of_json(error.body, error.status, {**BUCKET, "X-RateLimit-Remaining": "4"})

    def _perform(self, request: ReceivedRequest) -> Answer:
        if not USER_AGENT.fullmatch(request.headers.get("user-agent", "")):
            raise DiscordError(403, 40333, "internal network error")
        webhook = self._webhook_of(request)
        headers = {**BUCKET, "X-RateLimit-Remaining": "4", "X-RateLimit-Reset-After": "2"}
        if request.method == "GET":
            return Answer.of_json(_shown(webhook), headers=headers)
        if request.method != "POST":
            raise DiscordError(405, 0, "405: Method Not Allowed")
        message = self._post(webhook, request.query.get("thread_id"), read_message(request))
        if request.query.get("wait") not in ("true", "True", "1"):
            return Answer(204, headers=headers)
        attachments = [{k: v for k, v in one.items() if k != "data"} for one in message["attachments"]]
        return Answer.of_json({**message, "attachments": attachments}, headers=headers)

    def _webhook_of(self, request: ReceivedRequest) -> FakeWebhook:
        found = PATH.fullmatch(request.path)
        if found is None:
            raise DiscordError(404, 0, "404: Not Found")
        if found["version"] not in (None, "9", "10"):
            raise DiscordError(400, 50041, "Invalid API version")
        webhook = self._webhooks.get(found["id"])
        if webhook is None:
            raise DiscordError(404, 10015, "Unknown Webhook")
        if webhook.token != found["token"]:
            raise DiscordError(401, 50027, "Invalid Webhook Token")
        return webhook

    def _post(self, webhook: FakeWebhook, thread_id: str | None, read: ReadMessage) -> dict[str, Any]:
        channel_id = self._channel(webhook, thread_id, read.thread_name)
        message = {
            "id": self._snowflake(),
            "type": 0,
            "channel_id": channel_id,
            "webhook_id": webhook.id,
            "author": {"id": webhook.id, "username": read.username or webhook.name, "bot": True},
            "content": read.content.strip(),
            "mention_everyone": read.mentions_everyone,
            "flags": read.flags,
            "attachments": [{"id": self._snowflake(), **one} for one in read.attachments],
            "embeds": [],
            **({"poll": read.poll} if read.poll else {}),
        }
        webhook.messages.append(message)
        return message

    def _channel(self, webhook: FakeWebhook, thread_id: str | None, thread_name: str | None) -> str:
        """The id of the channel or thread that gets the message; a forum gets a new thread."""
        if webhook.forum and thread_id and thread_name:
            raise DiscordError(400, 220002, "Webhooks posted to forum channels cannot have both a thread_name and thread_id")
        if thread_id is not None:
            if thread_id not in webhook.threads:
                raise DiscordError(404, 10003, "Unknown Channel")
            return thread_id
        if thread_name and not webhook.forum:
            raise DiscordError(400, 220003, "Webhooks can only create threads in forum channels")
        if not webhook.forum:
            return webhook.channel_id
        if not thread_name:
            raise DiscordError(400, 220001, "Webhooks posted to forum channels must have a thread_name or thread_id")
        return self.add_thread(webhook)

    def _snowflake(self) -> str:
        return str(next(self._snowflakes))


def _shown(webhook: FakeWebhook) -> dict[str, Any]:
    return {
        "id": webhook.id,
        "type": 1,
        "name": webhook.name,
        "avatar": webhook.avatar,
        "guild_id": webhook.guild_id,
        "channel_id": webhook.channel_id,
        "application_id": None,
        "token": webhook.token,
        "url": webhook.url,
    }
