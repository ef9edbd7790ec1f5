"""Encodes outbound HTTP requests: the bytes of the head, and the body as a file that is read while it is sent."""

from __future__ import annotations

import io
import json as jsonlib
import re
from collections.abc import Mapping
from typing import IO, Any, cast
from urllib.parse import quote, urlencode

from config.outbound.destinations import Destination

_DEFAULT_PORTS = {"https": 443, "http": 80}
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+: [\t\x20-\x7e\x80-\xff]*")
_BARE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")  # one that begins no escape
_ALLOWED_IN_URL = "!#$%&'()*+,/:;=?@[]~"


def encode_request(
    method: str,
    destination: Destination,
    headers: Mapping[str, str],
    *,
    json: Any,
    data: Any,
    params: Mapping[str, Any] | None,
) -> tuple[bytes, IO[bytes]]:
    """Return the head and the body of an outbound HTTP request. Raises ValueError if a header or the JSON is invalid.

    The parameters are those of `config.outbound.request`; the names of headers are spelled as in RFC 9110.
    """
    body, content_type = _encoded_body(json, data)
    length = _length(body)
    framing = {"Content-Length": str(length)} if length or method not in ("GET", "HEAD") else {}
    host = f"[{destination.host}]" if ":" in destination.host else destination.host
    port = "" if destination.port == _DEFAULT_PORTS[destination.scheme] else f":{destination.port}"
    every = {"Host": f"{host}{port}", **content_type, **headers, **framing}
    lines = [f"{name}: {value}" for name, value in every.items()]
    if not all(map(_HEADER.fullmatch, lines)):
        raise ValueError("A header has a character that is not allowed.")
    if len({name.lower() for name in every}) != len(every):
        raise ValueError("A header is given in two spellings.")
    head = "\r\n".join((f"{method} {_target(destination.target, params)} HTTP/1.1", *lines, "", ""))
    return head.encode("latin-1"), body


def _encoded_body(json: Any, data: Any) -> tuple[IO[bytes], dict[str, str]]:
    """Return the body of an outbound HTTP request, and the header that names its type if that is known."""
    if hasattr(data, "read"):
        return cast(IO[bytes], data), {}
    if isinstance(data, Mapping):
        return io.BytesIO(_encoded_fields(data).encode()), {"Content-Type": "application/x-www-form-urlencoded"}
    if data is None and json is not None:
        return io.BytesIO(jsonlib.dumps(json, allow_nan=False).encode()), {"Content-Type": "application/json"}
    return io.BytesIO(data.encode() if isinstance(data, str) else data), {}


def _encoded_fields(fields: Mapping[str, Any]) -> str:
    return urlencode({name: value for name, value in fields.items() if value is not None}, doseq=True)


def _length(body: Any) -> int:
    """Return how many bytes of an outbound request's body (a file or an object with `len`) are still to be read."""
    if hasattr(body, "len"):
        return int(body.len)
    start = body.tell()
    body.seek(0, io.SEEK_END)
    length: int = body.tell() - start
    body.seek(start)
    return length


def _target(target: str, params: Mapping[str, Any] | None) -> str:
    """Return the path and query of an outbound request's URL, as its request line contains them, with parameters added."""
    if not target.startswith("/"):
        target = f"/{target}"
    if params and (query := _encoded_fields(params)):
        target += f"{'&' if '?' in target else '?'}{query}"
    return quote(_BARE_PERCENT.sub("%25", target), safe=_ALLOWED_IN_URL)
