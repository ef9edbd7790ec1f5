"""Saves the workspaces' subscriptions as the payment processor has them. No other module writes subscriptions."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from billing import processor
from billing.models import Subscription, UsageReport
from billing.processor_json import CHECKOUT_EVENT_RANK, PAST_DUE, PAYING_STATUSES, SubscriptionEvent, SubscriptionState
from billing.services.alarms import AlarmKind, open_or_update_alarm, resolve_alarms_about
from billing.services.usage_reporting import USAGE_REPORTS_LOOP
from config.jobs.wake_up import wake_worker_loop_after_commit
from workspaces.processor_customers import set_audit_retention_tier

PLANS_WITH_OWN_RETENTION_TIER = ("pro", "scale")
MAX_TRIES = 5
# The state of a workspace without a subscription at the processor.
NO_SUBSCRIPTION = SubscriptionState("", "", "", "", "", "", None, None, None)


class ConcurrentUpdateError(Exception):
    """The error if a subscription could not be saved in MAX_TRIES attempts, because other writers changed it each time."""


def fetch_and_apply_subscription(*, workspace_id: str, customer_id: str) -> bool:
    """Fetch a customer's subscriptions from the payment processor, save and apply the main one; returns whether it changed.

    If another writer was faster, the processor is asked again, so that an old answer never replaces a newer one. It also sets
    how long audit entries are kept, makes waiting usage reports due if the subscription pays for them, and raises or resolves
    the alarm about several running subscriptions. Raises BillingUnavailable, UnknownToProcessor, ConcurrentUpdateError; then
    at most an empty row was created.
    """
    for _ in range(MAX_TRIES):
        row, _ = Subscription.objects.get_or_create(workspace_id=workspace_id)
        states = [
            state
            for state in processor.fetch_subscriptions(customer_id, retries=0)
            if state.workspace_id in ("", workspace_id)
        ]
        state = max(states, key=_precedence, default=NO_SUBSCRIPTION)
        written = _write(row, state, customer_id=customer_id)
        if written is not None:
            _alarm_if_several(workspace_id, states)
            return written
    raise ConcurrentUpdateError(workspace_id)


def apply_subscription_from_event(*, workspace_id: str, event: SubscriptionEvent) -> bool:
    """Save and apply a workspace's subscription as an event of the payment processor shows it; returns whether it changed.

    This is for services without an API key to fetch it. It also sets how long audit entries are kept, and makes waiting usage
    reports due if the subscription pays for them. Events arrive in any order. An older event changes nothing, nor does one
    about a less relevant subscription. A finished checkout only starts a subscription.
    """
    state = event.state
    if state is None:
        return False
    with transaction.atomic():
        Subscription.objects.get_or_create(workspace_id=workspace_id)
        row = Subscription.objects.select_for_update().get(pk=workspace_id)
        if row.subscription_id == state.subscription_id:
            is_newer = event.rank != CHECKOUT_EVENT_RANK and _order(event) >= (
                _seconds(row.last_event_at),
                row.last_event_rank,
            )
        else:
            is_newer = not row.subscription_id or _precedence(state) > _precedence(row)
        if not is_newer:
            return False
        order = {"last_event_at": event.occurred_at, "last_event_rank": event.rank}
        return bool(_write(row, state, customer_id=event.customer_id, **order))


@transaction.atomic
def _write(row: Subscription, state: SubscriptionState, **further: Any) -> bool | None:
    """Save a subscription of the payment processor; returns whether it changed, None if another process was faster."""
    now = timezone.now()
    changes: dict[str, Any] = {
        "subscription_id": state.subscription_id,
        "metered_item_id": state.metered_item_id,
        "plan": state.plan,
        "status": state.status,
        "status_since": row.status_since if row.status == state.status else now,
        "began_at": state.began_at,
        "current_period_end": state.current_period_end,
        "ended_at": state.ended_at,
        **further,
    }
    if state.has_started_and_not_ended:  # a deleted workspace's running subscription is then cancelled again
        changes["closed_at"] = None
    changed = any(
        getattr(row, name) != value for name, value in changes.items() if name not in ("last_event_at", "last_event_rank")
    )
    rows = Subscription.objects.filter(pk=row.pk, version=row.version)
    if not rows.update(**changes, version=row.version + 1, updated_at=now):
        return None
    for name, value in changes.items():
        setattr(row, name, value)
    pays = row.pays_for_usage_at(now)
    set_audit_retention_tier(
        workspace_id=row.pk, tier=row.plan if pays and row.plan in PLANS_WITH_OWN_RETENTION_TIER else "free"
    )
    if pays:
        _send_waiting_reports(row.pk)
    return changed


def _send_waiting_reports(workspace_id: str) -> None:
    """Make a workspace's usage reports due for sending at once, because the workspace now has a paying subscription."""
    rows = UsageReport.objects.filter(workspace_id=workspace_id, status=UsageReport.Status.PENDING, attempts=0)
    if rows.update(due_at=timezone.now()):
        wake_worker_loop_after_commit(USAGE_REPORTS_LOOP)


def _alarm_if_several(workspace_id: str, states: list[SubscriptionState]) -> None:
    running = sorted(state.subscription_id for state in states if state.has_started_and_not_ended)
    if len(running) > 1:
        open_or_update_alarm(
            AlarmKind.SUBSCRIPTIONS, workspace_id, f"The customer has several running subscriptions: {', '.join(running)}."
        )
    else:
        resolve_alarms_about(AlarmKind.SUBSCRIPTIONS, [workspace_id])


def _precedence(subscription: Subscription | SubscriptionState) -> tuple[bool, bool, float]:
    """Return a sort key for choosing the subscription to save: paying ones rank highest, then running ones, then newer."""
    pays = subscription.status in (*PAYING_STATUSES, PAST_DUE)
    return pays, subscription.has_started_and_not_ended, _seconds(subscription.began_at)


def _order(event: SubscriptionEvent) -> tuple[float, int]:
    return event.occurred_at.timestamp(), event.rank


def _seconds(at: Any) -> float:
    return at.timestamp() if at else 0.0
