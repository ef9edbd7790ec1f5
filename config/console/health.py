"""/healthz: the process answers. /readyz: the database, the workers and their sweeps do their work. Both tell no secret.

Red is what keeps posts or their events back. Billing's queues and alarms are told in /ops/status and /metrics instead: a
service that an operator has to look at still publishes, and must not be taken out of its load balancer for that.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db import DatabaseError
from django.http import HttpRequest, JsonResponse
from django.utils import timezone

from config.api.views import get_only
from config.console import status

REQUIRED_QUEUES = ("publish", "deliver")
OVERDUE_AFTER = timedelta(minutes=5)


@get_only
def healthz(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "ok"})


@get_only
def readyz(request: HttpRequest) -> JsonResponse:
    """200 when everything works, else 503 and what does not; ages in seconds."""
    now = timezone.now()
    try:
        beats = status.heartbeats()
        oldest = {duty: status.oldest_due_seconds(duty, now) for duty in REQUIRED_QUEUES}
    except DatabaseError:
        return _health_response({"status": "unavailable", "checks": {"database": "unreachable"}}, False)
    checks = {"database": "ok"}
    for duty, age in oldest.items():
        alive = status.is_recent(beats.get(duty), now)
        checks[duty] = "overdue" if age > OVERDUE_AFTER.total_seconds() else "ok" if alive else "no worker"
    ready = all(state == "ok" for state in checks.values())
    body = {"status": "ok" if ready else "unavailable", "checks": checks, "oldest_due_seconds": oldest}
    return _health_response(body, ready)


def _health_response(body: dict[str, Any], ready: bool) -> JsonResponse:
    """A red answer is for whoever asked; it is no fault of this request that the log should tell."""
    response = JsonResponse(body, status=200 if ready else 503)
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response
