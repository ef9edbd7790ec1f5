"""Health checks for load balancers: /healthz (the process answers) and /readyz (posts and webhooks are sent).

/readyz fails only when posts or their events are delayed. Billing queues and alarms are reported by /ops/status and
/metrics instead, because a service with those problems still publishes and must stay in its load balancer.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db import DatabaseError
from django.http import HttpRequest, JsonResponse
from django.utils import timezone

from config.api.views import require_safe_with_json_error
from config.console import status

REQUIRED_QUEUES = ("publish", "deliver")
OVERDUE_AFTER = timedelta(minutes=5)


@require_safe_with_json_error
def healthz(request: HttpRequest) -> JsonResponse:
    """Answer /healthz with 200, which shows a load balancer that this web process answers; checks nothing else."""
    return JsonResponse({"status": "ok"})


@require_safe_with_json_error
def readyz(request: HttpRequest) -> JsonResponse:
    """Answer /readyz with 200 if the database and the worker loops `publish` and `deliver` are fine, else with 503.

    The response has the result of each check. Other worker loops are not checked.
    """
    now = timezone.now()
    try:
        beats = status.last_heartbeats_by_name()
        oldest = {queue: status.longest_overdue_seconds(queue, now) for queue in REQUIRED_QUEUES}
    except DatabaseError:
        return _health_response({"status": "unavailable", "checks": {"database": "unreachable"}}, False)
    checks = {"database": "ok"}
    for queue, age in oldest.items():
        alive = status.is_heartbeat_recent(beats.get(queue), now)
        checks[queue] = "overdue" if age > OVERDUE_AFTER.total_seconds() else "ok" if alive else "no worker"
    ready = all(state == "ok" for state in checks.values())
    body = {"status": "ok" if ready else "unavailable", "checks": checks, "oldest_due_seconds": oldest}
    return _health_response(body, ready)


def _health_response(body: dict[str, Any], ready: bool) -> JsonResponse:
    """Return the JSON response of a health check; a 503 is not logged as an error."""
    response = JsonResponse(body, status=200 if ready else 503)
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response
