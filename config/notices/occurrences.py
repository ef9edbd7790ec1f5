"""Finds new occurrences to notify about, in the tables of the apps; ignores the sandbox and deleted workspaces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from accounts.models import ConnectedAccount
from agents.models import ApiKey
from billing.caps import month_of
from billing.nearly_spent_budgets import BudgetUse, nearly_spent_budgets
from config.api.caller import WorkspaceStatus
from config.notices.models import Notice, NoticeKind
from webhooks.event_kinds import EventKind
from webhooks.models import Delivery, DeliveryStatus, Event

BUDGET_THRESHOLDS = (80, 100)


@dataclass(frozen=True)
class Occurrence:
    """An occurrence to report in an e-mail notice; its fields are those of Notice."""

    workspace_id: str
    occurrence: str
    at: datetime
    about: str = ""


def new_occurrences(kind: NoticeKind, *, since: datetime, limit: int) -> list[Occurrence]:
    """Return up to `limit` occurrences of a kind since then that have no notice yet, the earliest first."""
    return _SOURCES[kind](since, limit)


def _approvals(since: datetime, limit: int) -> list[Occurrence]:
    return _events(NoticeKind.APPROVAL, [EventKind.PENDING_CONFIRMATION], since, limit)


def _posts(since: datetime, limit: int) -> list[Occurrence]:
    return _events(NoticeKind.POST, [EventKind.FAILED, EventKind.PARTIAL, EventKind.UNCONFIRMED], since, limit)


def _events(kind: NoticeKind, events: Sequence[EventKind], since: datetime, limit: int) -> list[Occurrence]:
    """Find occurrences among events, which are stored even if no webhook gets them."""
    rows = Event.objects.filter(sandbox=False, kind__in=events, created_at__gte=since)
    return _without_notice(kind, rows, "created_at", "post_group_id", limit)


def _accounts(since: datetime, limit: int) -> list[Occurrence]:
    rows = ConnectedAccount.objects.filter(
        sandbox=False, status=ConnectedAccount.Status.NEEDS_REAUTH, updated_at__gte=since
    )
    return _without_notice(NoticeKind.ACCOUNT, rows, "updated_at", "pk", limit)


def _deliveries(since: datetime, limit: int) -> list[Occurrence]:
    rows = Delivery.objects.filter(status=DeliveryStatus.DEAD_LETTER, given_up_at__gte=since, event__sandbox=False)
    return _without_notice(NoticeKind.DELIVERY, rows, "given_up_at", "pk", limit)


def _keys(since: datetime, limit: int) -> list[Occurrence]:
    return _without_notice(
        NoticeKind.KEY, ApiKey.objects.filter(new_network_at__gte=since), "new_network_at", "pk", limit
    )


def _without_notice(kind: NoticeKind, rows: QuerySet[Any], at: str, about: str, limit: int) -> list[Occurrence]:
    noticed = Notice.objects.filter(kind=kind, occurrence=OuterRef("pk"), at=OuterRef(at))
    new = rows.exclude(workspace__status=WorkspaceStatus.DELETED).exclude(Exists(noticed)).order_by(at, "pk")
    return [Occurrence(*found) for found in new.values_list("workspace_id", "pk", at, about)[:limit]]


def _budgets(since: datetime, limit: int) -> list[Occurrence]:
    """Find nearly spent budgets of this and later months; a changed limit counts as a new occurrence."""
    found = [
        Occurrence(budget.workspace_id, f"{budget.workspace_id}:{percent}:{budget.limit_cents}", _start_of(budget))
        for budget in nearly_spent_budgets(percent=BUDGET_THRESHOLDS[0], since=month_of(timezone.now()))
        for percent in BUDGET_THRESHOLDS
        if budget.used_percent >= percent
    ]
    if not found:
        return []
    notices = Notice.objects.filter(kind=NoticeKind.BUDGET, at__gte=min(news.at for news in found))
    noticed = set(notices.values_list("occurrence", "at"))
    return [news for news in found if (news.occurrence, news.at) not in noticed][:limit]


def _start_of(budget: BudgetUse) -> datetime:
    return datetime.combine(budget.month, time.min, UTC)


_SOURCES: dict[NoticeKind, Callable[[datetime, int], list[Occurrence]]] = {
    NoticeKind.APPROVAL: _approvals,
    NoticeKind.POST: _posts,
    NoticeKind.ACCOUNT: _accounts,
    NoticeKind.DELIVERY: _deliveries,
    NoticeKind.BUDGET: _budgets,
    NoticeKind.KEY: _keys,
}
