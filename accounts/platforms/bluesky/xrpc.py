"""The client for XRPC, the HTTP API of Bluesky's AT Protocol, and the translation of the errors of Bluesky servers.

A server may belong to anybody, so nothing that it answers is trusted. Errors are `{"error": name, "message": text}`; an
expired token has status 400.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from django.utils.translation import gettext_noop

from accounts.platforms.errors import PlatformError, ReauthRequired, TokenExpired
from accounts.platforms.http.client import JsonClient
from accounts.platforms.http.errors import ErrorTranslator, PlatformHttpError
from accounts.platforms.http.responses import UnreadableAnswer, json_object_or_none, line_without_tokens, one_line
from config.outbound import Response

TIMEOUT_SECONDS = 20.0
SLOWEST_BYTES_PER_SECOND = 200_000

TOKEN_ERRORS = frozenset({"ExpiredToken", "InvalidToken"})
ACCOUNT_ERRORS = frozenset({"AccountDeactivated", "AccountNotFound", "AccountSuspended", "AccountTakedown"})


class XrpcError(PlatformHttpError):
    """The error response to an XRPC call of a Bluesky server; `code` is the error's name, `content` the JSON object."""

    def __init__(self, response: Response) -> None:
        self.content = json_object_or_none(response) or {}
        name = one_line(self.content.get("error"))
        reason = line_without_tokens(self.content.get("message")) or name
        super().__init__(response, code=name, reason=reason, reset_headers=("RateLimit-Reset",))


@dataclass(frozen=True)
class Xrpc(JsonClient):
    """The XRPC client of the Bluesky server at the URL `address`. Calls raise XrpcError, NotSent, SentWithoutAnswer."""

    error = XrpcError
    timeout_seconds = TIMEOUT_SECONDS
    max_bytes = 262_144

    def query(self, method: str, params: Mapping[str, str] | None = None, *, timeout: float | None = None) -> dict[str, Any]:
        """Call an XRPC query of a Bluesky server: a method that only reads."""
        return self._invoke("GET", method, params=params, timeout=timeout)

    def procedure(self, method: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Call an XRPC procedure of a Bluesky server: a method that changes something.

        After SentWithoutAnswer or a status of 5xx the change may have been made.
        """
        return self._invoke("POST", method, json=body)

    def upload(
        self, method: str, file: BinaryIO, *, mime_type: str, size_bytes: int, params: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """Upload an open file by XRPC to a Bluesky server, with a timeout that grows with the size of the file."""
        timeout = TIMEOUT_SECONDS + size_bytes / SLOWEST_BYTES_PER_SECOND
        headers = {"Content-Type": mime_type}
        return self._invoke("POST", method, data=file, params=params, headers=headers, timeout=timeout)

    def _invoke(self, verb: str, method: str, **arguments: Any) -> dict[str, Any]:
        """Send an XRPC request to a Bluesky server and return the JSON object of the response.

        The object is empty for an empty body, which some methods return. Raises UnreadableAnswer.
        """
        response = self.send_to_url(verb, f"{self.address}/xrpc/{method}", **arguments)
        content = json_object_or_none(response)
        if content is None and response.body:
            raise UnreadableAnswer("The response is not a JSON object.")
        return content or {}


class BlueskyErrorTranslator(ErrorTranslator[XrpcError]):
    """The translation of XRPC errors of Bluesky servers into exceptions of type PlatformError."""

    name = "bluesky"
    label = "Bluesky"
    error = XrpcError
    content_statuses = frozenset({400, 413})
    # "" is the response of a proxy.
    documented_codes = frozenset({"", "BlobTooLarge", "InvalidMimeType", "InvalidRequest", "PayloadTooLarge"})
    unreachable = gettext_noop("The account's Bluesky server could not be reached.")

    def platform_specific_error(self, error: XrpcError) -> PlatformError | None:
        """Return the exception to raise for a Bluesky error about the access token or the account; None for other errors."""
        if error.status == 429:
            return None
        if error.code in TOKEN_ERRORS:
            return TokenExpired(gettext_noop("Bluesky no longer accepts the access token."))
        if error.status == 401 or error.code in ACCOUNT_ERRORS:
            return ReauthRequired(f"Bluesky refuses the account: {error.reason}")
        return None

    def means_content_rejected(self, error: XrpcError) -> bool:
        """Return whether an XRPC error means that the Bluesky server refuses the content of the request."""
        return error.status in self.content_statuses


ERRORS = BlueskyErrorTranslator()
