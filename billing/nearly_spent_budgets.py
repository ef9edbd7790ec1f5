"""Finds the workspaces whose monthly budget is nearly or fully spent."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from django.db.models import Exists, F, FloatField, OuterRef, Q
from django.db.models.functions import Cast
from django.utils import timezone

from billing.caps import MonthlyCaps
from billing.models import MonthCounter, Subscription
from billing.processor_json import PAYING_STATUSES
from billing.subscription_plans import has_payment_processor
from config.api.caller import WorkspaceStatus
from workspaces.models import Workspace


@dataclass(frozen=True)
class WorkspaceBudgetUse:
    """How much of its nearly spent budget a workspace has used in a UTC month: the cents spent or reserved."""

    workspace_id: str
    month: date
    used_cents: int
    limit_cents: int

    @property
    def used_percent(self) -> int:
        """Return the used part of a nearly spent budget in whole percent, rounded down; 100 for a budget of 0."""
        return 100 * self.used_cents // self.limit_cents if self.limit_cents else 100


def nearly_spent_budgets(*, percent: int, since: date, workspace_id: str | None = None) -> list[WorkspaceBudgetUse]:
    """Return the workspace budgets of which at least `percent` % are used, for the month `since` and later months.

    A budget is free credit plus cap, or the free credit alone if nobody pays for more. Deleted workspaces are left out.
    """
    used = F("held_cents") + F("settled_cents")
    rows = MonthCounter.objects.filter(month__gte=since).annotate(used=used).filter(_nearly_spent(percent), used__gt=0)
    if workspace_id:
        rows = rows.filter(holder_id=workspace_id)
    counters = list(rows.order_by("month", "holder_id"))
    workspaces = Workspace.objects.in_bulk({counter.holder_id for counter in counters})
    paying = _paying(workspaces)
    uses = []
    for counter in counters:
        limit = _limit(workspaces[counter.holder_id], pays=counter.holder_id in paying)
        uses.append(WorkspaceBudgetUse(counter.holder_id, counter.month, counter.held_cents + counter.settled_cents, limit))
    return [use for use in uses if use.used_percent >= percent]


def _nearly_spent(percent: int) -> Exists:
    """Return the database filter for months in which a workspace has used at least `percent` % of its budget.

    It uses floats, because sums may exceed 64 bits.
    """
    free, cap = (Cast(name, FloatField()) for name in ("free_monthly_credit_cents", "monthly_spend_cap_cents"))
    reached = OuterRef("used") * 100.0 / percent
    live = Workspace.objects.filter(pk=OuterRef("holder_id")).exclude(status=WorkspaceStatus.DELETED)
    budgets = live.annotate(free=free, limit=free + cap)
    if not has_payment_processor():
        return Exists(budgets.filter(limit__lte=reached))
    paying = Exists(Subscription.objects.filter(pk=OuterRef("pk"), status__in=PAYING_STATUSES))
    return Exists(budgets.filter(Q(limit__lte=reached) | (Q(free__lte=reached) & ~Q(paying))))


def _paying(workspaces: dict[str, Workspace]) -> set[str]:
    """Return which of these workspaces may spend beyond their free credit: those that pay, or all if no payment is needed."""
    if not has_payment_processor():
        return set(workspaces)
    now = timezone.now()
    subscriptions = Subscription.objects.exclude(status="").filter(pk__in=workspaces)
    return {subscription.pk for subscription in subscriptions if subscription.pays_for_usage_at(now)}


def _limit(workspace: Workspace, *, pays: bool) -> int:
    """Return the budget that may be nearly spent, in cents: the free credit plus, if more may be spent, the spend cap."""
    free, cap = workspace.free_monthly_credit_cents, workspace.monthly_spend_cap_cents
    return MonthlyCaps(workspace.pk, "workspace", cap, free, None, pays=pays).spending_limit_cents or 0
