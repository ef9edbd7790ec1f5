"""The client for Slack's incoming webhooks, and the translation of their errors.

A webhook's address contains a token that lets anybody post to the channel, so no message and no repr shows it. Slack answers
a message with `ok`, without an id, and an error with its code as plain text. Source: docs.slack.dev, sending messages using
incoming webhooks; api.slack.com/changelog/2016-05-17.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from django.utils.translation import gettext_noop

from accounts.platforms.errors import CredentialsRejected
from accounts.platforms.http.client import JsonClient
from accounts.platforms.http.responses import NO_REASON
from accounts.platforms.slack.client import SlackError, SlackErrorTranslator
from accounts.platforms.types import Identity
from config.outbound import Response

# Errors of an existing webhook for a message without a text.
NO_TEXT_CODES = frozenset({"no_text", "invalid_payload", "missing_text_or_fallback_or_attachments"})

_SLACK = r"https://hooks\.slack(?:-gov)?\.com"
_PATH = r"/services/(T[A-Z0-9]{1,20})/(B[A-Z0-9]{1,20})/([A-Za-z0-9]{1,64})/?"
_CODE = re.compile(r"[a-z_]{1,80}")


class WebhookError(SlackError):
    """An error response of a Slack webhook; `code` is Slack's name for the error, or empty if there is no name."""

    def __init__(self, response: Response) -> None:
        super().__init__(response)
        text = response.body[:200].decode(errors="replace").strip()
        self.code = text if _CODE.fullmatch(text) else ""
        self.reason = self.code or NO_REASON
        self.from_api = bool(self.code)


@dataclass(frozen=True)
class WebhookClient(JsonClient):
    """The client of one Slack webhook. Calls raise WebhookError, NotSent, SentWithoutAnswer.

    `id` is the webhook's id with its workspace, without the token.
    """

    address: str = field(repr=False)
    id: str = ""

    error = WebhookError
    timeout_seconds = 20.0
    max_bytes = 65_536

    def is_success(self, response: Response) -> bool:
        """Return whether the Slack webhook's response says that the message was posted."""
        return super().is_success(response) and response.body.strip() == b"ok"


class WebhookErrorTranslator(SlackErrorTranslator):
    """The translation of errors of Slack webhooks into platform errors."""

    error = WebhookError
    access_ended = frozenset(
        {"invalid_token", "no_active_hooks", "no_service", "no_service_id", "no_team", "team_disabled", "user_not_found"}
    )
    channel_closed = frozenset(
        {"action_prohibited", "channel_is_archived", "channel_not_found", "posting_to_general_channel_denied"}
    )
    client = "webhook"

    def request_may_have_taken_effect(self, error: SlackError) -> bool:
        """Return whether the Slack webhook may have posted the message although it answered with this error.

        Slack answers `ok`, and errors never with a status of success.
        """
        return error.status < 300 or super().request_may_have_taken_effect(error)

    def means_content_rejected(self, error: SlackError) -> bool:
        """Return whether the Slack webhook's error means that it refuses the message."""
        return error.status in (400, 413)


ERRORS = WebhookErrorTranslator()


def webhook_client(given: str, api_base: str) -> WebhookClient:
    """Return the client of the Slack webhook whose URL an owner entered.

    The URL's host has to be Slack's or that of `api_base`.

    Raises CredentialsRejected.
    """
    parts = urlsplit(api_base)
    hosts = [_SLACK, re.escape(f"{parts.scheme}://{parts.netloc}")] if api_base else [_SLACK]
    found = re.fullmatch(f"({'|'.join(hosts)}){_PATH}", given.strip())
    if found is None:
        raise CredentialsRejected(
            gettext_noop("This is not the address of an incoming webhook of Slack."),
            suggested_action=gettext_noop(
                "Copy the whole address, https://hooks.slack.com/services/…, from the app's settings, Incoming Webhooks."
            ),
        )
    origin, team, hook, token = found.groups()
    return WebhookClient(f"{origin}/services/{team}/{hook}/{token}", id=f"{team}/{hook}")


def probe_and_identify_webhook(hook: WebhookClient) -> Identity:
    """Check that a Slack webhook exists by sending an empty message, which Slack refuses. Returns the webhook's account.

    Slack does not say which channel the webhook posts to. Raises ReauthRequired, Transient.
    """
    with ERRORS.translating_repeatable_call_errors():
        try:
            hook.post("", json={"text": ""})
        except WebhookError as error:
            if error.code not in NO_TEXT_CODES:
                raise
    return Identity(hook.id, handle=f"webhook {hook.id}")
