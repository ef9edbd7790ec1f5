"""The subscriptions of deleted workspaces are ended at the payment processor, and operators hear of it until it is done."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import F, OuterRef, QuerySet, Subquery
from django.utils import timezone

from billing import processor
from billing.entitlement import RUNNING
from billing.errors import BillingUnavailable
from billing.models import MonthCounter, Subscription, UsageReport
from billing.plans import is_paid
from billing.services.alarms import Kind, raise_alarm, resolve_alarms
from billing.services.subscriptions import OutrunError, refresh_subscription
from workspaces.customers import customer_workspaces
from workspaces.models import Workspace

# So long the last usage of a deleted workspace may take to be settled and reported, so that the last invoice holds it.
LAST_USAGE = timedelta(hours=1)


def end_subscriptions_of_deleted_workspaces(*, limit: int = 50) -> int:
    """Cancel what still runs for deleted workspaces; returns for how many nothing runs any more.

    The first fault ends the round, since it will most likely meet the others too; the next one begins with another.
    """
    ended = 0
    for workspace in not_closed()[:limit]:
        if _has_usage_on_its_way(workspace):
            continue
        Subscription.objects.get_or_create(workspace_id=workspace.pk)
        Subscription.objects.filter(pk=workspace.pk).update(end_tried_at=timezone.now())
        try:
            _end(workspace)
        except (BillingUnavailable, OutrunError) as error:
            detail = f"Its subscription could not be ended at the processor: {type(error).__name__}."
            raise_alarm(Kind.DELETED, workspace.pk, detail)
            break
        ended += 1
    return ended


def not_closed() -> QuerySet[Workspace]:
    """The deleted workspaces of which something may still run at the processor; who was tried longest ago comes first.

    Without a key, those of which something is known to run.
    """
    seen_to = Subscription.objects.filter(pk=OuterRef("pk"))
    tried_at = Subquery(seen_to.values("end_tried_at")[:1])
    waiting = customer_workspaces(deleted=True).exclude(
        pk__in=Subscription.objects.filter(closed_at__isnull=False).values("pk")
    )
    if not is_paid():
        waiting = waiting.filter(pk__in=Subscription.objects.filter(status__in=RUNNING).values("pk"))
    return waiting.annotate(tried_at=tried_at).order_by(F("tried_at").asc(nulls_first=True), "pk")


def _has_usage_on_its_way(workspace: Workspace) -> bool:
    if timezone.now() - workspace.updated_at > LAST_USAGE:
        return False
    pending = UsageReport.objects.filter(workspace_id=workspace.pk, status=UsageReport.Status.PENDING)
    return pending.exists() or MonthCounter.objects.filter(holder_id=workspace.pk, held_cents__gt=0).exists()


def _end(workspace: Workspace) -> None:
    customer_id = workspace.processor_customer_id
    for state in processor.subscriptions_of(customer_id, retries=0):
        if state.may_still_cost and state.workspace_id in ("", workspace.pk):
            processor.cancel_subscription(state.subscription_id)
    refresh_subscription(workspace_id=workspace.pk, customer_id=customer_id)
    Subscription.objects.filter(pk=workspace.pk).exclude(status__in=RUNNING).update(closed_at=timezone.now())
    resolve_alarms(Kind.DELETED, [workspace.pk])
