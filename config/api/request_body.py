"""Reading request bodies: bounded before anything is parsed, then strict JSON."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import IO, Any

from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from rest_framework.parsers import JSONParser

from config.api import errors
from config.api.handler import respond
from config.api.upload_body import UploadBody, most_bytes

MAX_BODY_BYTES = 1_000_000
MAX_DEPTH = 32
_SURROGATE = re.compile("[\ud800-\udfff]")


class BodyLimitMiddleware:
    """Refuses bodies over 1 MB, and gives a chunked body (no Content-Length) the length that WSGI needs.

    An upload may be longer: it is read as a stream (config/api/upload_body.py).
    """

    def __init__(self, get_response: Callable[[WSGIRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: WSGIRequest) -> HttpResponseBase:
        if request.path.startswith(("/admin/", "/dashboard/")):
            return self.get_response(request)
        if request.path == "/media" and request.method == "POST":
            return self._take_upload(request)
        declared = request.META.get("CONTENT_LENGTH") or ""
        if declared.isdigit() and int(declared) > MAX_BODY_BYTES:
            return respond(errors.PayloadTooLarge())
        if not declared and "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "").lower():
            try:
                body = request.environ["wsgi.input"].read(MAX_BODY_BYTES + 1)
            except Exception:  # the server's own classes for chunks that are none
                return respond(errors.MalformedRequest("The chunks of the body cannot be read."))
            if len(body) > MAX_BODY_BYTES:
                return respond(errors.PayloadTooLarge())
            request._stream = BytesIO(body)
            request.META["CONTENT_LENGTH"] = str(len(body))
        return self.get_response(request)

    def _take_upload(self, request: WSGIRequest) -> HttpResponseBase:
        """Answer an upload; whatever it was refused for, its body is off the line before the answer."""
        body = UploadBody(request.environ, limit=most_bytes(request.content_type or ""))
        try:
            if body.too_long:
                return respond(errors.PayloadTooLarge(suggested_action="Send a smaller file."))
            request._stream = body  # type: ignore[assignment]  # anything that can be read
            return self.get_response(request)
        finally:
            body.discard()


class StrictJSONParser(JSONParser):
    """JSON in UTF-8 with each key once, no NaN, NUL or lone surrogate, at most 32 levels deep; anything else is 400."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        return parse_json(stream.read())


def parse_json(raw: bytes) -> Any:
    """The value of a strict JSON text. Raises MalformedRequest, which says what is wrong."""
    try:
        value = json.loads(raw.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise errors.MalformedRequest("The body is not UTF-8.") from error
    except RecursionError as error:
        raise errors.MalformedRequest(f"The body is nested deeper than {MAX_DEPTH} levels.") from error
    except ValueError as error:
        raise errors.MalformedRequest(f"The body is not JSON: {str(error)[:200]}.") from error
    _refuse_what_cannot_be_kept(value)
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise errors.MalformedRequest("The body names a key twice in one object.")
    return made


def _refuse_constant(name: str) -> None:
    raise errors.MalformedRequest(f"The body holds {name}, which is not JSON.")


def _refuse_what_cannot_be_kept(value: Any) -> None:
    """Walks without recursion, since the value may be as deep as the parser went."""
    level, depth = [value], 0
    while level:
        if depth >= MAX_DEPTH and any(isinstance(item, dict | list) for item in level):
            raise errors.MalformedRequest(f"The body is nested deeper than {MAX_DEPTH} levels.")
        below: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                below += [*item, *item.values()]
            elif isinstance(item, list):
                below += item
            elif isinstance(item, float) and not math.isfinite(item):
                raise errors.MalformedRequest("A number is larger than any that can be kept.")
            elif isinstance(item, str) and ("\0" in item or _SURROGATE.search(item)):
                raise errors.MalformedRequest("A string holds NUL or half of a surrogate pair.")
        level, depth = below, depth + 1
