"""A stand-in of Slack: incoming webhooks, the Web API, and the page on which an app is installed.

Written from docs.slack.dev: incoming webhooks, installing with OAuth, oauth.v2.access, conversations.list and .info,
chat.postMessage, files.completeUploadExternal, formatting message text, rate limits; `slack_files` says what else. A
text of more than 40,000 characters is refused here.

    with FakeSlack() as slack:
        channel = slack.add_channel("news")
        slack.drop_next(POST_MESSAGE)
        ...
        assert [message["text"] for message in slack.messages(channel)] == ["Hello"]
"""

from __future__ import annotations

import html
import itertools
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.faults import FaultyServer
from tests.fakes.http_server import Answer, ReceivedRequest
from tests.fakes.slack_blocks import are_valid_blocks
from tests.fakes.slack_files import UPLOADS, SlackFiles
from tests.fakes.slack_oauth import Refused, SlackOAuth, arguments

WEBHOOK, ACCESS, AUTH_TEST = "webhook", "oauth.v2.access", "auth.test"
LIST, INFO, POST_MESSAGE = "conversations.list", "conversations.info", "chat.postMessage"
ANNOUNCE, UPLOAD = "files.getUploadURLExternal", "upload"
SHARE, FILE_INFO = "files.completeUploadExternal", "files.info"
TEAM, MESSAGE_ARGUMENTS = "T024BE7LD", frozenset({"text", "thread_ts", "mrkdwn", "unfurl_links", "unfurl_media", "blocks"})

_HOOK = re.compile(r"/services/(T[A-Z0-9]+)/(B[A-Z0-9]+)/([A-Za-z0-9]+)")
_CONTROL = re.compile(r"<([@#!][^>]+|[a-z]+:[^>]+)>")


@dataclass
class Channel:
    """A channel of the Slack workspace; `webhooks` are the secrets of its webhooks, by id."""

    id: str
    name: str
    private: bool
    has_app: bool
    archived: bool = False
    read_only: bool = False
    webhooks: dict[str, str] = field(default_factory=dict)
    messages: list[dict[str, Any]] = field(default_factory=list)

    def entity(self) -> dict[str, Any]:
        """The Slack channel as conversations.list shows it."""
        return {
            "id": self.id,
            "name": self.name,
            "is_channel": not self.private,
            "is_private": self.private,
            "is_archived": self.archived,
            "is_member": self.has_app,
            "topic": {"value": ""},
        }


