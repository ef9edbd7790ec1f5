"""A webhook: its address, the calls of it, and what Discord's refusals mean.

The address holds a token that opens the channel, so no message and no repr shows it. What reaches a person of Discord's
answers is one bounded line of printable characters. Errors are told as `{"code": number, "message": text}`, those of a
form with `errors` by field. Source: docs.discord.com (Webhook Resource, Rate Limits, JSON Error Codes).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from accounts.platforms.errors import (
    AccountDisconnected,
    CredentialsRejected,
    PlatformError,
    RateLimited,
    Transient,
    unmapped,
)
from config.outbound import NoAnswer, OutboundError, Response, request

API_BASE = "https://discord.com/api/v10"
TIMEOUT_SECONDS = 20.0
MAX_ANSWER_BYTES = 262_144
MAX_LINE_LENGTH = 300
MAX_RETRY_AFTER = 86_400.0
MAX_DEPTH = 10  # of a form's errors

UNKNOWN_CHANNEL = 10003
LIMITS = frozenset({20016, 20028, 20029, 40062})
BUSY = frozenset({40004, 40006, 40333, 130000})  # switched off for a while, blocked on the way, or overloaded
# Unknown channel, guild and webhook; missing access and permission; a wrong token.
GONE = frozenset({UNKNOWN_CHANNEL, 10004, 10015, 50001, 50013, 50027})

SNOWFLAKE = re.compile(r"[0-9]{1,20}")
_DISCORD = r"https://(?:(?:ptb|canary)\.)?discord(?:app)?\.com/api(?:/v[0-9]{1,2})?"
_PATH = r"/webhooks/([0-9]{1,20})/([A-Za-z0-9_-]{1,256})/?"


@dataclass(frozen=True)
class Webhook:
    """One webhook; `url` is where its calls go."""

    id: str
    token: str = field(repr=False)
    url: str = field(repr=False)


class DiscordError(Exception):
    """Discord refused: HTTP status, the error's code (None: the answer was none of Discord's), what it said of it, and
    `retry_after` in seconds."""

    def __init__(self, status: int, code: int | None, message: str, retry_after: float | None) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.retry_after = retry_after

    @property
    def reason(self) -> str:
        return self.message or "no reason given"


class UnreadableAnswer(NoAnswer):
    """Discord answered success, but not with what the call answers."""


def webhook(given: str, api_base: str) -> Webhook:
    """The webhook of the address that the owner gave. Raises CredentialsRejected.

    Addresses of Discord are taken, and those of `api_base` where the operator has set one; calls go to `api_base`.
    """
    homes = [_DISCORD]
    if api_base:
        parts = urlsplit(api_base)
        homes += [re.escape(api_base), re.escape(f"{parts.scheme}://{parts.netloc}") + r"(?:/api(?:/v[0-9]{1,2})?)?"]
    found = re.fullmatch(f"(?:{'|'.join(homes)}){_PATH}", given.strip())
    if found is None:
        raise CredentialsRejected(
            "This is not the address of a Discord webhook.",
            suggested_action="Copy the whole address, https://discord.com/api/webhooks/…, from the channel's settings, "
            "Integrations, Webhooks.",
        )
    webhook_id, token = found.groups()
    return Webhook(webhook_id, token, f"{api_base or API_BASE}/webhooks/{webhook_id}/{token}")


def look(hook: Webhook) -> dict[str, Any]:
    """The webhook as Discord knows it. Raises DiscordError, NotSent, NoAnswer, UnreadableAnswer."""
    return _content(hook, request("GET", hook.url, **_options()))


def execute(
    hook: Webhook, params: Mapping[str, str], *, seconds: float = TIMEOUT_SECONDS, content_type: str = "", **body: Any
) -> dict[str, Any]:
    """Have the webhook post a message, and return it as it was saved. `body` is the `json` or the `data` of a request.

    Raises as `look`; after NoAnswer, UnreadableAnswer or a status of 5xx the message may be out.
    """
    options = _options(seconds, {"Content-Type": content_type} if content_type else {})
    # Without `wait` Discord answers before it knows, and says nothing of a message that is not saved.
    return _content(hook, request("POST", hook.url, params={"wait": "true", **params}, **body, **options))


def platform_error(error: OutboundError | DiscordError) -> PlatformError:
    """What this fault of a call means, where nothing came of the call: that it can be repeated, or a closed door."""
    if isinstance(error, OutboundError):
        return Transient("Discord could not be reached.")
    if error.status == 429 or error.code in LIMITS:
        return RateLimited("Discord's rate limit is reached.", retry_after=error.retry_after)
    if error.code in GONE or (error.status == 401 and error.code not in BUSY):
        return AccountDisconnected(f"Discord refuses the webhook: {error.reason}")
    if error.status < 500 and error.code not in BUSY:
        unmapped("discord", f"{error.status} {error.code}")
        if error.status in (403, 404) and error.code is not None:  # said by Discord, not by what stands before it
            return AccountDisconnected(f"Discord refuses the webhook: {error.reason}")
    return Transient(f"Discord answered {error.status}: {error.reason}", retry_after=error.retry_after)


def line(value: Any) -> str:
    """Text from Discord as one bounded line; empty for anything but text."""
    if not isinstance(value, str):
        return ""
    return "".join(char if char.isprintable() else " " for char in value[:MAX_LINE_LENGTH]).strip()


def _options(seconds: float = TIMEOUT_SECONDS, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
    # The form that Discord asks for; without it, what stands before Discord may block the request.
    agent = f"DiscordBot ({settings.BASE_URL}, {settings.API_VERSION})"
    return {"headers": {"User-Agent": agent, **(headers or {})}, "timeout": seconds, "max_bytes": MAX_ANSWER_BYTES}


def _content(hook: Webhook, response: Response) -> dict[str, Any]:
    content = _json_object(response)
    if not 200 <= response.status < 300:
        told = content or {}
        code = told.get("code")
        raise DiscordError(
            response.status,
            code if isinstance(code, int) else None,
            line(_said(told).replace(hook.token, "…")),
            _retry_after(told, response.headers),
        )
    if content is None:
        raise UnreadableAnswer("The answer is not a JSON object.")
    return content


def _json_object(response: Response) -> dict[str, Any] | None:
    try:
        content = response.json()
    except ValueError:
        return None
    return content if isinstance(content, dict) else None


def _said(told: Mapping[str, Any]) -> str:
    """The message; of a form's errors the first one instead, with its field."""
    path: list[str] = []
    errors = told.get("errors")
    while isinstance(errors, dict) and errors and len(path) < MAX_DEPTH:
        match errors.get("_errors"):
            case [{"message": str(message)}, *_]:
                return ": ".join(filter(None, [".".join(path), message]))
        key, errors = next(iter(errors.items()))
        path.append(key)
    plain = told.get("message")
    return plain if isinstance(plain, str) else ""


def _retry_after(told: Mapping[str, Any], headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, by the body or else by the headers; fractions count."""
    for value in (told.get("retry_after"), headers.get("Retry-After"), headers.get("X-RateLimit-Reset-After")):
        try:
            seconds = float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            continue
        if math.isfinite(seconds):
            return min(max(seconds, 0.0), MAX_RETRY_AFTER)
    return None
