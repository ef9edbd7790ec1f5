"""Retention rules of billing: old events of the payment processor, and customer ids of deleted workspaces.

Ledger, counters, usage totals and usage reports are not deleted: they hold only ids and amounts, operators must be able to
show them for years, and the nightly reconciliation compares them.
"""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from billing.models import ProcessorEvent, Subscription
from billing.services.deleted_workspaces import deleted_workspaces_with_possibly_running_subscription
from config.db.retention import ExpiredRowsRule
from workspaces.models import Workspace
from workspaces.processor_customers import clear_customer_ids
from workspaces.retention import workspaces_to_purge

# The processor resends events for 30 days; a later copy has no effect.
PROCESSOR_EVENT_RETENTION = timedelta(days=90)


class FinishedProcessorEventsRule(ExpiredRowsRule):
    """The retention rule that deletes processed events of the payment processor after PROCESSOR_EVENT_RETENTION."""

    name = "processor_events"

    def expired_rows(self) -> QuerySet[ProcessorEvent]:
        return ProcessorEvent.objects.filter(due_at=None, received_at__lt=timezone.now() - PROCESSOR_EVENT_RETENTION)


class PurgedWorkspaceCustomersAndSubscriptionsRule(ExpiredRowsRule):
    """The retention rule that clears the Stripe customer ids of purged workspaces and deletes their stored subscriptions.

    A workspace whose subscription may still be running at Stripe waits until it is cancelled.
    """

    name = "processor_customers"

    def expired_rows(self) -> QuerySet[Workspace]:
        return workspaces_to_purge().exclude(processor_customer_id="")

    def next_rows_to_delete(self) -> QuerySet[Workspace]:
        return self.expired_rows().exclude(pk__in=deleted_workspaces_with_possibly_running_subscription().values("pk"))

    def purge(self, limit: int) -> int:
        ids = list(self.next_rows_to_delete().values_list("pk", flat=True)[:limit])
        with transaction.atomic():
            Subscription.objects.filter(pk__in=ids).delete()
            return clear_customer_ids(workspace_ids=ids)
