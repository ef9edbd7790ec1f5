"""The client for LinkedIn's versioned REST API, and the translation of LinkedIn's errors.

Errors are `{status, code?, serviceErrorCode?, message, errorDetails?}`. Every call under /rest names the API's version, a
month, which LinkedIn supports for about a year. Quotas are per day and reset at midnight UTC. Source:
learn.microsoft.com/linkedin (error handling, versioning, rate limits); the wording of refusals is what clients report.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from django.utils import timezone
from django.utils.translation import gettext_noop

from accounts.platforms.errors import ConnectionUnavailable, PlatformError, ReauthRequired
from accounts.platforms.http.client import JsonClient
from accounts.platforms.http.errors import ErrorTranslator, PlatformHttpError
from accounts.platforms.http.responses import (
    UnreadableAnswer,
    json_object_or_none,
    line_without_tokens,
    object_or_empty,
    objects_in,
    one_line,
)
from accounts.platforms.upload_addresses import is_platform_upload_url
from config.outbound import Response

DAY_SECONDS = 86_400.0
UPLOAD_SECONDS = 120.0  # for one file, or for one part of a video

_CLASS_NAME = re.compile(r"^(?:[a-z]\w*\.)+\w+: ")  # LinkedIn's messages begin with the name of their exception
_DEAD_VERSION = re.compile(r"\bversion\b.*\bnot active\b|NONEXISTENT_VERSION|VERSION_MISSING", re.IGNORECASE)
_NOT_PERMITTED = re.compile(r"\bpermission|\bforbidden\b|\brestricted\b|\bnot authorized\b", re.IGNORECASE)


class LinkedInError(PlatformHttpError):
    """An error response of LinkedIn's API; `code` is the name or number that LinkedIn gives the error."""

    def __init__(self, response: Response) -> None:
        content = json_object_or_none(response) or {}
        reason = _CLASS_NAME.sub("", line_without_tokens(content.get("message")))
        super().__init__(response, code=_code(content), reason=reason)
        if response.status == 429 and self.retry_after is None and " day " in f" {reason.lower()} ":
            self.retry_after = DAY_SECONDS - timezone.now().timestamp() % DAY_SECONDS  # until midnight UTC


@dataclass(frozen=True)
class Api(JsonClient):
    """The client of one version (YYYYMM) of LinkedIn's API with an access token.

    Raises LinkedInError, NotSent, SentWithoutAnswer.
    """

    version: str = ""

    error = LinkedInError

    def post_json(self, path: str, content: Mapping[str, Any]) -> Response:
        """Send JSON to LinkedIn's API by POST, and return the response, whose body may be empty.

        After SentWithoutAnswer or a status of 5xx the change may have been made.
        """
        return self.send_to_url("POST", f"{self.address}{path}", json=dict(content))

    def upload_bytes(self, url: str, data: Any) -> Response:
        """Send a file's bytes with LinkedIn's client, and so with its access token, to an upload URL that LinkedIn gave.

        The upload may safely be repeated.

        The access token is sent too, so a URL at a host that is not LinkedIn's raises UnreadableAnswer.
        """
        if not is_platform_upload_url(url, self.address, "linkedin.com"):
            raise UnreadableAnswer("The response names an upload address that is not LinkedIn's.")
        headers = {"Content-Type": "application/octet-stream"}
        return self.send_to_url("PUT", url, headers=headers, data=data, timeout=UPLOAD_SECONDS)

    def send_to_url(self, method: str, url: str, *, headers: Mapping[str, str] | None = None, **options: Any) -> Response:
        """Send a request to a URL of LinkedIn's API, with the API's version where LinkedIn requires it."""
        versioned = {"LinkedIn-Version": self.version, "X-Restli-Protocol-Version": "2.0.0"}
        is_rest = url.startswith(f"{self.address}/rest/")
        return super().send_to_url(method, url, headers={**(versioned if is_rest else {}), **(headers or {})}, **options)


class LinkedInErrorTranslator(ErrorTranslator[LinkedInError]):
    """The translation of LinkedIn's API errors into exceptions of type PlatformError."""

    name = "linkedin"
    label = "LinkedIn"
    error = LinkedInError
    content_statuses = frozenset({400, 413, 422})
    documented_codes = frozenset({"", "100", "DUPLICATE_POST", "INVALID_CONTENT", "BAD_REQUEST", "FIELD_LENGTH_TOO_LONG"})

    def platform_specific_error(self, error: LinkedInError) -> PlatformError | None:
        """Return the exception to raise for a LinkedIn error about the API's version or a missing permission; else None."""
        words = f"{error.code} {error.reason}"
        if error.status == 426 or (error.status in (400, 404) and _DEAD_VERSION.search(words)):
            return ConnectionUnavailable(
                f"LinkedIn has retired the version of its API that this service uses: {error.reason}",
                suggested_action="Ask the operator of the service to set LINKEDIN_API_VERSION to a supported version.",
            )
        if error.status == 403 and error.from_api and _NOT_PERMITTED.search(words):
            return ReauthRequired(
                f"LinkedIn does not let this login act for the account: {error.reason}",
                suggested_action=gettext_noop(
                    "Check that the person who connected it still has a role at the page, reconnect the "
                    "account, then retry the post."
                ),
            )
        return None


ERRORS = LinkedInErrorTranslator()


def quoted_urn(urn: str) -> str:
    """Return a LinkedIn URN, percent-encoded as a part of a URL's path."""
    return quote(urn, safe="")


def _code(content: Mapping[str, Any]) -> str:
    """Return the most precise name or number of the error in an error response of LinkedIn's API."""
    inputs = objects_in(object_or_empty(content.get("errorDetails")).get("inputErrors"))
    name = one_line(inputs[0].get("code")) if inputs else ""
    number = content.get("serviceErrorCode")
    return (name or one_line(content.get("code")) or (str(number) if type(number) is int else ""))[:50]
