"""The blocking HTTP client for requests to platforms and downloads; the type of its errors shows what may be repeated.

There are no redirects, proxies, netrc or cookies. Requests are encoded here, because a library such as requests takes three
times the CPU time for them; http.client reads the answers. Every request uses a new connection. A reused one may be closing
at the server, and the resulting reset could not be distinguished from a request that was processed.
"""

from __future__ import annotations

import contextlib
import http.client
import io
import json as jsonlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import IO, Any, cast

from django.conf import settings
from requests_toolbelt.multipart.encoder import MultipartEncoder

from config.outbound.connections import DeadlineSocket, Exchange, open_connection
from config.outbound.deadline import earlier_of_deadline_and_timeout
from config.outbound.destinations import DestinationNotAllowed, check_url_without_lookup
from config.outbound.encoding import encode_request
from config.outbound.errors import NotSent, NotSentToForbiddenHost, ResponseTooLarge, SentWithoutAnswer, error_summary

_BLOCK_BYTES = 65_536
_FAULTS = (http.client.HTTPException, OSError, ValueError)


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
    params: Mapping[str, Any] | None = None,
    timeout: float = 30.0,
    max_bytes: int = 1_000_000,
) -> Response:
    """Send one outbound HTTP request with this blocking client; a redirect is returned, not followed.

    The body is a value for JSON (`json`), or `data`: bytes, a text, the fields of a form, or an open file, which is streamed.
    `params` are added to the URL's query. Fields and parameters that are None are left out. `timeout` limits the whole
    exchange in seconds, from the DNS lookup to the last byte.
    Raises NotSent if nothing was written, SentWithoutAnswer if the request may have been processed, ResponseTooLarge.
    """
    sink = io.BytesIO()
    content = {"json": json, "data": data, "params": params}
    answer = _exchange(method, url, headers, content, timeout=timeout, max_bytes=max_bytes, to=sink)
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
    nothing = {"json": None, "data": None, "params": None}
    return _exchange("GET", url, headers, nothing, timeout=timeout, max_bytes=max_bytes, to=to, cut=cut)


def build_multipart_body(fields: Mapping[str, Any]) -> MultipartEncoder:
    """Return a multipart/form-data body for this HTTP client; its files are read only while they are sent.

    A file is `(filename, opened file, mime type)`. Send the body's `content_type` as the Content-Type header.
    """
    return MultipartEncoder(fields=dict(fields))


def _exchange(
    method: str,
    url: str,
    headers: Mapping[str, str] | None,
    content: Mapping[str, Any],
    *,
    timeout: float,
    max_bytes: int,
    to: IO[bytes],
    cut: bool = False,
) -> Response:
    method = method.upper()
    exchange = Exchange(earlier_of_deadline_and_timeout(timeout), readable_bytes=2 * max_bytes + _BLOCK_BYTES)
    own = {"User-Agent": settings.OUTBOUND_USER_AGENT, "Accept-Encoding": "identity", "Connection": "close"}
    try:
        destination = check_url_without_lookup(url)
        head, body = encode_request(method, destination, {**own, **(headers or {})}, **content)
        with contextlib.closing(open_connection(destination, exchange)) as connection:
            # A server may answer (401, 413) and close while the body is still on its way: the answer counts.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                _send(connection, head, body)
            with contextlib.closing(http.client.HTTPResponse(connection, method=method)) as answer:
                answer.begin()
                if exchange.peer_closed or answer.status < 200:
                    raise http.client.RemoteDisconnected("the answer's headers are incomplete")
                _copy(answer, to, max_bytes, cut=cut)
                return Response(answer.status, cast(Mapping[str, str], answer.headers), b"")
    except DestinationNotAllowed as error:
        raise NotSentToForbiddenHost(error.reason) from error
    except _FAULTS as error:
        if exchange.request_begun:
            raise SentWithoutAnswer(error_summary(error)) from error
        raise NotSent(error_summary(error)) from error


def _send(connection: DeadlineSocket, head: bytes, body: IO[bytes]) -> None:
    block = head + body.read(_BLOCK_BYTES)  # together, because each write costs a system call and a switch of threads
    while block:
        connection.sendall(block)
        block = body.read(_BLOCK_BYTES)


def _copy(answer: http.client.HTTPResponse, to: IO[bytes], max_bytes: int, *, cut: bool) -> None:
    remaining = max_bytes
    while chunk := answer.read(_BLOCK_BYTES):
        if len(chunk) > remaining and not cut:
            raise ResponseTooLarge(f"The answer is longer than {max_bytes} bytes.")
        to.write(chunk[:remaining])
        remaining -= len(chunk)
        if remaining < 0:
            return
    if answer.length:  # http.client reports only chunks that are incomplete
        raise http.client.IncompleteRead(b"", answer.length)
