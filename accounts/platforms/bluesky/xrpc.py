"""XRPC, the calls of the AT Protocol: a method of a server, parameters or JSON in, a JSON object out.

A server may be anybody's, so its answers are untrusted: bounded in size, and what reaches a person is one bounded line
of printable characters. Errors are told as `{"error": name, "message": text}`; an expired token has status 400.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO

from django.utils import timezone

from accounts.platforms.errors import (
    AccountDisconnected,
    ContentRejected,
    PlatformError,
    RateLimited,
    TokenExpired,
    Transient,
    unmapped,
)
from config.outbound import NoAnswer, OutboundError, Response, request

TIMEOUT_SECONDS = 20.0
SLOWEST_UPLOAD = 200_000  # bytes in a second
MAX_ANSWER_BYTES = 262_144
MAX_LINE_LENGTH = 300
MAX_RETRY_AFTER = 86_400.0

TOKEN_ERRORS = frozenset({"ExpiredToken", "InvalidToken"})
# Of what was sent; "" is an answer of what stands before the server.
CONTENT_ERRORS = frozenset({"", "BlobTooLarge", "InvalidMimeType", "InvalidRequest", "PayloadTooLarge"})
ACCOUNT_ERRORS = frozenset({"AccountDeactivated", "AccountNotFound", "AccountSuspended", "AccountTakedown"})


class XrpcError(Exception):
    """The server answered with an error: HTTP status, the error's name and message, `retry_after` in seconds; `content` is
    all that it said."""

    def __init__(self, status: int, content: Mapping[str, Any], retry_after: float | None) -> None:
        self.status = status
        self.name = line(content.get("error"))
        self.message = line(content.get("message"))
        self.retry_after = retry_after
        self.content = content
        super().__init__(f"{status} {self.name}: {self.message}")


class UnreadableAnswer(NoAnswer):
    """The server answered success, but not with what the method answers."""


def query(
    server: str,
    method: str,
    *,
    params: Mapping[str, str] | None = None,
    token: str = "",
    timeout: float = TIMEOUT_SECONDS,
) -> dict[str, Any]:
    """Ask something, which changes nothing. Raises XrpcError, NotSent, NoAnswer, UnreadableAnswer."""
    return _content(request("GET", _url(server, method), params=params, **_options(token, timeout)))


def procedure(server: str, method: str, *, body: Mapping[str, Any] | None = None, token: str = "") -> dict[str, Any]:
    """Have something done. Raises as `query`; after NoAnswer, UnreadableAnswer or a status of 5xx it may be done."""
    return _content(request("POST", _url(server, method), json=body, **_options(token, TIMEOUT_SECONDS)))


def upload(
    server: str,
    method: str,
    file: BinaryIO,
    *,
    mime_type: str,
    size_bytes: int,
    token: str,
    params: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Send a file, read while it is sent; the time that it may take grows with its size. Raises as `procedure`."""
    options = _options(token, TIMEOUT_SECONDS + size_bytes / SLOWEST_UPLOAD)
    options["headers"]["Content-Type"] = mime_type
    return _content(request("POST", _url(server, method), data=file, params=params, **options))


@contextmanager
def platform_errors() -> Iterator[None]:
    """Turn the faults of calls into platform errors, for calls that do no harm when they are repeated."""
    try:
        yield
    except (OutboundError, XrpcError) as error:
        raise platform_error(error) from error


def platform_error(error: OutboundError | XrpcError) -> PlatformError:
    """What this fault of a call means: that it can be repeated, a stale token, or an account that is closed to us."""
    if isinstance(error, OutboundError):
        return Transient("The account's Bluesky server could not be reached.")
    return _known(error) or _unknown(error)


def refusal(error: XrpcError) -> PlatformError:
    """The refusal of something to publish: the content's fault, unless it is about a token, the account or the moment."""
    known = _known(error)
    if known is not None or error.status not in (400, 413):
        return known or _unknown(error)
    if error.name not in CONTENT_ERRORS:
        unmapped("bluesky", f"{error.status} {error.name}")
    return ContentRejected(f"Bluesky does not take this post: {reason_of(error)}")


def _known(error: XrpcError) -> PlatformError | None:
    """What an error means whatever the call was."""
    if error.status == 429:
        return RateLimited("Bluesky's rate limit is reached.", retry_after=error.retry_after)
    if error.name in TOKEN_ERRORS:
        return TokenExpired("Bluesky no longer accepts the access token.")
    if error.status == 401 or error.name in ACCOUNT_ERRORS:
        return AccountDisconnected(f"Bluesky refuses the account: {reason_of(error)}")
    return passing_error(error) if error.status >= 500 else None


def _unknown(error: XrpcError) -> PlatformError:
    unmapped("bluesky", f"{error.status} {error.name}")
    return passing_error(error)


def passing_error(error: XrpcError) -> Transient:
    """A fault of the server that may be over at the next attempt."""
    return Transient(f"Bluesky answered {error.status}: {reason_of(error)}", retry_after=error.retry_after)


def reason_of(error: XrpcError) -> str:
    """The server's own words."""
    return error.message or error.name or "no reason given"


def line(value: Any) -> str:
    """Text from a server as one bounded line; empty for anything but text."""
    if not isinstance(value, str):
        return ""
    return "".join(char if char.isprintable() else " " for char in value[:MAX_LINE_LENGTH]).strip()


def _url(server: str, method: str) -> str:
    return f"{server}/xrpc/{method}"


def _options(token: str, timeout: float) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return {"headers": headers, "timeout": timeout, "max_bytes": MAX_ANSWER_BYTES}


def _content(response: Response) -> dict[str, Any]:
    content = _json_object(response)
    if not 200 <= response.status < 300:
        raise XrpcError(response.status, content or {}, _retry_after(response.headers))
    if content is None and response.body:
        raise UnreadableAnswer("The answer is not a JSON object.")
    return content or {}


def _json_object(response: Response) -> dict[str, Any] | None:
    try:
        content = response.json()
    except ValueError:
        return None
    return content if isinstance(content, dict) else None


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, by Retry-After or else by RateLimit-Reset, which is a moment in unix seconds."""
    wait, reset = headers.get("Retry-After", ""), headers.get("RateLimit-Reset", "")
    if _is_count(wait):
        seconds = float(wait)
    elif _is_count(reset):
        seconds = float(reset) - timezone.now().timestamp()
    else:
        return None
    return min(max(seconds, 0.0), MAX_RETRY_AFTER)


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 15
