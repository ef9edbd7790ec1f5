"""Calls of Meta's Graph API: a path and parameters in, the JSON object of the answer out.

Errors are `{error: {message, type, code, error_subcode, is_transient, error_user_msg, error_data}}`; Instagram's token
endpoint says `{error_type, code, error_message}`, and the servers that take files `{debug_info: {type, message}}`. What
reaches a person of them is one bounded line without anything that looks like a token, since Graph quotes tokens.
Sources: developers.facebook.com, graph-api/guides/error-handling, graph-api/guides/secure-requests (the proof),
graph-api/overview/rate-limiting (usage), instagram-platform (its token endpoint's errors).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from config.outbound import NoAnswer, Response, request

VERSION = "v25.0"
TIMEOUT_SECONDS = 30.0
MAX_ANSWER_BYTES = 2_000_000  # a page of posts with their attachments
MAX_LINE_LENGTH = 300
MAX_RETRY_AFTER = 86_400.0

_ID = re.compile(r"[0-9]{1,30}(?:_[0-9]{1,30})?")  # of a post: the page's id, `_` and its own
_VERSION = re.compile(r"/v[0-9]{1,3}\.[0-9]{1,2}$")
_LIKE_A_TOKEN = re.compile(r"[A-Za-z0-9_\-|]{32,}")


class GraphError(Exception):
    """Graph answered with an error: HTTP status, `code` and `subcode` (0 where it gives none), `reason` in its words,
    `is_transient`, `error_data` and `retry_after` in seconds. `told` is false where the answer came from what stands
    before Graph."""

    def __init__(self, response: Response) -> None:
        error = _error_of(response)
        self.told = bool(error)
        self.status = response.status
        self.code, self.subcode = _number(error.get("code")), _number(error.get("error_subcode"))
        self.is_transient = error.get("is_transient") is True
        self.reason = line(error.get("error_user_msg")) or line(error.get("message")) or "no reason given"
        data = error.get("error_data")
        self.error_data: Mapping[str, Any] = data if isinstance(data, dict) else {}
        self.retry_after = seconds_to_wait(response.headers)
        super().__init__(f"{self.status} {self.label}: {self.reason}")

    @property
    def label(self) -> str:
        """The codes by which Meta's documents name the error."""
        if not self.told:
            return f"HTTP {self.status}"
        return f"code {self.code}" + (f", {self.subcode}" if self.subcode else "")


class UnreadableAnswer(NoAnswer):
    """Graph answered success, but not with what the call answers."""