class FakeSlack(FaultyServer):
    """A Slack server with one workspace, in which people install the operator's app."""

    platform = "slack"
    calls = frozenset({WEBHOOK, ACCESS, AUTH_TEST, LIST, INFO, POST_MESSAGE, ANNOUNCE, UPLOAD, SHARE, FILE_INFO})

    def __init__(self) -> None:
        super().__init__()
        self._channels: dict[str, Channel] = {}
        self._numbers = itertools.count(1)
        self._oauth = SlackOAuth(self.url, TEAM)
        self.files = SlackFiles(self.url, lambda: next(self._numbers))

    # what a test arranges

    @property
    def api_base(self) -> str:
        """The stand-in's URL in place of https://slack.com/api."""
        return f"{self.url}/api"

    def add_channel(self, name: str = "news", *, private: bool = False, has_app: bool = False) -> Channel:
        """Create a Slack channel; `has_app`: the app was invited to it."""
        with self._lock:
            channel = Channel(f"C{next(self._numbers):010d}", name, private, has_app)
            self._channels[channel.id] = channel
            return channel

    def add_webhook(self, channel: Channel) -> str:
        """Create a webhook that posts to a Slack channel; returns its address."""
        with self._lock:
            webhook_id, secret = f"B{next(self._numbers):010d}", secrets.token_hex(12)
            channel.webhooks[webhook_id] = secret
            return f"{self.url}/services/{TEAM}/{webhook_id}/{secret}"

    def remove_webhooks(self, channel: Channel) -> None:
        """Remove the webhooks of a Slack channel, as their owner does."""
        with self._lock:
            channel.webhooks.clear()

    def register_redirect(self, uri: str) -> None:
        """Set a callback address in the app's settings."""
        self._oauth.redirect_uris.add(uri)

    def rotate_tokens(self) -> None:
        """Switch token rotation on in the app's settings."""
        self._oauth.rotates = True

    def grant(self, authorization_url: str, scopes: Iterable[str] | None = None) -> str:
        """Install the Slack app with the scopes that it asks for or with these; returns the code.

        Raises ValueError where Slack would show an error instead.
        """
        with self._lock:
            return self._oauth.grant(authorization_url, scopes)

    def remove_app(self) -> None:
        """Remove the app from the Slack workspace."""
        with self._lock:
            self._oauth.tokens.clear()

    def limit_scopes(self, *scopes: str) -> None:
        """Limit all issued Slack tokens to these scopes, as for an older installation."""
        with self._lock:
            self._oauth.tokens = dict.fromkeys(self._oauth.tokens, scopes)

    def rate_limit_next(self, call: str, seconds: int) -> None:
        """Refuse the next such call by Slack's rate limit."""
        body = Answer.of_json({"ok": False, "error": "ratelimited"}).body if call != WEBHOOK else b"rate_limited"
        self.refuse_next(call, Answer(429, body, {"Retry-After": str(seconds)}))

    # what a test reads

    def messages(self, channel: Channel) -> list[dict[str, Any]]:
        """The messages of a Slack channel, with the text that people see, and files as bytes and alt texts."""
        with self._lock:
            return list(channel.messages)

    # the service

    def call_of(self, request: ReceivedRequest) -> str:
        """The name of the Slack call: a method of the Web API, WEBHOOK, or UPLOAD for the bytes of a file."""
        if request.path.startswith(UPLOADS):
            return UPLOAD
        return WEBHOOK if request.path.startswith("/services/") else request.path.removeprefix("/api/")

    def perform(self, request: ReceivedRequest) -> Answer:
        try:
            if self.call_of(request) == WEBHOOK:
                self._by_webhook(request)
                return Answer(200, b"ok", {"Content-Type": "text/html"})
            if self.call_of(request) == UPLOAD:
                return self.files.upload(request)
            return Answer.of_json({"ok": True, **self._by_api(request)})
        except Refused as refused:
            return refused.answer()

    def _by_webhook(self, request: ReceivedRequest) -> None:
        found = _HOOK.fullmatch(request.path)
        if found is None or found[1] != TEAM:
            raise Refused("no_team", 404)
        channel = next((each for each in self._channels.values() if found[2] in each.webhooks), None)
        if channel is None:
            raise Refused("no_service", 404)
        if channel.webhooks[found[2]] != found[3]:
            raise Refused("invalid_token", 403)
        if channel.archived:
            raise Refused("channel_is_archived", 410)
        if channel.read_only:
            raise Refused("action_prohibited", 403)
        if request.method != "POST" or request.headers.get("content-type") != "application/json":
            raise Refused("invalid_payload", 400)
        self._post(channel, dict(request.json()), 400)

    def _by_api(self, request: ReceivedRequest) -> dict[str, Any]:
        method = self.call_of(request)
        if method == ACCESS:
            return self._oauth.access(request)
        if method not in self.calls:
            raise Refused("unknown_method")
        self._oauth.check(request, method)
        given = arguments(request)
        if method == AUTH_TEST:
            return {"url": f"{self.url}/", "team": "The Bench", "team_id": TEAM, "user": "service", "user_id": "U1"}
        if method in (ANNOUNCE, FILE_INFO):
            return self.files.announce(given) if method == ANNOUNCE else self.files.info(given)
        return self._list(given) if method == LIST else self._in_channel(method, given, request)

    def _in_channel(self, method: str, given: dict[str, Any], request: ReceivedRequest) -> dict[str, Any]:
        channel = self._channels.get(str(given.pop("channel_id" if method == SHARE else "channel", "")))
        if channel is None or (channel.private and not channel.has_app):
            raise Refused("channel_not_found")
        if method == INFO:
            return {"channel": channel.entity()}
        if channel.archived:
            raise Refused("is_archived")
        if method == SHARE:
            return self._share(channel, given)
        if channel.read_only:
            raise Refused("restricted_action_read_only_channel")
        if not channel.has_app and not self._oauth.may(request, "chat:write.public"):
            raise Refused("not_in_channel")
        return self._post(channel, given)

    def _list(self, given: dict[str, Any]) -> dict[str, Any]:
        kinds, limit = str(given.get("types", "public_channel")).split(","), int(given.get("limit", 100))
        if not 1 <= limit < 1000 or not {"public_channel", "private_channel"}.issuperset(kinds):
            raise Refused("invalid_arguments")
        shown = [
            each
            for each in self._channels.values()
            if ("private_channel" if each.private else "public_channel") in kinds
            and (each.has_app or not each.private)
            and not (each.archived and given.get("exclude_archived") == "true")
        ]
        start = int(given.get("cursor", "0"))
        following = str(start + limit) if start + limit < len(shown) else ""
        channels = [each.entity() for each in shown[start : start + limit]]
        return {"channels": channels, "response_metadata": {"next_cursor": following}}

    def _share(self, channel: Channel, given: dict[str, Any]) -> dict[str, Any]:
        """Post a Slack message with uploaded files. The response does not name the message."""
        if not channel.has_app:
            raise Refused("not_in_channel")
        if channel.read_only:
            raise Refused("posting_to_channel_denied")
        if set(given) - {"files", "initial_comment", "thread_ts"}:
            raise Refused("invalid_arguments")
        files = self.files.uploaded(given.get("files"))
        timestamp = f"{1_503_435_956 + next(self._numbers)}.000247"
        text = given.get("initial_comment", "")
        shown = {"files": [(file.content, file.alt_text) for file in files], "ts": timestamp}
        thread = {name: given[name] for name in ("thread_ts",) if name in given}
        channel.messages.append({"text": html.unescape(text), "control": _CONTROL.findall(text), **thread, **shown})
        self.files.share(files, channel.id, timestamp, private=channel.private)
        return {"files": [{"id": file.id, "title": file.name} for file in files]}

    def _post(self, channel: Channel, given: dict[str, Any], status: int = 200) -> dict[str, Any]:
        """Accept a Slack message; a refusal has this status."""
        text = given.get("text")
        if set(given) - MESSAGE_ARGUMENTS or not isinstance(text, str):
            raise Refused("invalid_arguments" if status == 200 else "invalid_payload", status)
        if not text.strip():
            raise Refused("no_text", status)
        if "blocks" in given and not are_valid_blocks(given["blocks"]):
            raise Refused("invalid_blocks", status)
        if len(text) > 40_000:
            raise Refused("msg_too_long", status)
        parent = given.get("thread_ts")
        if parent is not None and parent not in {each["ts"] for each in channel.messages}:
            raise Refused("thread_not_found", status)
        timestamp = f"{1_503_435_956 + next(self._numbers)}.000247"
        control = _CONTROL.findall(text)
        channel.messages.append({**given, "text": html.unescape(text), "control": control, "ts": timestamp})
        return {"channel": channel.id, "ts": timestamp, "message": {"type": "message", "text": text, "ts": timestamp}}
