"""The middleware that spares API requests what only pages need: sessions, CSRF checks, messages, static files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, cast

from django.core.handlers.exception import convert_exception_to_response
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, get_resolver
from django.utils.module_loading import import_string

from config.middleware_settings import API_MIDDLEWARE, PAGE_MIDDLEWARE

GetResponse = Callable[[HttpRequest], HttpResponse]


class ApiOrPageMiddleware:
    """The middleware that runs API_MIDDLEWARE for requests to the API, and PAGE_MIDDLEWARE for all other requests."""

    def __init__(self, get_response: GetResponse) -> None:
        self._api, self._page = (_Chain(names, get_response) for names in (API_MIDDLEWARE, PAGE_MIDDLEWARE))

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._chain(request).first(request)

    def process_view(self, request: HttpRequest, *view: Any) -> HttpResponse | None:
        answers = (process_view(request, *view) for process_view in self._chain(request).view_methods)
        return next((answer for answer in answers if answer is not None), None)

    def _chain(self, request: HttpRequest) -> _Chain:
        return self._api if request.path_info[1:].partition("/")[0] in _api_segments() else self._page


class _Chain:
    """Middlewares of API requests or of pages that call each other in their order, as Django chains MIDDLEWARE."""

    def __init__(self, names: Iterable[str], get_response: GetResponse) -> None:
        self.first = get_response
        self.view_methods: list[Callable[..., HttpResponse | None]] = []
        for name in reversed(list(names)):
            middleware = import_string(name)(self.first)
            if hasattr(middleware, "process_view"):
                self.view_methods.insert(0, middleware.process_view)
            self.first = cast(GetResponse, convert_exception_to_response(middleware))


@cache
def _api_segments() -> frozenset[str]:
    """Return the first segments of paths, such as `posts`, by which the middleware tells API requests from pages."""
    routes = list(_routes(get_resolver().url_patterns))
    return frozenset(path.split("/")[0] for path, _ in routes) - {path.split("/")[0] for path, is_api in routes if not is_api}


def _routes(patterns: Iterable[Any], before: str = "") -> Iterator[tuple[str, bool]]:
    for pattern in patterns:
        path = before + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            # REST framework sets `actions` on views of operations; other views of programs have `for_programs`.
            yield path, hasattr(pattern.callback, "actions") or hasattr(pattern.callback, "for_programs")
        else:
            yield from _routes(pattern.url_patterns, path)
