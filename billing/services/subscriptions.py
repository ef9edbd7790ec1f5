"""Keeping each workspace's subscription as the payment processor has it: the only way to be entitled to paid usage."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from billing import processor
from billing.models import Subscription, UsageReport
from billing.occurrences import SESSION, Occurrence
from billing.services.alarms import Kind, raise_alarm, resolve_alarms
from billing.services.metering import LOOP
from billing.states import SubscriptionState
from config.jobs.wake_up import wake
from workspaces.customers import keep_tier

CARRIES_TIER = ("pro", "scale")
TRIES = 5
# What is not there at the processor.
NONE = SubscriptionState("", "", "", "", "", "", None, None, None)


class OutrunError(Exception):
    """Others wrote the same subscription again and again meanwhile."""


def refresh_subscription(*, workspace_id: str, customer_id: str) -> bool:
    """Ask the processor how the customer's subscriptions stand and keep the one that counts; true when that was news.

    Who was outrun by another writer asks again, so that an answer never replaces one that was asked for later.
    Raises BillingUnavailable, NotAtProcessor, OutrunError; nothing has changed then.
    """
    for _ in range(TRIES):
        row, _ = Subscription.objects.get_or_create(workspace_id=workspace_id)
        states = [
            state
            for state in processor.subscriptions_of(customer_id, retries=0)
            if state.workspace_id in ("", workspace_id)
        ]
        state = max(states, key=lambda each: each.precedence, default=NONE)
        written = _write(row, state, customer_id=customer_id)
        if written is not None:
            _look_for_several(workspace_id, states)
            return written
    raise OutrunError(workspace_id)


def believe(*, workspace_id: str, told: Occurrence) -> bool:
    """Keep what an event's own copy says, where the processor cannot be asked; true when that was news.

    Events come in any order: an older one changes nothing, nor does one about another subscription than the one that
    counts. A finished checkout speaks of a beginning alone.
    """
    state = told.state
    if state is None:
        return False
    with transaction.atomic():
        Subscription.objects.get_or_create(workspace_id=workspace_id)
        row = Subscription.objects.select_for_update().get(pk=workspace_id)
        if row.subscription_id == state.subscription_id:
            news = told.rank != SESSION and _order(told) >= (_seconds(row.told_at), row.told_rank)
        else:
            news = not row.subscription_id or state.precedence > _kept(row).precedence
        if not news:
            return False
        order = {"told_at": told.told_at, "told_rank": told.rank}
        return bool(_write(row, state, customer_id=told.customer_id, **order))


@transaction.atomic
def _write(row: Subscription, state: SubscriptionState, **further: Any) -> bool | None:
    """Write what is known now, unless another has written since the row was read (None); true when anything changed."""
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
    if state.is_running:  # of a deleted workspace too: then the sweep sees to it once more
        changes["closed_at"] = None
    changed = any(
        getattr(row, name) != value for name, value in changes.items() if name not in ("told_at", "told_rank")
    )
    rows = Subscription.objects.filter(pk=row.pk, version=row.version)
    if not rows.update(**changes, version=row.version + 1, updated_at=now):
        return None
    for name, value in changes.items():
        setattr(row, name, value)
    pays = row.entitles(now)
    keep_tier(workspace_id=row.pk, tier=row.plan if pays and row.plan in CARRIES_TIER else "free")
    if pays:
        _let_reports_go(row.pk)
    return changed


def _let_reports_go(workspace_id: str) -> None:
    """Usage that waited for a subscription that pays waits no longer."""
    rows = UsageReport.objects.filter(workspace_id=workspace_id, status=UsageReport.Status.PENDING, attempts=0)
    if rows.update(due_at=timezone.now()):
        wake(LOOP)


def _look_for_several(workspace_id: str, states: list[SubscriptionState]) -> None:
    running = sorted(state.subscription_id for state in states if state.is_running)
    if len(running) > 1:
        raise_alarm(Kind.SUBSCRIPTIONS, workspace_id, f"The customer pays for several: {', '.join(running)}.")
    else:
        resolve_alarms(Kind.SUBSCRIPTIONS, [workspace_id])


def _kept(row: Subscription) -> SubscriptionState:
    """The row as the state it was written from."""
    return SubscriptionState(
        subscription_id=row.subscription_id,
        customer_id=row.customer_id,
        workspace_id=row.workspace_id,
        status=row.status,
        plan=row.plan,
        metered_item_id=row.metered_item_id,
        began_at=row.began_at,
        current_period_end=row.current_period_end,
        ended_at=row.ended_at,
    )


def _order(told: Occurrence) -> tuple[float, int]:
    return told.told_at.timestamp(), told.rank


def _seconds(at: Any) -> float:
    return at.timestamp() if at else 0.0
