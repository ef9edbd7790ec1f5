"""Middleware that logs and measures each request: operation, status and duration.

Paths are not logged because some contain ids or tokens. The trace id leads from the log line to the audit entry.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from config import metrics
from config.api.request_limits import start_cpu_timer

logger = logging.getLogger("access")
HTTP_METHODS = frozenset({"GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"})
NO_ROUTE = "-"  # logged as the operation when no route matches
PROBE_ROUTES = frozenset({"healthz", "readyz", "metrics"})


class AccessLogMiddleware:
    """Logs each request. It runs directly inside TraceMiddleware, so that its log line carries the trace id."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        began = time.perf_counter()
        start_cpu_timer()
        response = self.get_response(request)
        seconds = time.perf_counter() - began
        method = request.method if request.method in HTTP_METHODS else "OTHER"
        operation, status, ms = operation_name(request), response.status_code, round(seconds * 1000, 1)
        metrics.REQUESTS.labels(operation, str(status)).observe(seconds)
        static = operation == NO_ROUTE and status < 400  # WhiteNoise answers static files before URL resolving
        logger.log(
            logging.DEBUG if static or operation in PROBE_ROUTES else logging.INFO,
            "%s %s %d in %s ms",
            *(method, operation, status, ms),
            extra={"operation": operation, "method": method, "status": status, "ms": ms},
        )
        return response


def operation_name(request: HttpRequest) -> str:
    """Return the name of the request's declared operation, else its route such as `dashboard/`, else NO_ROUTE."""
    match = request.resolver_match
    if match is None:
        return NO_ROUTE
    action = getattr(match.func, "actions", {}).get((request.method or "").lower())
    declared = getattr(getattr(getattr(match.func, "cls", None), action or "", None), "operation", None)
    return declared.name if declared else match.route
