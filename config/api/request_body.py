"""The parser of JSON request bodies, which accepts strict JSON only."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import IO, Any

from rest_framework.parsers import JSONParser

from config.api import errors

MAX_DEPTH = 32
_SURROGATE = re.compile("[\ud800-\udfff]")


class StrictJSONParser(JSONParser):
    """The parser of request bodies in strict JSON: UTF-8, unique keys, no NaN or NUL, at most 32 levels deep."""

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None) -> Any:
        return parse_json(stream.read())


def parse_json(raw: bytes) -> Any:
    """Parse a request body as strict JSON. Raises MalformedRequest, whose message names the problem."""
    try:
        value = json.loads(raw.decode("utf-8"), object_pairs_hook=_object_with_unique_keys, parse_constant=_reject_constant)
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
    """Refuse a request body with values that the database cannot store, such as NUL characters."""
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
