"""A message: its form, and sending it once, by an app or by a webhook.

Slack knows no idempotency key, and what an app has posted could be found only by reading along in the channel, which the
service does not ask for; so an answer that does not come leaves the outcome open for good. Sources: docs.slack.dev
(formatting message text, chat.postMessage, chat.getPermalink).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

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
    """The message as JSON. `&`, `<` and `>` are written as HTML does, so that nothing in the text is a link of Slack's own
    or mentions anybody."""
    text = content.text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return {"text": text, **{name: content.options[name] for name in OPTIONS if name in content.options}}


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
    if not isinstance(timestamp, str) or not _TIMESTAMP.fullmatch(timestamp):
        raise OutcomeUnknown(UNKNOWN_OUTCOME, final=True)
    return Published(timestamp, _permalink(channel, timestamp, content.options.get("thread_ts")))


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


def _permalink(channel: Mapping[str, Any], timestamp: str, thread: str | None) -> str:
    """The address that chat.getPermalink answers."""
    address = f"{channel['site']}/archives/{channel['id']}/p{timestamp.replace('.', '')}"
    return f"{address}?thread_ts={thread}&cid={channel['id']}" if thread else address
