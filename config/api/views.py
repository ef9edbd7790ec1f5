"""The base of every API view, and the document of the API."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from typing import Any, cast

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from drf_spectacular.generators import SchemaGenerator
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from config.api import rate_limit
from config.api.caller import Caller
from config.api.errors import RateLimited, Unauthenticated
from config.api.handler import read_only
from config.api.operation import Operation


class OperationViewSet(ViewSet):
    """A view whose methods are declared operations: authentication and the rate limit come first, for each of them."""

    http_method_names = ["get", "head", "post", "patch", "delete"]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        self.format_kwarg = None
        if request.user is None:
            raise Unauthenticated()
        self._authenticate_for_operation(request)
        caller = cast(Caller, request.user)
        verdict = rate_limit.take(caller.key_id or caller.actor_id, caller.rate_limit_per_minute)
        self.rate_limit_headers = verdict.headers()
        if not verdict.allowed:
            raise RateLimited(headers=self.rate_limit_headers)
        request.accepted_renderer, request.accepted_media_type = self.perform_content_negotiation(request)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Response:
        response = super().finalize_response(request, response, *args, **kwargs)
        for name, value in getattr(self, "rate_limit_headers", {}).items():
            response[name] = value
        return response

    def _authenticate_for_operation(self, request: Request) -> None:
        """A claim token opens the one operation that says so, and nothing else."""
        declared: Operation | None = getattr(getattr(self, self.action or "", None), "operation", None)
        caller = cast(Caller, request.user)
        if caller.kind == "claim" and not (declared and declared.claim_token):
            raise Unauthenticated("A claim token is good for POST /agents/claim only.")


@lru_cache(maxsize=1)
def document() -> tuple[bytes, str]:
    """The OpenAPI document as bytes with its ETag, built once in each process."""
    body = json.dumps(SchemaGenerator().get_schema(request=None, public=True), ensure_ascii=False).encode()
    return body, f'"{hashlib.sha256(body).hexdigest()[:32]}"'


@read_only
def openapi(request: HttpRequest) -> HttpResponse:
    """GET /openapi.json: the contract; it needs no bearer, since it is read before one can be got."""
    body, etag = document()
    if request.headers.get("If-None-Match") == etag:
        return HttpResponseNotModified(headers={"ETag": etag})
    return HttpResponse(body, content_type="application/json", headers={"ETag": etag, "Cache-Control": "max-age=60"})
