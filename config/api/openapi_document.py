"""The OpenAPI document: builds it once in each process, and serves it at GET /openapi.json."""

from __future__ import annotations

import hashlib
import json
import threading
from functools import lru_cache

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from drf_spectacular.generators import SchemaGenerator

from config.api.error_handlers import django_error_response
from config.api.errors import ServiceUnavailable
from config.api.request_limits import WebThreadLimit
from config.api.views import require_safe_with_json_error

_building_lock = threading.Lock()
_building_thread_limit = WebThreadLimit(settings.WEB_THREADS // 4)


def openapi_bytes_and_etag() -> tuple[bytes, str]:
    """Return the OpenAPI document as bytes with its ETag; each process builds it once.

    Building takes a second or more. At most a quarter of the process's threads wait for it.
    """
    if _build_openapi_document.cache_info().currsize:
        return _build_openapi_document()
    if not _building_thread_limit.try_acquire_thread():
        raise ServiceUnavailable("The OpenAPI document is being built.")
    try:
        with _building_lock:
            return _build_openapi_document()
    finally:
        _building_thread_limit.release_thread()


@lru_cache(maxsize=1)
def _build_openapi_document() -> tuple[bytes, str]:
    body = json.dumps(SchemaGenerator().get_schema(request=None, public=True), ensure_ascii=False).encode()
    return body, f'"{hashlib.sha256(body).hexdigest()[:32]}"'


@require_safe_with_json_error
def serve_openapi_document(request: HttpRequest) -> HttpResponse:
    """The view that serves the OpenAPI document (GET /openapi.json); it needs no token."""
    try:
        body, etag = openapi_bytes_and_etag()
    except ServiceUnavailable as error:
        return django_error_response(error)
    if request.headers.get("If-None-Match") == etag:
        return HttpResponseNotModified(headers={"ETag": etag})
    return HttpResponse(body, content_type="application/json", headers={"ETag": etag, "Cache-Control": "max-age=60"})
