"""GET /metrics for Prometheus: counters of this machine's processes, and values read from the database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from config.api.error_handlers import django_error_response
from config.api.errors import ApiError
from config.api.views import require_safe_with_json_error
from config.console import status
from config.console.ops.authentication import require_admin_token


@require_safe_with_json_error
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer GET /metrics in Prometheus's format; 404 if the setting ADMIN_TOKEN is empty, 401 if the request lacks it."""
    try:
        require_admin_token(request)
    except ApiError as error:
        return django_error_response(error)
    registry = CollectorRegistry()
    MultiProcessCollector(registry)
    registry.register(DatabaseGaugesCollector())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


class DatabaseGaugesCollector(Collector):
    """Reads the Prometheus gauges, such as queue lengths, from the database at each request to /metrics."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        try:
            families = list(self._families())
        except DatabaseError:
            families = []
        yield GaugeMetricFamily("sps_database_up", "Whether the database could be read.", value=bool(families))
        yield from families

    def _families(self) -> Iterator[GaugeMetricFamily]:
        now = timezone.now()
        queues = status.queue_statuses(now)
        yield _gauge_by_label(
            "sps_queue_oldest_due_seconds",
            "How long the oldest due row of a queue (duty) has been due.",
            "duty",
            {queue.duty: queue.late_seconds for queue in queues},
        )
        yield _gauge_by_label(
            "sps_queue_due_rows",
            f"How many rows of a queue (duty) are due, counted up to {status.MAX_COUNTED_ROWS}.",
            "duty",
            {queue.duty: queue.due for queue in queues},
        )
        yield _gauge_by_label(
            "sps_heartbeat_age_seconds",
            "Seconds since the last run of a worker loop, the beat or a complete retention.",
            "duty",
            {duty: (now - beat_at).total_seconds() for duty, beat_at in status.last_heartbeats_by_name().items()},
        )
        alarms = Counter(status.unresolved_billing_alarms().values_list("kind", flat=True))
        yield _gauge_by_label("sps_billing_alarms", "Open billing alarms.", "kind", alarms)
        yield GaugeMetricFamily(
            "sps_ledger_drift_months",
            "Months whose counter differed from the sum of the ledger entries at the last nightly check.",
            value=status.unresolved_ledger_alarm_count(),
        )
        yield GaugeMetricFamily(
            "sps_dead_letters", "Deliveries that were given up.", value=status.dead_webhook_delivery_count()
        )
        yield GaugeMetricFamily(
            "sps_accounts_needing_reauth",
            "Connected accounts that a person must reconnect.",
            value=status.accounts_needing_reauth_count(),
        )


def _gauge_by_label(name: str, description: str, label: str, values: dict[str, float] | Counter[str]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, description, labels=[label])
    for which, value in values.items():
        family.add_metric([which], value)
    return family
