"""/healthz: the process answers. /readyz: the database, the workers and their sweeps do their work. Both tell no secret."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import DatabaseError
from django.http import HttpRequest, JsonResponse
from django.utils import timezone

from config.api.handler import read_only
from config.db.due import due
from config.site.models import Heartbeat
from posts.models import PostTarget
from webhooks.models import Delivery

FRESH = timedelta(seconds=30)
OVERDUE = timedelta(minutes=5)


@read_only
def healthz(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "ok"})


@read_only
def readyz(request: HttpRequest) -> JsonResponse:
    """200 when everything works, else 503 and what does not; ages in seconds."""
    now = timezone.now()
    try:
        beats = dict(Heartbeat.objects.values_list("duty", "beat_at"))
        oldest = {"publish": _oldest(PostTarget, now), "deliver": _oldest(Delivery, now)}
    except DatabaseError:
        return _told({"status": "unavailable", "checks": {"database": "unreachable"}}, False)
    checks = {"database": "ok"}
    for duty, age in oldest.items():
        beat = beats.get(duty)
        alive = beat is not None and now - beat < FRESH
        checks[duty] = "overdue" if age > OVERDUE.total_seconds() else "ok" if alive else "no worker"
    ready = all(state == "ok" for state in checks.values())
    body = {"status": "ok" if ready else "unavailable", "checks": checks, "oldest_due_seconds": oldest}
    return _told(body, ready)


def _told(body: dict[str, Any], ready: bool) -> JsonResponse:
    """A red answer is for whoever asked; it is no fault of this request that the log should tell."""
    response = JsonResponse(body, status=200 if ready else 503)
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response


def _oldest(model: type[PostTarget] | type[Delivery], now: datetime) -> float:
    first = due(model._default_manager.all(), now=now).values_list("due_at", flat=True).first()
    return round((now - first).total_seconds(), 3) if first else 0.0
