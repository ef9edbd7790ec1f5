"""The status of the service, read from the database, for /ops/status, /metrics, /readyz and the operators' console.

The queries are cheap enough to run every few seconds: each counts rows of a small partial index.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import ConnectedAccount
from billing.models import BillingAlarm, ProcessorEvent, UsageReport
from config.db.models import DueRow
from config.jobs.claims import unclaimed_due_rows
from config.jobs.models import Heartbeat
from config.notices.models import ChannelMessage
from media.models import MediaAsset
from posts.models import PostTarget, Series
from webhooks.models import Delivery, DeliveryStatus
from workspaces.models import OutgoingMail

# The model whose due rows each loop of settings.WORKER_LOOPS processes.
QUEUE_MODELS: dict[str, type[DueRow]] = {
    "publish": PostTarget,
    "series": Series,
    "deliver": Delivery,
    "thumbnail": MediaAsset,
    "processor_events": ProcessorEvent,
    "usage_reports": UsageReport,
    "mail": OutgoingMail,
    "notice_channels": ChannelMessage,
}
BEAT, RETENTION = "beat", "retention"  # heartbeats besides those of the loops (config/runtime/tasks.py)
ALIVE_WITHIN = timedelta(seconds=30)
BEAT_ALIVE_WITHIN = timedelta(minutes=3)
MAX_COUNTED_ROWS = 10_000


@dataclass(frozen=True)
class QueueStatus:
    """The status of one queue of background jobs: how many are due, how late they are, and whether a worker is alive.

    The count of due jobs stops at 10,000 (MAX_COUNTED_ROWS).
    """

    duty: str
    due: int
    oldest_due_at: datetime | None
    late_seconds: float
    heartbeat_at: datetime | None
    alive: bool


def service_status() -> dict[str, Any]:
    """Return the status of the service: job queues, workers, permanently failed webhook deliveries, billing alarms."""
    now, beats = timezone.now(), last_heartbeats_by_name()
    return {
        "at": now,
        "duties": queue_statuses(now),
        "periodic": {
            "beat_at": beats.get(BEAT),
            "beat_alive": is_heartbeat_recent(beats.get(BEAT), now, BEAT_ALIVE_WITHIN),
            "retention_at": beats.get(RETENTION),
        },
        "dead_letters": dead_webhook_delivery_count(),
        "accounts_needing_reauth": accounts_needing_reauth_count(),
        "ledger_drift_months": unresolved_ledger_alarm_count(),
        "billing_alarms": unresolved_billing_alarms(),
    }


def queue_statuses(now: datetime) -> list[QueueStatus]:
    """Return the status of every queue of background jobs, as a part of the service's status."""
    beats = last_heartbeats_by_name()
    return [_queue(duty, now, beats.get(duty)) for duty in QUEUE_MODELS]


def longest_overdue_seconds(duty: str, now: datetime) -> float:
    """Return how many seconds the oldest due row of a job queue has waited, for the service's status; 0 if none is due."""
    return _seconds_late(_oldest(duty, now), now)


def last_heartbeats_by_name() -> dict[str, datetime]:
    """Return the time of the last heartbeat of each background loop, Celery beat and retention, for the service's status."""
    return dict(Heartbeat.objects.values_list("duty", "beat_at"))


def is_heartbeat_recent(beat_at: datetime | None, now: datetime, within: timedelta = ALIVE_WITHIN) -> bool:
    """Return whether the last heartbeat of a loop is recent, for the service's status; False if the loop never ran."""
    return beat_at is not None and now - beat_at < within


def record_heartbeat(duty: str) -> None:
    """Record that the background loop named `duty` has run just now, for the service's status."""
    Heartbeat.objects.update_or_create(duty=duty, defaults={"beat_at": timezone.now()})


def dead_webhook_delivery_count() -> int:
    """Return the number of webhook deliveries of all workspaces that were given up, for the service's status."""
    return Delivery.objects.filter(status=DeliveryStatus.DEAD_LETTER).count()


def accounts_needing_reauth_count() -> int:
    """Return the number of social media accounts of all workspaces that must be connected again, for the service's status."""
    return ConnectedAccount.objects.filter(status=ConnectedAccount.Status.NEEDS_REAUTH).count()


def unresolved_billing_alarms() -> QuerySet[BillingAlarm]:
    """Return the billing alarms that are not resolved, oldest first, for the service's status."""
    return BillingAlarm.objects.filter(resolved_at=None).order_by("first_seen_at")


def unresolved_ledger_alarm_count() -> int:
    """Return the number of open billing alarms about counters that differ from the ledger, for the service's status."""
    return unresolved_billing_alarms().filter(kind=BillingAlarm.Kind.BOOKS).count()


def _queue(duty: str, now: datetime, beat_at: datetime | None) -> QueueStatus:
    oldest = _oldest(duty, now)
    waiting = (
        unclaimed_due_rows(QUEUE_MODELS[duty]._default_manager.all(), now=now).order_by()[:MAX_COUNTED_ROWS].count()
        if oldest
        else 0
    )
    return QueueStatus(duty, waiting, oldest, _seconds_late(oldest, now), beat_at, is_heartbeat_recent(beat_at, now))


def _oldest(duty: str, now: datetime) -> datetime | None:
    rows = unclaimed_due_rows(QUEUE_MODELS[duty]._default_manager.all(), now=now)
    return rows.values_list("due_at", flat=True).first()


def _seconds_late(oldest: datetime | None, now: datetime) -> float:
    return round((now - oldest).total_seconds(), 3) if oldest else 0.0
