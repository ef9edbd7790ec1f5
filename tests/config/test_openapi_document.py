"""GET /openapi.json while the process builds the document."""

from __future__ import annotations

from django.conf import settings
from django.test import Client

from config.api import openapi_document
from tests.config.test_errors import assert_envelope


def test_requests_that_wait_for_the_openapi_document_leave_threads_free() -> None:
    openapi_document._build_openapi_document.cache_clear()
    for _ in range(settings.WEB_THREADS // 4):  # so many requests wait for it already
        assert openapi_document._building_thread_limit.try_acquire_thread()
    refused = Client().get("/openapi.json")
    for _ in range(settings.WEB_THREADS // 4):
        openapi_document._building_thread_limit.release_thread()

    assert_envelope(refused, 503, "SERVICE_UNAVAILABLE")
    assert refused["Retry-After"] == "2"
    assert Client().get("/openapi.json").status_code == 200
