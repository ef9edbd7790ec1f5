"""Lists all routes of the API with their operations."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

from config.api.openapi_document import openapi_bytes_and_etag
from config.api.operation import Operation
from config.api.views import OperationViewSet

_BUILDING = threading.Lock()
_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")


@dataclass(frozen=True)
class Route:
    """One method at one path; `path` is written as in the OpenAPI document, such as /posts/{post_group_id}."""

    method: str
    path: str
    operation: Operation

    def __str__(self) -> str:
        return self.operation.name

    @property
    def writes(self) -> bool:
        return self.operation.counts_as_write_by_method(self.method)

    @property
    def parameters(self) -> list[str]:
        return re.findall(r"{(\w+)}", self.path)

    def at(self, ids: Mapping[str, str]) -> str:
        """Return the path with its parameters filled in by name."""
        return self.path.format(**{name: ids[name] for name in self.parameters})


def handlers() -> Iterator[tuple[str, str, Callable[..., Any]]]:
    """Return (method, path, view method) of every route of an OperationViewSet."""
    for path, view in _views(get_resolver().url_patterns):
        cls = getattr(view, "cls", None)
        if isinstance(cls, type) and issubclass(cls, OperationViewSet):
            for method, action in view.actions.items():
                yield method.upper(), path, getattr(cls, action)


def routes() -> list[Route]:
    """Return every declared operation with its route."""
    found = [(method, path, getattr(handler, "operation", None)) for method, path, handler in handlers()]
    return [Route(method, path, declared) for method, path, declared in found if declared]


def described() -> dict[str, Any]:
    """Return the OpenAPI document. Only one thread at a time requests it, because few may wait while it is built."""
    with _BUILDING:
        return dict(json.loads(openapi_bytes_and_etag()[0]))


def request_schemas(operation: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the schemas of an operation's request body, one for each content type."""
    return [content["schema"] for content in operation.get("requestBody", {}).get("content", {}).values()]


def _views(patterns: list[Any], prefix: str = "/") -> Iterator[tuple[str, Any]]:
    for each in patterns:
        joined = prefix + _PARAMETER.sub(r"{\1}", str(each.pattern))
        if isinstance(each, URLResolver):
            yield from _views(each.url_patterns, joined)
        elif isinstance(each, URLPattern):
            yield joined, each.callback
