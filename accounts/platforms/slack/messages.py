"""The steps that post Slack messages without files, by the app or a webhook.

Slack has no idempotency key, and finding a message would need the right to read the channel, which the service does not ask
for. So after a lost answer to a message without files, nobody can find out whether it was posted.
Sources: docs.slack.dev, formatting message text, chat.postMessage, chat.getPermalink.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import Any

from django.utils.translation import gettext_noop

from accounts.platforms.http.responses import required_matching_text
from accounts.platforms.slack import webhook
from accounts.platforms.slack.client import ERRORS, WebApi
from accounts.platforms.slack.webhook import WebhookClient
from accounts.platforms.types import Content, Published

OPTIONS = ("thread_ts", "mrkdwn", "unfurl_links", "unfurl_media")
TIMESTAMP = re.compile(r"[0-9]{1,12}\.[0-9]{6}")  # identifies a message, such as 1503435956.000247

Channel = Mapping[str, Any]


def message_body(content: Content) -> dict[str, Any]:
    """Return the JSON body of a Slack message without files, with the text escaped so that it has no mentions or links."""
    options = {name: content.options[name] for name in OPTIONS if name in content.options}
    return {"text": escape(content.text, quote=False), **options}


def send_message_as_app(api: WebApi, channel: Channel, content: Content) -> Published:
    """Post a Slack message without files by the installed app. Raises PlatformError, such as OutcomeUnknown."""
    with ERRORS.translating_publish_errors(gettext_noop("this message"), final=True):
        posted = api.post("/chat.postMessage", json={"channel": channel["id"], **message_body(content)})
        timestamp = required_matching_text(posted, "ts", TIMESTAMP, "timestamp")
    return published_message(channel, timestamp, content)


def send_message_by_webhook(hook: WebhookClient, content: Content) -> Published:
    """Post a Slack message without files by a webhook, not by the app; the message then has no id and no URL.

    Raises the same errors as `send_message_as_app`.
    """
    with webhook.ERRORS.translating_publish_errors(gettext_noop("this message"), final=True):
        hook.post("", json=message_body(content))
    return Published("", "")


def published_message(channel: Channel, timestamp: str, content: Content) -> Published:
    """Return the id and the permalink of a posted Slack message, built from the channel and the message's timestamp."""
    thread = content.options.get("thread_ts")
    address = f"{channel['site']}/archives/{channel['id']}/p{timestamp.replace('.', '')}"
    return Published(timestamp, f"{address}?thread_ts={thread}&cid={channel['id']}" if thread else address)
