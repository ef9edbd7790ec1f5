"""The payment processor's events, which may name people, and the customers of workspaces that were deleted long ago.

The books stay: ledger, counters, usage and its reports hold ids and figures only, are what an operator has to show for
years, and are what the nightly look compares.
"""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from billing.models import ProcessorEvent, Subscription
from billing.services.endings import not_closed
from config.db.retention import ExpiredRows
from workspaces.customers import forget_customers
from workspaces.models import Workspace
from workspaces.retention import workspaces_to_purge

# The processor can send an event again for 30 days; a copy that comes later has no effect of its own.
KEPT_EVENTS = timedelta(days=90)


class ProcessorEvents(ExpiredRows):
    """Those that have had their effect, or will have none."""

    name = "processor_events"

    def rows(self) -> QuerySet[ProcessorEvent]:
        return ProcessorEvent.objects.filter(due_at=None, received_at__lt=timezone.now() - KEPT_EVENTS)


class CustomersOfPurged(ExpiredRows):
    """The service's own memory of who they were at the processor, once nothing of theirs runs there any more."""

    name = "processor_customers"

    def rows(self) -> QuerySet[Workspace]:
        return workspaces_to_purge().exclude(processor_customer_id="")

    def ready(self) -> QuerySet[Workspace]:
        return self.rows().exclude(pk__in=not_closed().values("pk"))

    def purge(self, limit: int) -> int:
        ids = list(self.ready().values_list("pk", flat=True)[:limit])
        with transaction.atomic():
            Subscription.objects.filter(pk__in=ids).delete()
            return forget_customers(workspace_ids=ids)
