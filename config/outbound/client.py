"""The HTTP client for requests to platforms; the type of its errors shows whether a request may be repeated.

The requests library prepares the request, and a pinned connection sends it: no redirects, proxies, netrc or cookies. Every
request uses a new connection. A reused one may be closing at the server, and the resulting reset could not be
distinguished from a request that was processed.
"""

from __future__ import annotations

import contextlib
import http.client
import io
import json as jsonlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import IO, Any

import requests
from django.conf import settings
from requests.structures import CaseInsensitiveDict
from requests_toolbelt.multipart.encoder import MultipartEncoder
from urllib3.exceptions import HTTPError
from urllib3.response import BaseHTTPResponse

from config.outbound.connections import Exchange, connection_to
from config.outbound.deadline import earliest_deadline
from config.outbound.destinations import DestinationNotAllowed, check_url_without_lookup
from config.outbound.errors import DestinationForbidden, NoAnswer, NotSent, ResponseTooLarge, error_summary

_READ_BYTES = 65_536
_FAULTS = (HTTPError, http.client.HTTPException, OSError, ValueError)


@dataclass(frozen=True)
class Response:
    """The response to a request of the HTTP client, with any status; `headers` ignores upper and lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """Return the JSON object or array in the body of this HTTP client's Response. Raises ValueError for anything else."""
        try:
            value = jsonlib.loads(self.body)
        except RecursionError as error:
            raise ValueError("the JSON is nested too deeply") from error
        if not isinstance(value, dict | list):
            raise ValueError("the JSON is neither an object nor an array")
        return value


def request(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    json: Any = None,
    data: Any = None,
    files: Any = None,
    params: Any = None,
    timeout: float = 30.0,
    max_bytes: int = 1_000_000,
) -> Response:
    """Send one outbound HTTP request and return the response; a redirect is returned, not followed.

    `json`, `data`, `files` and `params` are those of requests: `data` may be bytes, a form or an open file, which is
    streamed. `timeout` limits the whole exchange in seconds, from the DNS lookup to the last byte.
    Raises NotSent if nothing was written, NoAnswer if the request may have been processed, ResponseTooLarge.
    """
    sink = io.BytesIO()
    asked = requests.Request(method, url, headers=_all_headers(headers), json=json, data=data, files=files, params=params)
    answer = _exchange(asked, timeout, max_bytes, sink)
    return replace(answer, body=sink.getvalue())


def download(
    url: str,
    to: IO[bytes],
    *,
    headers: Mapping[str, str] | None = None,
    timeout: float = 60.0,
    max_bytes: int,
    cut: bool = False,
) -> Response:
    """Send a GET request with the HTTP client and write the response's body to the file `to`; the Response has no body.

    `cut`: read only the first `max_bytes` of a longer body instead of raising. The caller must check the status before it
    uses the file. Raises as `request` does.
    """
    return _exchange(requests.Request("GET", url, headers=_all_headers(headers)), timeout, max_bytes, to, cut=cut)


def build_multipart_body(fields: Mapping[str, Any]) -> MultipartEncoder:
    """Return the multipart/form-data body of an outbound HTTP request; its files are read only while they are sent.

    A file is `(filename, opened file, mime type)`. Send the body's `content_type` as the Content-Type header.
    """
    return MultipartEncoder(fields=dict(fields))


def _exchange(asked: requests.Request, timeout: float, max_bytes: int, to: IO[bytes], *, cut: bool = False) -> Response:
    exchange = Exchange(earliest_deadline(timeout), readable_bytes=2 * max_bytes + _READ_BYTES)
    try:
        destination = check_url_without_lookup(str(asked.url))
        prepared = asked.prepare()
        with contextlib.closing(connection_to(destination, exchange)) as connection:
            connection.connect()
            # A server may answer (401, 413) and close while the body is still on its way: the answer counts.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                connection.request(
                    prepared.method or "GET",
                    prepared.path_url,
                    body=prepared.body,
                    headers=prepared.headers,
                    preload_content=False,
                    decode_content=False,
                )
            with contextlib.closing(connection.getresponse()) as answer:
                _copy(answer, to, max_bytes, cut=cut)
                return Response(answer.status, answer.headers, b"")
    except DestinationNotAllowed as error:
        raise DestinationForbidden(error.reason) from error
    except _FAULTS as error:
        if exchange.request_begun:
            raise NoAnswer(error_summary(error)) from error
        raise NotSent(error_summary(error)) from error


def _copy(answer: BaseHTTPResponse, to: IO[bytes], max_bytes: int, *, cut: bool) -> None:
    remaining = max_bytes
    while chunk := answer.read(_READ_BYTES, decode_content=False):
        if len(chunk) > remaining and not cut:
            raise ResponseTooLarge(f"The answer is longer than {max_bytes} bytes.")
        to.write(chunk[:remaining])
        remaining -= len(chunk)
        if remaining < 0:
            return


def _all_headers(headers: Mapping[str, str] | None) -> CaseInsensitiveDict[str]:
    every = CaseInsensitiveDict(
        {"User-Agent": settings.OUTBOUND_USER_AGENT, "Accept-Encoding": "identity", "Connection": "close"}
    )
    every.update(headers or {})
    return every
