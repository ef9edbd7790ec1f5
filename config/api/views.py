"""The base of every API view, and the document of the API."""

from __future__ import annotations

import hashlib
import json
import threading
from functools import lru_cache
from typing import Any, cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from drf_spectacular.generators import SchemaGenerator
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from config.api import rate_limit
from config.api.budget import ThreadShare
from config.api.caller import Caller
from config.api.errors import RateLimited, ServiceUnavailable, Unauthenticated
from config.api.handler import read_only, respond
from config.api.operation import Operation
from config.api.trace import note_actor

_building = threading.Lock()
_building_threads = ThreadShare(settings.WEB_THREADS // 4)


class OperationViewSet(ViewSet):
    """A view whose methods are declared operations: authentication and the rate limit come first, for each of them."""

    http_method_names = ["get", "head", "post", "patch", "delete"]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        self.format_kwarg = None
        if not self._is_public():
            self._admit(request)
        request.accepted_renderer, request.accepted_media_type = self.perform_content_negotiation(request)

    @property
    def declared(self) -> Operation | None:
        """The operation that this request is for; None where its method has none."""
        return getattr(getattr(self, self.action or "", None), "operation", None)

    def _is_public(self) -> bool:
        """Whether no bearer is asked for. A method without an operation is as public as the operations of its address."""
        if self.declared:
            return self.declared.public
        operations = [getattr(getattr(self, action), "operation", None) for action in self.action_map.values()]
        return all(operation and operation.public for operation in operations)

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """JSON, errors always; an operation with further media types may be asked for by the name of one of those."""
        others = self.declared.media_types if self.declared else ()
        return super().perform_content_negotiation(request, force or any(map(request.accepts, others)))

    def _admit(self, request: Request) -> None:
        caller = cast(Caller | None, request.user)
        if caller is None:
            raise Unauthenticated()
        note_actor(caller)
        if caller.kind == "claim" and not (self.declared and self.declared.claim_token):
            raise Unauthenticated("A claim token is good for POST /agents/claim only.")
        notes = getattr(request.META["wsgi.input"], "notes", {})  # a request that is run a second time counts once
        if "rate_limit" not in notes:
            notes["rate_limit"] = rate_limit.take(*_buckets(caller))
        verdict = notes["rate_limit"]
        self.rate_limit_headers = verdict.headers()
        if not verdict.allowed:
            raise RateLimited(headers=self.rate_limit_headers)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Response:
        response = super().finalize_response(request, response, *args, **kwargs)
        for name, value in getattr(self, "rate_limit_headers", {}).items():
            response[name] = value
        return response


def _buckets(caller: Caller) -> list[rate_limit.Bucket]:
    """The caller's own, and for a key that of its workspace; people have no workspace at this point."""
    own = rate_limit.Bucket(
        caller.key_id or caller.actor_id, caller.rate_limit_per_minute or settings.RATE_LIMIT_PER_MINUTE
    )
    if caller.workspace_id is None:
        return [own]
    return [own, rate_limit.Bucket(caller.workspace_id, settings.WORKSPACE_RATE_LIMIT_PER_MINUTE)]


def document() -> tuple[bytes, str]:
    """The OpenAPI document as bytes with its ETag, built once in each process. Raises ServiceUnavailable.

    Building takes a second or more. A quarter of the process's threads may wait for it, so that callers of a process that
    has just started leave room for everybody else.
    """
    if _build_document.cache_info().currsize:
        return _build_document()
    if not _building_threads.acquire():
        raise ServiceUnavailable("The OpenAPI document is being built.")
    try:
        with _building:
            return _build_document()
    finally:
        _building_threads.release()


@lru_cache(maxsize=1)
def _build_document() -> tuple[bytes, str]:
    body = json.dumps(SchemaGenerator().get_schema(request=None, public=True), ensure_ascii=False).encode()
    return body, f'"{hashlib.sha256(body).hexdigest()[:32]}"'


@read_only
def openapi(request: HttpRequest) -> HttpResponse:
    """GET /openapi.json: the contract; it needs no bearer, since it is read before one can be got."""
    try:
        body, etag = document()
    except ServiceUnavailable as error:
        return respond(error)
    if request.headers.get("If-None-Match") == etag:
        return HttpResponseNotModified(headers={"ETag": etag})
    return HttpResponse(body, content_type="application/json", headers={"ETag": etag, "Cache-Control": "max-age=60"})