@dataclass(frozen=True)
class Graph:
    """The Graph API at `address` (with its version, without a trailing slash), spoken to with one access token.

    `secret` is the app's, where the product takes a proof that the token is used by its own app.
    """

    address: str
    token: str = field(repr=False)
    secret: str = field(default="", repr=False)

    def get(self, path: str, params: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Ask something, which changes nothing. Raises GraphError, NotSent, NoAnswer."""
        asked = {**(params or {}), **self._proof()}
        return call("GET", f"{self.address}{path}", headers=self._bearer(), params=asked)

    def post(self, path: str, form: Mapping[str, str]) -> dict[str, Any]:
        """Have something done. Raises as `get`; after NoAnswer or a status of 5xx it may be done."""
        return call("POST", f"{self.address}{path}", headers=self._bearer(), data={**form, **self._proof()})

    def post_multipart(self, path: str, body: Any, *, timeout: float) -> dict[str, Any]:
        """As `post`, with a body of `config.outbound.multipart`."""
        headers = {**self._bearer(), "Content-Type": body.content_type}
        url, proof = f"{self.address}{path}", self._proof()
        return call("POST", url, headers=headers, params=proof, data=body, timeout=timeout)

    def _bearer(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def _proof(self) -> dict[str, str]:
        if not self.secret:
            return {}
        proof = hmac.new(self.secret.encode(), self.token.encode(), hashlib.sha256).hexdigest()
        return {"appsecret_proof": proof}


def call(
    method: str, url: str, *, headers: Mapping[str, str] | None = None, timeout: float = TIMEOUT_SECONDS, **what: Any
) -> dict[str, Any]:
    """One request, whoever it is for; `what` is given on to `config.outbound.request`. Raises GraphError, NotSent,
    NoAnswer."""
    every = {"Accept": "application/json", **(headers or {})}
    response = request(method, url, headers=every, timeout=timeout, max_bytes=MAX_ANSWER_BYTES, **what)
    content = _json_object(response)
    if not 200 <= response.status < 300 or isinstance(content.get("error"), dict):
        raise GraphError(response)
    return content


def versioned(base: str, version: str) -> str:
    """The address with the version that is spoken: the base's own where it ends with one (`…/v26.0`)."""
    base = base.rstrip("/")
    return base if _VERSION.search(base) else f"{base}/{version}"


def unversioned(address: str) -> str:
    """The address without its version, for the calls that have none."""
    return _VERSION.sub("", address.rstrip("/"))


def id_of(entity: Mapping[str, Any], name: str = "id") -> str:
    """The id of a page, a post, a container. Raises UnreadableAnswer."""
    value = entity.get(name)
    if type(value) is int:  # Instagram's token endpoint gives user ids as numbers
        value = str(value)
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise UnreadableAnswer("What the answer is about has no id.")
    return value


def entries(answer: Mapping[str, Any], name: str = "data") -> list[dict[str, Any]]:
    """The objects that an answer lists. Raises UnreadableAnswer."""
    listed = answer.get(name)
    if not isinstance(listed, list):
        raise UnreadableAnswer("The answer lists nothing.")
    return [each for each in listed if isinstance(each, dict)]


def cursor_after(answer: Mapping[str, Any]) -> str:
    """Where the next page of a list begins; empty when there is none."""
    paging = answer.get("paging")
    cursors = paging.get("cursors") if isinstance(paging, dict) and paging.get("next") else None
    after = cursors.get("after") if isinstance(cursors, dict) else None
    return after if isinstance(after, str) else ""


def line(value: Any) -> str:
    """Text from Meta as one bounded line without secrets; empty for anything but text."""
    if not isinstance(value, str):
        return ""
    shown = "".join(char if char.isprintable() else " " for char in value[: 4 * MAX_LINE_LENGTH])
    return _LIKE_A_TOKEN.sub("…", shown)[:MAX_LINE_LENGTH].strip()


def seconds_to_wait(headers: Mapping[str, str]) -> float | None:
    """How long Meta asks to be left alone: `Retry-After`, or what its business use cases say in minutes.

    `X-Business-Use-Case-Usage` is `{id: [{type, call_count, estimated_time_to_regain_access}]}`.
    """
    told = headers.get("Retry-After", "")
    if told.isascii() and told.isdecimal():
        return min(float(told[:9]), MAX_RETRY_AFTER)
    try:
        usage = json.loads(headers.get("X-Business-Use-Case-Usage", "")[:100_000])
    except (ValueError, RecursionError):
        return None
    cases = (
        [case for each in usage.values() if isinstance(each, list) for case in each] if isinstance(usage, dict) else []
    )
    minutes = [case.get("estimated_time_to_regain_access") for case in cases if isinstance(case, dict)]
    longest = max((each for each in minutes if isinstance(each, int | float)), default=0)
    return min(longest * 60.0, MAX_RETRY_AFTER) if longest > 0 else None


def _error_of(response: Response) -> dict[str, Any]:
    """The error object in its common form; empty where there is none."""
    content = _json_object(response)
    error, debug = content.get("error"), content.get("debug_info")
    if isinstance(error, dict):
        return error
    if "error_message" in content:
        return {"message": content["error_message"], "code": content.get("code")}
    if isinstance(debug, dict):
        return {"message": debug.get("message"), "is_transient": debug.get("retriable")}
    return {}


def _json_object(response: Response) -> dict[str, Any]:
    """The body; empty for anything but a JSON object."""
    try:
        content = response.json()
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _number(value: Any) -> int:
    return value if type(value) is int else 0
