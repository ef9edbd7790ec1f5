"""A message: its form, and sending it once, by an app or by a webhook.

Messages of text alone stand here; those with files stand in files.py. Slack knows no idempotency key, and what an app has
posted could be found only by reading along in the channel, which the service does not ask for; so an answer that does
not come leaves the outcome open for good. Sources: docs.slack.dev
(formatting message text, chat.postMessage, chat.getPermalink).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeGuard

from accounts.platforms.errors import OutcomeUnknown
from accounts.platforms.slack import web_api, webhook
from accounts.platforms.slack.web_api import SlackError, WebApi
from accounts.platforms.slack.webhook import Webhook, WebhookError
from accounts.platforms.types import Content, Published
from config.outbound import NoAnswer, NotSent

OPTIONS = ("thread_ts", "mrkdwn", "unfurl_links", "unfurl_media")
UNKNOWN_OUTCOME = "Slack did not say whether it took the message."

_TIMESTAMP = re.compile(r"[0-9]{1,12}\.[0-9]{6}")


def form(content: Content) -> dict[str, Any]:
    """The message as JSON."""
    return {
        "text": escaped(content.text),
        **{name: content.options[name] for name in OPTIONS if name in content.options},
    }


def escaped(text: str) -> str:
    """The text with `&`, `<` and `>` written as HTML does, so that nothing in it is a link of Slack's own or mentions
    anybody."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def send(api: WebApi, channel: Mapping[str, Any], content: Content) -> Published:
    """Post to a channel {id, site} as the app. Raises platform errors; OutcomeUnknown means that it may be out."""
    try:
        answer = api.post("chat.postMessage", json={"channel": channel["id"], **form(content)})
    except NotSent as error:
        raise web_api.platform_error(error) from error
    except NoAnswer as error:
        raise OutcomeUnknown(UNKNOWN_OUTCOME, final=True) from error
    except SlackError as error:
        if error.maybe_done:
            raise OutcomeUnknown(UNKNOWN_OUTCOME, final=True) from error
        raise web_api.platform_error(error) from error
    timestamp = answer.get("ts")
    if not is_timestamp(timestamp):
        raise OutcomeUnknown(UNKNOWN_OUTCOME, final=True)
    return published(channel, timestamp, content)


def send_by_webhook(hook: Webhook, content: Content) -> Published:
    """Post by a webhook, which names neither the message nor where it stands. Raises as `send`."""
    try:
        webhook.execute(hook, form(content))
    except NotSent as error:
        raise webhook.platform_error(error) from error
    except NoAnswer as error:
        raise OutcomeUnknown(UNKNOWN_OUTCOME, final=True) from error
    except WebhookError as error:
        if error.maybe_done:
            raise OutcomeUnknown(UNKNOWN_OUTCOME, final=True) from error
        raise webhook.platform_error(error) from error
    return Published("", "")


def is_timestamp(value: Any) -> TypeGuard[str]:
    """Whether this is the timestamp that names a message, such as 1503435956.000247."""
    return isinstance(value, str) and _TIMESTAMP.fullmatch(value) is not None


def published(channel: Mapping[str, Any], timestamp: str, content: Content) -> Published:
    """The message of this timestamp in a channel {id, site}, at the address that chat.getPermalink answers."""
    thread = content.options.get("thread_ts")
    address = f"{channel['site']}/archives/{channel['id']}/p{timestamp.replace('.', '')}"
    return Published(timestamp, f"{address}?thread_ts={thread}&cid={channel['id']}" if thread else address)
