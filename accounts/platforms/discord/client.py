"""The client for Discord's webhook API, and the translation of Discord's errors.

A webhook's address contains a token that lets anybody post to the channel, so no message and no repr shows it. Errors are
`{"code": number, "message": text, "errors"?: by field}`. Source: docs.discord.com (Webhook Resource, Rate Limits, JSON Error
Codes).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext_noop

from accounts.platforms.errors import (
    CredentialsRejected,
    PlatformError,
    RateLimited,
    ReauthRequired,
    report_unknown_error_code,
)
from accounts.platforms.http.client import JsonClient
from accounts.platforms.http.errors import ErrorTranslator, PlatformHttpError
from accounts.platforms.http.responses import json_object_or_none, wait_seconds_from_json
from config.outbound import Response

API_BASE = "https://discord.com/api/v10"
MAX_DEPTH = 10  # maximum nesting of Discord's errors by field

UNKNOWN_CHANNEL = "10003"
RATE_LIMIT_CODES = frozenset({"20016", "20028", "20029", "40062"})
# Switched off for a while, blocked on the way, or overloaded.
TRANSIENT_CODES = frozenset({"40004", "40006", "40333", "130000"})
# Unknown channel, guild and webhook; missing access and permission; a wrong token.
ACCESS_ENDED_CODES = frozenset({UNKNOWN_CHANNEL, "10004", "10015", "50001", "50013", "50027"})
# A locked thread, words and links that the server's moderation blocks, no uploads in this server, no polls in this channel.
BLOCKED_CONTENT_CODES = frozenset({"160005", "200000", "200001", "240000", "400001", "520002"})
# A request that is too large, an empty message, invalid form data or JSON; without a code if a proxy refuses it.
INVALID_CONTENT_CODES = frozenset({"", "40005", "50006", "50035", "50109"})

SNOWFLAKE = re.compile(r"[0-9]{1,20}")
_DISCORD = r"https://(?:(?:ptb|canary)\.)?discord(?:app)?\.com/api(?:/v[0-9]{1,2})?"
_PATH = r"/webhooks/([0-9]{1,20})/([A-Za-z0-9_-]{1,256})/?"


class DiscordError(PlatformHttpError):
    """An error response of Discord's API; `code` is Discord's error number, empty if for example a proxy answered instead."""

    def __init__(self, response: Response, token: str) -> None:
        content = json_object_or_none(response) or {}
        number = content.get("code")
        super().__init__(
            response,
            code=str(number) if type(number) is int else "",
            reason=_reason(content).replace(token, "…"),
            reset_headers=("X-RateLimit-Reset-After",),
        )
        waiting = wait_seconds_from_json(content.get("retry_after"))
        self.retry_after = self.retry_after if waiting is None else waiting


@dataclass(frozen=True)
class WebhookClient(JsonClient):
    """The client of one Discord webhook. Calls raise DiscordError, NotSent, SentWithoutAnswer."""

    address: str = field(repr=False)
    id: str = ""

    error = DiscordError
    timeout_seconds = 20.0
    max_bytes = 262_144

    def headers(self) -> dict[str, str]:
        """Return the HTTP headers for every call of the Discord client.

        Discord's proxy may block a request without a User-Agent of this format.
        """
        return {"User-Agent": f"DiscordBot ({settings.BASE_URL}, {settings.API_VERSION})", "Accept": "application/json"}

    def parse_http_error(self, response: Response) -> DiscordError:
        """Return the DiscordError for an error response, without the webhook's secret token in its text."""
        return DiscordError(response, self.token)


def webhook_client(given: str, api_base: str) -> WebhookClient:
    """Return the client of the Discord webhook at the URL that its owner entered. Raises CredentialsRejected.

    The address may be Discord's or, if the operator has set `api_base`, one at its host. Calls go to `api_base`.
    """
    hosts = [_DISCORD]
    if api_base:
        parts = urlsplit(api_base)
        hosts += [re.escape(api_base), re.escape(f"{parts.scheme}://{parts.netloc}") + r"(?:/api(?:/v[0-9]{1,2})?)?"]
    found = re.fullmatch(f"(?:{'|'.join(hosts)}){_PATH}", given.strip())
    if found is None:
        raise CredentialsRejected(
            gettext_noop("This is not the address of a Discord webhook."),
            suggested_action=gettext_noop(
                "Copy the whole address, https://discord.com/api/webhooks/…, from the channel's settings, "
                "Integrations, Webhooks."
            ),
        )
    webhook_id, token = found.groups()
    return WebhookClient(f"{api_base or API_BASE}/webhooks/{webhook_id}/{token}", token, webhook_id)


class DiscordErrorTranslator(ErrorTranslator[DiscordError]):
    """The translation of Discord's API errors into exceptions of type PlatformError."""

    name = "discord"
    label = "Discord"
    error = DiscordError
    documented_codes = BLOCKED_CONTENT_CODES | INVALID_CONTENT_CODES

    def platform_specific_error(self, error: DiscordError) -> PlatformError | None:
        """Return the exception to raise for a Discord error about the webhook or a rate limit; None for other errors."""
        if error.code in RATE_LIMIT_CODES:
            return RateLimited(gettext_noop("Discord's rate limit is reached."), retry_after=error.retry_after)
        if error.code in TRANSIENT_CODES and error.status != 429:
            return self.transient_error(error)
        if error.code in ACCESS_ENDED_CODES or error.status == 401:
            return ReauthRequired(f"Discord refuses the webhook: {error.reason}")
        if error.status in (403, 404) and error.code and error.code not in BLOCKED_CONTENT_CODES:
            report_unknown_error_code(self.name, f"{error.status} {error.code}")
            return ReauthRequired(f"Discord refuses the webhook: {error.reason}")
        return None

    def means_content_rejected(self, error: DiscordError) -> bool:
        """Return whether an error response means that Discord refuses the message itself."""
        return error.code in BLOCKED_CONTENT_CODES or error.status in (400, 413)


ERRORS = DiscordErrorTranslator()


def _reason(content: Mapping[str, Any]) -> str:
    """Return Discord's explanation of an error: the first one about a field of the message, or else the general one."""
    path: list[str] = []
    errors = content.get("errors")
    while isinstance(errors, dict) and errors and len(path) < MAX_DEPTH:
        match errors.get("_errors"):
            case [{"message": str(message)}, *_]:
                return ": ".join(filter(None, [".".join(path), message]))
        key, errors = next(iter(errors.items()))
        path.append(key)
    reason = content.get("message")
    return reason if isinstance(reason, str) else ""
