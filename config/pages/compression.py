"""The middleware that compresses pages. Files are compressed beforehand or not at all, and API responses by the proxy."""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware


class PageCompressionMiddleware(GZipMiddleware):
    """The middleware that compresses HTML pages and varies their length, so that it gives no secret away (BREACH).

    Downloads are left alone: compressed, they would lose their length and their ranges.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if response.streaming or not response.headers.get("Content-Type", "").startswith("text/html"):
            return response
        return super().process_response(request, response)
