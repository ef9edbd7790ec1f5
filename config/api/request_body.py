"""Limits the size of request bodies and parses them as strict JSON."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import IO, Any

from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpResponse
from rest_framework.parsers import JSONParser

from config.api import errors
from config.api.error_handlers import error_response
from config.api.incoming_body import MAX_BODY_BYTES, IncomingBody
from config.api.upload_limits import most_bytes

MAX_DEPTH = 32
_SURROGATE = re.compile("[\ud800-\udfff]")


class BodyLimitMiddleware:
    """Refuses a body whose Content-Length exceeds the limit, and sets the server's limit for a body without one.

    The limit is 1 MB, and more for uploads and pages that take files (config/api/upload_limits.py).
    """

    def __init__(self, get_response: Callable[[WSGIRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: WSGIRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self, request: WSGIRequest, view: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]
    ) -> HttpResponse | None:
        """Apply the limit before a view or another middleware reads the body."""
        page_takes_files = getattr(view, "takes_files", False)  # the page refuses long bodies itself, in HTML
        takes_files = page_takes_files or request.path == "/media"
        limit = most_bytes(request.content_type or "") if takes_files else MAX_BODY_BYTES
        declared = request.META.get("CONTENT_LENGTH") or ""
        if declared.isdigit() and int(declared) > limit and not page_takes_files:
            return error_response(errors.PayloadTooLarge())
        source = request.META["wsgi.input"]
        if isinstance(source, IncomingBody):
            source.limit = limit
        return None


class StrictJSONParser(JSONParser):
    """Parses JSON strictly: UTF-8, unique keys, no NaN, NUL or lone surrogate, at most 32 levels deep."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        return parse_json(stream.read())


def parse_json(raw: bytes) -> Any:
    """Parse strict JSON. Raises MalformedRequest, whose message names the problem."""
    try:
        value = json.loads(
            raw.decode("utf-8"), object_pairs_hook=_object_with_unique_keys, parse_constant=_reject_constant
        )
    except UnicodeDecodeError as error:
        raise errors.MalformedRequest("The body is not UTF-8.") from error
    except RecursionError as error:
        raise errors.MalformedRequest(f"The body is nested deeper than {MAX_DEPTH} levels.") from error
    except ValueError as error:
        raise errors.MalformedRequest(f"The body is not JSON: {str(error)[:200]}.") from error
    _check_storable(value)
    return value


def _object_with_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise errors.MalformedRequest("An object in the body has the same key twice.")
    return made


def _reject_constant(name: str) -> None:
    raise errors.MalformedRequest(f"The body contains {name}, which is not JSON.")


def _check_storable(value: Any) -> None:
    """Refuse values that the database cannot store. Iterates instead of recursing, because the value may be deeply nested."""
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
                raise errors.MalformedRequest("A number is too large.")
            elif isinstance(item, str) and ("\0" in item or _SURROGATE.search(item)):
                raise errors.MalformedRequest("A string contains NUL or half of a surrogate pair.")
        level, depth = below, depth + 1
