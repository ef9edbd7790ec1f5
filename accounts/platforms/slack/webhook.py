"""An incoming webhook: its address, and the calls of it.

The address holds a token that opens the channel, so no message and no repr shows it. Slack answers a message with `ok`,
and names neither the message nor the channel. An error is one word of plain text behind its status. Source:
docs.slack.dev, sending messages using incoming webhooks; api.slack.com/changelog/2016-05-17.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from accounts.platforms.errors import (
    AccountDisconnected,
    ContentRejected,
    CredentialsRejected,
    PlatformError,
    RateLimited,
    Transient,
    unmapped,
)
from accounts.platforms.slack.web_api import OPEN_CHANNEL, TIMEOUT_SECONDS, UnreadableAnswer, retry_after
from config.outbound import OutboundError, Response, request

MAX_ANSWER_BYTES = 65_536

ENDED = frozenset(
    {"invalid_token", "no_active_hooks", "no_service", "no_service_id", "no_team", "team_disabled", "user_not_found"}
)
CHANNEL_CLOSED = frozenset(
    {
        "action_prohibited",
        "channel_is_archived",
        "channel_not_found",
        "posting_to_general_channel_denied",
    }
)
# What a message without a text is answered: the webhook is there.
NO_TEXT = frozenset({"no_text", "invalid_payload", "missing_text_or_fallback_or_attachments"})
LIMITS = frozenset({"rate_limited", "ratelimited"})

_SLACK = r"https://hooks\.slack(?:-gov)?\.com"
_PATH = r"/services/(T[A-Z0-9]{1,20})/(B[A-Z0-9]{1,20})/([A-Za-z0-9]{1,64})/?"
_CODE = re.compile(r"[a-z_]{1,80}")


@dataclass(frozen=True)
class Webhook:
    """One webhook; `url` is where its calls go. `id` names it with its workspace, without the token."""

    id: str
    url: str = field(repr=False)


class WebhookError(Exception):
    """Slack refused: HTTP status, its error code (empty: the answer was none of Slack's), `retry_after` in seconds."""

    def __init__(self, response: Response) -> None:
        told = response.body[:200].decode(errors="replace").strip()
        self.status = response.status
        self.code = told if _CODE.fullmatch(told) else ""
        self.retry_after = retry_after(response)
        super().__init__(f"{self.status} {self.code}".rstrip())

    @property
    def maybe_done(self) -> bool:
        """Whether the message may be out."""
        return self.status >= 500


def webhook(given: str, api_base: str) -> Webhook:
    """The webhook of the address that the owner gave: one of Slack's, or of the host of `api_base` where the operator has
    set one. Raises CredentialsRejected."""
    parts = urlsplit(api_base)
    homes = [_SLACK, re.escape(f"{parts.scheme}://{parts.netloc}")] if api_base else [_SLACK]
    found = re.fullmatch(f"({'|'.join(homes)}){_PATH}", given.strip())
    if found is None:
        raise CredentialsRejected(
            "This is not the address of an incoming webhook of Slack.",
            suggested_action="Copy the whole address, https://hooks.slack.com/services/…, from the app's settings, "
            "Incoming Webhooks.",
        )
    origin, team, hook, token = found.groups()
    return Webhook(f"{team}/{hook}", f"{origin}/services/{team}/{hook}/{token}")


def look(hook: Webhook) -> None:
    """Have the webhook refuse a message without a text, which shows nobody anything. Raises as `execute`."""
    try:
        execute(hook, {"text": ""})
    except WebhookError as error:
        if error.code not in NO_TEXT:
            raise


def execute(hook: Webhook, message: dict[str, Any]) -> None:
    """Have the webhook post a message. Raises WebhookError, NotSent, NoAnswer, UnreadableAnswer."""
    response = request("POST", hook.url, json=message, timeout=TIMEOUT_SECONDS, max_bytes=MAX_ANSWER_BYTES)
    if not 200 <= response.status < 300:
        raise WebhookError(response)
    if response.body.strip() != b"ok":
        raise UnreadableAnswer("The answer is none of a webhook.")


def platform_error(error: OutboundError | WebhookError) -> PlatformError:
    """What this fault of a call means, where nothing came of the call."""
    if isinstance(error, OutboundError):
        return Transient("Slack could not be reached.")
    told = error.code or "no reason given"
    if error.status == 429 or error.code in LIMITS:
        return RateLimited("Slack's rate limit is reached.", retry_after=error.retry_after)
    if error.code in ENDED:
        return AccountDisconnected(f"Slack does not know the webhook any more: {told}")
    if error.code in CHANNEL_CLOSED:
        return AccountDisconnected(f"Slack does not let the webhook post: {told}", suggested_action=OPEN_CHANNEL)
    if error.status in (400, 413) and error.code:
        return ContentRejected(f"Slack does not take this message: {told}")
    if error.code and not error.maybe_done:
        unmapped("slack", error.code)
    return Transient(f"Slack answered {error.status}: {told}", retry_after=error.retry_after)
