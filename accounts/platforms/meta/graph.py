"""The client for Meta's Graph API, and the ids, times and texts in its responses, for all of Meta's products.

Source: developers.facebook.com, graph-api/guides/secure-requests (appsecret_proof).
"""

from __future__ import annotations

import hashlib
import hmac
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from accounts.platforms.errors import PlatformError
from accounts.platforms.http.client import JsonClient
from accounts.platforms.http.responses import (
    UnreadableAnswer,
    json_object_or_none,
    object_or_empty,
    objects_in,
    required_matching_text,
)
from accounts.platforms.meta.errors import GraphError
from config.outbound import Response, build_multipart_body

VERSION = "v25.0"
# Between Meta's clock and the service's, whose time is stored when a publication starts.
MAX_CLOCK_DIFFERENCE = timedelta(minutes=5)

_ID = re.compile(r"[0-9]{1,30}(?:_[0-9]{1,30})?")  # a post's id may be the page's id, `_` and its own
_USERNAME = re.compile(r"[A-Za-z0-9._]{1,50}")
_VERSION = re.compile(r"/v[0-9]{1,3}\.[0-9]{1,2}$")


@dataclass(frozen=True)
class Graph(JsonClient):
    """The client of Meta's Graph API at a URL that includes the API's version.

    Calls raise GraphError, NotSent, SentWithoutAnswer. `secret` is the app's secret, for products that accept a
    proof that the token is used by its own app.
    """

    secret: str = field(default="", repr=False)

    error = GraphError
    max_bytes = 2_000_000  # a page of posts with their attachments

    def get(self, path: str, params: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Send a GET request to Meta's Graph API. Returns the JSON object of the response."""
        return super().get(path, {**(params or {}), **self._proof()})

    def post_form(self, path: str, form: Mapping[str, str]) -> dict[str, Any]:
        """Send a form to Meta's Graph API.

        After SentWithoutAnswer or a status of 5xx the change may have been made.
        """
        return self.post(path, data={**form, **self._proof()})

    def post_multipart(self, path: str, fields: Mapping[str, Any], *, timeout: float) -> dict[str, Any]:
        """Send a form with files to Meta's Graph API."""
        body = build_multipart_body(fields)
        headers = {"Content-Type": body.content_type}
        return self.post(path, params=self._proof(), data=body, headers=headers, timeout=timeout)

    def iterate_objects(
        self, path: str, params: Mapping[str, str], *, max_pages: int, too_long: PlatformError | None = None
    ) -> Iterator[dict[str, Any]]:
        """Iterate over the objects of a list in Meta's Graph API, page by page.

        Raises `too_long`, if given, after `max_pages`.
        """
        params = dict(params)
        for _ in range(max_pages):
            page = self.get(path, params)
            yield from listed_objects(page)
            paging = object_or_empty(page.get("paging"))
            after = object_or_empty(paging.get("cursors")).get("after") if paging.get("next") else None
            if not isinstance(after, str) or not after:
                return
            params["after"] = after
        if too_long:
            raise too_long

    def is_success(self, response: Response) -> bool:
        """Return whether a response of Meta's Graph API is a success; some errors have the HTTP status 200."""
        content = json_object_or_none(response) or {}
        return super().is_success(response) and not isinstance(content.get("error"), dict)

    def _proof(self) -> dict[str, str]:
        if not self.secret:
            return {}
        proof = hmac.new(self.secret.encode(), self.token.encode(), hashlib.sha256).hexdigest()
        return {"appsecret_proof": proof}


@dataclass(frozen=True)
class GraphClientAndAccountId:
    """A Graph API client with an account's access token, together with the account's id at one of Meta's products."""

    graph: Graph
    id: str


def versioned_address(base: str, version: str) -> str:
    """Return the URL of Meta's Graph API with the version at its end (`…/v26.0`), which is added if it is missing."""
    base = base.rstrip("/")
    return base if _VERSION.search(base) else f"{base}/{version}"


def unversioned_address(address: str) -> str:
    """Remove the version from the end of a URL of Meta's Graph API, for the calls whose URLs contain none."""
    return _VERSION.sub("", address.rstrip("/"))


def id_of(entity: Mapping[str, Any], name: str = "id") -> str:
    """Return the id of an object (an account, a post) in a response of Meta's Graph API. Raises UnreadableAnswer."""
    value = entity.get(name)
    return required_matching_text({name: str(value) if type(value) is int else value}, name, _ID, "id")


def username_of(user: Mapping[str, Any]) -> str:
    """Return the user name of an account in a response of Meta's Graph API. Raises UnreadableAnswer."""
    return required_matching_text(user, "username", _USERNAME, "user name")


def listed_objects(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the objects listed in a response of Meta's Graph API. Raises UnreadableAnswer."""
    items = answer.get("data")
    if not isinstance(items, list):
        raise UnreadableAnswer("The response is not a list.")
    return objects_in(items)


def time_field_or_none(entity: Mapping[str, Any], name: str) -> datetime | None:
    """Return a time in a response of Meta's Graph API, such as `2026-11-20T12:00:00+0000`; None if there is none."""
    try:
        moment = datetime.fromisoformat(str(entity.get(name)))
    except ValueError:
        return None
    return moment if moment.tzinfo else None


def earliest_possible_creation_time(since: str) -> datetime:
    """Return the earliest time that the Graph API may report for a post begun at `since`, if Meta's clock is slow."""
    return datetime.fromisoformat(since).astimezone(UTC) - MAX_CLOCK_DIFFERENCE


def is_same_text(shown: Any, given: str) -> bool:
    """Return whether a text from Meta's Graph API equals the text that was sent, apart from white space."""
    return _without_space(shown if isinstance(shown, str) else "") == _without_space(given)


def _without_space(text: str) -> str:
    return "".join(unicodedata.normalize("NFC", text).split())
