"""Cancels deleted workspaces' subscriptions at the payment processor. While that fails, a billing alarm stays open."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import F, OuterRef, QuerySet, Subquery
from django.utils import timezone

from billing import processor
from billing.errors import BillingUnavailable
from billing.models import MonthCounter, Subscription, UsageReport
from billing.processor_json import RUNNING_STATUSES
from billing.services.alarms import AlarmKind, open_or_update_alarm, resolve_alarms_about
from billing.services.subscriptions import ConcurrentUpdateError, fetch_and_apply_subscription
from billing.subscription_plans import has_payment_processor
from workspaces.models import Workspace
from workspaces.processor_customers import workspaces_having_customer_id

# How long to wait for a deleted workspace's last usage to be reported, so that the last invoice includes it.
LAST_USAGE_WAIT = timedelta(hours=1)


def cancel_subscriptions_of_deleted_workspaces(*, limit: int = 50) -> int:
    """Cancel the running subscriptions of deleted workspaces; returns the number of workspaces for which that succeeded.

    Stops at the first error, which will most likely affect the others too; the next call starts with another workspace.
    """
    ended = 0
    for workspace in deleted_workspaces_with_possibly_running_subscription()[:limit]:
        if _has_unreported_usage(workspace):
            continue
        Subscription.objects.get_or_create(workspace_id=workspace.pk)
        Subscription.objects.filter(pk=workspace.pk).update(end_tried_at=timezone.now())
        try:
            _cancel_subscriptions(workspace)
        except (BillingUnavailable, ConcurrentUpdateError) as error:
            detail = f"Its subscription could not be cancelled at the processor: {type(error).__name__}."
            open_or_update_alarm(AlarmKind.DELETED, workspace.pk, detail)
            break
        ended += 1
    return ended


def deleted_workspaces_with_possibly_running_subscription() -> QuerySet[Workspace]:
    """Return the deleted workspaces whose customer at the payment processor may still have a running subscription.

    They are ordered by the last attempt to cancel it; those without an attempt come first.
    Without an API key, these are only those whose stored subscription is running.
    """
    subscription = Subscription.objects.filter(pk=OuterRef("pk"))
    tried_at = Subquery(subscription.values("end_tried_at")[:1])
    waiting = workspaces_having_customer_id(deleted=True).exclude(
        pk__in=Subscription.objects.filter(closed_at__isnull=False).values("pk")
    )
    if not has_payment_processor():
        waiting = waiting.filter(pk__in=Subscription.objects.filter(status__in=RUNNING_STATUSES).values("pk"))
    return waiting.annotate(tried_at=tried_at).order_by(F("tried_at").asc(nulls_first=True), "pk")


def _has_unreported_usage(workspace: Workspace) -> bool:
    if timezone.now() - workspace.updated_at > LAST_USAGE_WAIT:
        return False
    pending = UsageReport.objects.filter(workspace_id=workspace.pk, status=UsageReport.Status.PENDING)
    return pending.exists() or MonthCounter.objects.filter(holder_id=workspace.pk, held_cents__gt=0).exists()


def _cancel_subscriptions(workspace: Workspace) -> None:
    customer_id = workspace.processor_customer_id
    for state in processor.fetch_subscriptions(customer_id, retries=0):
        if state.may_still_charge and state.workspace_id in ("", workspace.pk):
            processor.cancel_and_invoice_subscription(state.subscription_id)
    fetch_and_apply_subscription(workspace_id=workspace.pk, customer_id=customer_id)
    Subscription.objects.filter(pk=workspace.pk).exclude(status__in=RUNNING_STATUSES).update(closed_at=timezone.now())
    resolve_alarms_about(AlarmKind.DELETED, [workspace.pk])
