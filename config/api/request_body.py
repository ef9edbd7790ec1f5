"""Reading request bodies: bounded before anything is parsed, then strict JSON."""

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
from config.api.handler import respond
from config.api.incoming_body import MAX_BODY_BYTES, IncomingBody
from config.api.upload_limits import most_bytes

MAX_DEPTH = 32
_SURROGATE = re.compile("[\ud800-\udfff]")


class BodyLimitMiddleware:
    """Refuses a body that says it is too long, and tells the server how long one may become that does not say it.

    1 MB for most requests; more for uploads and for pages that take files (config/api/upload_limits.py).
    """

    def __init__(self, get_response: Callable[[WSGIRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: WSGIRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self, request: WSGIRequest, view: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]
    ) -> HttpResponse | None:
        """Before any view or other middleware reads the body."""
        page_takes_files = getattr(view, "takes_files", False)  # it refuses by itself, with a page
        takes_files = page_takes_files or request.path == "/media"
        limit = most_bytes(request.content_type or "") if takes_files else MAX_BODY_BYTES
        declared = request.META.get("CONTENT_LENGTH") or ""
        if declared.isdigit() and int(declared) > limit and not page_takes_files:
            return respond(errors.PayloadTooLarge())
        source = request.META["wsgi.input"]
        if isinstance(source, IncomingBody):
            source.limit = limit
        return None


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
