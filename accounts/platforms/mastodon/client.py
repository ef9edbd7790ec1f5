"""The client for the API of Mastodon servers, and the translation of their errors.

A server may belong to anybody, so nothing that it answers is trusted. Errors are `{"error": text}`. Source:
docs.joinmastodon.org, api/guidelines and api/rate-limits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_noop

from accounts.platforms.errors import PlatformError, RateLimited, ReauthRequired
from accounts.platforms.http.client import JsonClient
from accounts.platforms.http.errors import ErrorTranslator, PlatformHttpError
from accounts.platforms.http.responses import (
    UnreadableAnswer,
    json_object_or_none,
    line_without_tokens,
    objects_in,
    required_matching_text,
)
from accounts.platforms.types import Grant
from config.outbound import Response

# Takahe's whole body, in lower case, of its 400 for an unknown or revoked token (jointakahe/takahe, api/middleware.py).
INVALID_BEARER = b"invalid bearer token"

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")  # snowflakes, ULIDs and flakes; the id becomes part of a path
_URL = re.compile(r"https?://[\x21-\x7e]{1,2000}")


class MastodonError(PlatformHttpError):
    """An error response of a Mastodon server; `status` is always 401 if the access token is invalid.

    `from_api` is false for a body without an error text.
    """

    def __init__(self, response: Response) -> None:
        content = json_object_or_none(response) or {}
        super().__init__(response, reason=content.get("error"), reset_headers=("X-RateLimit-Reset",))
        self.from_api = bool(line_without_tokens(content.get("error")))
        if response.status == 400 and response.body.strip().lower() == INVALID_BEARER:
            self.status, self.reason, self.from_api = 401, line_without_tokens(response.body.decode()), True


@dataclass(frozen=True)
class ServerClient(JsonClient):
    """The client of one Mastodon server with an account's access token; `account` is the account's id at that server.

    Calls raise MastodonError, NotSent, SentWithoutAnswer.
    """

    account: str = ""

    error = MastodonError
    max_bytes = 4_000_000  # a page of statuses, each with its account, media and link card
    requires_objects = True

    @classmethod
    def for_grant(cls, grant: Grant) -> ServerClient:
        """Return the API client of a connected account's Mastodon server, with the account's access token."""
        token = grant.tokens.get("access_token") or grant.credentials["access_token"]
        return cls(grant.tokens["instance"], token, grant.tokens["account"])

    def get_list(self, path: str, params: Mapping[str, str]) -> list[dict[str, Any]]:
        """Read a list of objects from the Mastodon server's API. Raises UnreadableAnswer for any other response."""
        response = self.send_to_url("GET", f"{self.address}{path}", params=params)
        try:
            content = response.json()
        except ValueError:
            content = None
        entities = objects_in(content)
        if not isinstance(content, list) or len(entities) < len(content):
            raise UnreadableAnswer("The response is not a list of JSON objects.")
        return entities


class MastodonErrorTranslator(ErrorTranslator[MastodonError]):
    """The translation of errors of Mastodon servers into exceptions of type PlatformError."""

    name = "mastodon"
    label = gettext_noop("The account's server")
    error = MastodonError
    content_statuses = frozenset({400, 413, 415, 422})

    def platform_specific_error(self, error: MastodonError) -> PlatformError | None:
        """Return the exception to raise for a Mastodon error about a rate limit or access token; None for other errors."""
        if error.status == 429:
            return RateLimited(
                gettext_noop("The rate limit of the account's server is reached."), retry_after=error.retry_after
            )
        # A firewall in front of a server also answers 403, but not with an error of the API.
        if error.status == 401 or (error.status == 403 and error.from_api):
            return ReauthRequired(f"The server refuses the account: {error.reason}")
        return None

    def means_content_rejected(self, error: MastodonError) -> bool:
        """Return whether a Mastodon server's error means that it refuses the status or a file."""
        return error.status in self.content_statuses


ERRORS = MastodonErrorTranslator()


def entity_id(entity: Mapping[str, Any]) -> str:
    """Return the id of an object in a Mastodon response: a status, an account, an upload. Raises UnreadableAnswer."""
    return required_matching_text(entity, "id", _ID, "id")


def http_url_or_empty(value: Any) -> str:
    """Return a URL from a Mastodon response if it is an http or https URL, otherwise an empty string."""
    return value if isinstance(value, str) and _URL.fullmatch(value) else ""
