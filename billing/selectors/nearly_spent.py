"""Reads: the budgets that are all but used, of all workspaces together."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from django.db.models import Exists, F, FloatField, OuterRef, Q
from django.db.models.functions import Cast
from django.utils import timezone

from billing.caps import MonthCaps
from billing.entitlement import PAYING
from billing.models import MonthCounter, Subscription
from billing.plans import is_paid
from config.api.caller import WorkspaceStatus
from workspaces.models import Workspace


@dataclass(frozen=True)
class BudgetUse:
    """How much of what a workspace may spend in a UTC month (`month`: its first day) is spent or held."""

    workspace_id: str
    month: date
    used_cents: int
    limit_cents: int

    @property
    def used_percent(self) -> int:
        """Whole percents, rounded down; of nothing, everything is used."""
        return 100 * self.used_cents // self.limit_cents if self.limit_cents else 100


def nearly_spent(*, percent: int, since: date, workspace_id: str | None = None) -> list[BudgetUse]:
    """The budgets of the months from `since` on of which so many percent or more are used, of live workspaces.

    What may be spent is free credit and cap, or the free credit alone where nobody pays for more.
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
        uses.append(BudgetUse(counter.holder_id, counter.month, counter.held_cents + counter.settled_cents, limit))
    return [use for use in uses if use.used_percent >= percent]


def _nearly_spent(percent: int) -> Exists:
    """Whether the counter is a workspace's that may be one of them; as floats, since two caps may be more than 64 bits."""
    free, cap = (Cast(name, FloatField()) for name in ("free_monthly_credit_cents", "monthly_spend_cap_cents"))
    reached = OuterRef("used") * 100.0 / percent
    live = Workspace.objects.filter(pk=OuterRef("holder_id")).exclude(status=WorkspaceStatus.DELETED)
    known = live.annotate(free=free, most=free + cap)
    if not is_paid():
        return Exists(known.filter(most__lte=reached))
    paying = Exists(Subscription.objects.filter(pk=OuterRef("pk"), status__in=PAYING))
    return Exists(known.filter(Q(most__lte=reached) | (Q(free__lte=reached) & ~Q(paying))))


def _paying(workspaces: dict[str, Workspace]) -> set[str]:
    """For whom more than the free credit is paid, or asked of nobody."""
    if not is_paid():
        return set(workspaces)
    now = timezone.now()
    subscriptions = Subscription.objects.exclude(status="").filter(pk__in=workspaces)
    return {subscription.pk for subscription in subscriptions if subscription.entitles(now)}


def _limit(workspace: Workspace, *, pays: bool) -> int:
    """In cents; a workspace always has a cap."""
    free, cap = workspace.free_monthly_credit_cents, workspace.monthly_spend_cap_cents
    return MonthCaps(workspace.pk, "workspace", cap, free, None, pays=pays).limit_cents or 0
