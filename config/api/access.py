"""One log line and one measurement for each request: which operation, what status, how long it took.

Paths are not told, since some hold ids or tokens of their own; the operation's name says enough, and the trace leads to
the audit entry.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from config import metrics
from config.api.budget import start_cpu_clock

logger = logging.getLogger("access")
METHODS = frozenset({"GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"})
NOTHING = "-"  # in place of an operation, where no route answers
ASKED_ALL_THE_TIME = frozenset({"healthz", "readyz", "metrics"})


class AccessMiddleware:
    """Next to TraceMiddleware, so that it sees every answer and its line carries the trace."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        began = time.perf_counter()
        start_cpu_clock()
        response = self.get_response(request)
        seconds = time.perf_counter() - began
        method = request.method if request.method in METHODS else "OTHER"
        operation, status, ms = operation_of(request), response.status_code, round(seconds * 1000, 1)
        metrics.REQUESTS.labels(operation, str(status)).observe(seconds)
        static = operation == NOTHING and status < 400  # WhiteNoise answers before a route is looked for
        logger.log(
            logging.DEBUG if static or operation in ASKED_ALL_THE_TIME else logging.INFO,
            "%s %s %d in %s ms",
            *(method, operation, status, ms),
            extra={"operation": operation, "method": method, "status": status, "ms": ms},
        )
        return response


def operation_of(request: HttpRequest) -> str:
    """The declared operation behind the request, else its route, such as `dashboard/`, else NOTHING."""
    match = request.resolver_match
    if match is None:
        return NOTHING
    action = getattr(match.func, "actions", {}).get((request.method or "").lower())
    declared = getattr(getattr(getattr(match.func, "cls", None), action or "", None), "operation", None)
    return declared.name if declared else match.route
