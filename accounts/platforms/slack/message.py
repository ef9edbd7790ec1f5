"""Slack messages without files, posted once by an app or by a webhook. Messages with files are posted by files.py.

Slack has no idempotency key, and finding a message would need the right to read the channel, which the service does not ask
for; so a lost answer leaves the outcome unknown for good. Sources: docs.slack.dev (formatting message text,
chat.postMessage, chat.getPermalink).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from accounts.platforms.http.responses import text_in
from accounts.platforms.slack import client, webhook
from accounts.platforms.slack.client import WebApi
from accounts.platforms.slack.webhook import Webhook
from accounts.platforms.types import Content, Published

OPTIONS = ("thread_ts", "mrkdwn", "unfurl_links", "unfurl_media")

# The timestamp that identifies a message, such as 1503435956.000247.
TIMESTAMP = re.compile(r"[0-9]{1,12}\.[0-9]{6}")


def message_body(content: Content) -> dict[str, Any]:
    """The JSON body of a Slack message."""
    return {
        "text": escaped(content.text),
        **{name: content.options[name] for name in OPTIONS if name in content.options},
    }


def escaped(text: str) -> str:
    """A Slack text with `&`, `<` and `>` as HTML entities, so that nothing in it mentions anybody or becomes a link."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def send(api: WebApi, channel: Mapping[str, Any], content: Content) -> Published:
    """Post to a Slack channel {id, site} as the app. OutcomeUnknown means that the message may have been published."""
    with client.ERRORS.publish_errors("this message", final=True):
        posted = api.post("/chat.postMessage", json={"channel": channel["id"], **message_body(content)})
        timestamp = text_in(posted, "ts", TIMESTAMP, "timestamp")
    return published(channel, timestamp, content)


def send_by_webhook(hook: Webhook, content: Content) -> Published:
    """Post by a Slack webhook, whose response does not identify the message. Raises as `send`."""
    with webhook.ERRORS.publish_errors("this message", final=True):
        hook.post("", json=message_body(content))
    return Published("", "")


def published(channel: Mapping[str, Any], timestamp: str, content: Content) -> Published:
    """The Slack message with this timestamp in a channel {id, site}, with the permalink from chat.getPermalink."""
    thread = content.options.get("thread_ts")
    address = f"{channel['site']}/archives/{channel['id']}/p{timestamp.replace('.', '')}"
    return Published(timestamp, f"{address}?thread_ts={thread}&cid={channel['id']}" if thread else address)
