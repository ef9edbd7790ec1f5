"""OperationViewSet, the base class of all API views, which authenticates requests and applies the API's rate limits."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, cast

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from config.api import rate_limit
from config.api.caller import Caller
from config.api.error_handlers import django_error_response
from config.api.errors import MethodNotAllowed, RateLimited, Unauthenticated
from config.api.operation import Operation
from config.api.rendering import FastJsonRenderer
from config.api.trace import set_trace_actor

_JSON = FastJsonRenderer()


class OperationViewSet(ViewSet):
    """The base class of all API views, which authenticates and rate-limits each request unless the operation is public."""

    http_method_names = ["get", "head", "post", "put", "patch", "delete"]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        self.format_kwarg = None
        if not self._is_public():
            self._authenticate(request)
        request.accepted_renderer, request.accepted_media_type = self.perform_content_negotiation(request)

    @property
    def declared_operation(self) -> Operation | None:
        """Return the API operation that this OperationViewSet declares for the request's HTTP method, or None."""
        return getattr(getattr(self, self.action or "", None), "operation", None)

    def _is_public(self) -> bool:
        """Return whether this OperationViewSet answers the request without a token, because its operation is public."""
        if self.declared_operation:
            return self.declared_operation.access.public
        operations = [getattr(getattr(self, action), "operation", None) for action in self.action_map.values()]
        return all(operation and operation.access.public for operation in operations)

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """Choose a response's media type; errors are JSON even if the client accepts only another type of the operation."""
        if request.META.get("HTTP_ACCEPT", "*/*") in ("*/*", "application/json"):  # of most clients, which accept JSON
            return _JSON, _JSON.media_type
        others = self.declared_operation.media_types if self.declared_operation else ()
        return super().perform_content_negotiation(request, force or any(map(request.accepts, others)))

    def _authenticate(self, request: Request) -> None:
        caller = cast(Caller | None, request.user)
        if caller is None:
            raise Unauthenticated()
        set_trace_actor(caller)
        if caller.kind == "claim" and not (self.declared_operation and self.declared_operation.access.claim_token):
            raise Unauthenticated("A claim token can only be used for POST /agents/claim.")
        try:
            self.rate_limit_headers = enforce_rate_limits_and_return_headers(caller, request.META["wsgi.input"])
        except RateLimited as error:
            self.rate_limit_headers = error.headers
            raise

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Response:
        response = super().finalize_response(request, response, *args, **kwargs)
        for name, value in getattr(self, "rate_limit_headers", {}).items():
            response[name] = value
        return response


def enforce_rate_limits_and_return_headers(caller: Caller, body: Any) -> dict[str, str]:
    """Count a request to an OperationViewSet and return the RateLimit headers of its response. Raises RateLimited.

    A request that the server runs twice, because its `body` had not arrived, counts once.
    """
    notes = getattr(body, "notes", {})
    if "rate_limit" not in notes:
        notes["rate_limit"] = rate_limit.count_request_unless_rate_limited(*_buckets(caller))
    verdict = notes["rate_limit"]
    if not verdict.allowed:
        raise RateLimited(headers=verdict.headers())
    headers: dict[str, str] = verdict.headers()
    return headers


def _buckets(caller: Caller) -> list[rate_limit.Bucket]:
    """Return the rate limit buckets in which an API view counts a request: the caller's, and for keys the workspace's."""
    own = rate_limit.Bucket(caller.key_id or caller.actor_id, caller.rate_limit_per_minute or settings.RATE_LIMIT_PER_MINUTE)
    if caller.workspace_id is None:
        return [own]
    return [own, rate_limit.Bucket(caller.workspace_id, settings.WORKSPACE_RATE_LIMIT_PER_MINUTE)]


def require_safe_with_json_error(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Decorate a view outside of OperationViewSet to answer GET and HEAD only, and other methods with METHOD_NOT_ALLOWED.

    The view is exempt from CSRF checks, so that other methods get this error and not one about CSRF.
    """

    @csrf_exempt
    @functools.wraps(view)
    def answer(request: HttpRequest, **named: str) -> HttpResponseBase:
        if request.method in ("GET", "HEAD"):
            return view(request, **named)
        return django_error_response(MethodNotAllowed(headers={"Allow": "GET, HEAD"}))

    return answer
