"""Finds events that need an e-mail notice and are new since the last search, such as failed posts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from accounts.models import ConnectedAccount
from agents.models import ApiKey
from billing.caps import first_day_of_utc_month
from billing.nearly_spent_budgets import nearly_spent_budgets
from config.api.caller import WorkspaceStatus
from config.notices.models import Notice, NoticeKind
from webhooks.event_kinds import EventKind
from webhooks.models import Delivery, DeliveryStatus, Event

BUDGET_THRESHOLDS = (80, 100)


@dataclass(frozen=True)
class NoticeToStore:
    """An event that needs an e-mail notice; its fields are those of the model Notice."""

    workspace_id: str
    occurrence: str
    at: datetime
    about: str = ""


def _events(*kinds: EventKind) -> QuerySet[Event]:
    """Return the webhook events of the given kinds that need notices; sandbox events cause no e-mail notices."""
    return Event.objects.filter(sandbox=False, kind__in=kinds)


# Where events are found, except budgets: the rows, and their columns with the time and the affected resource's id.
_SOURCES: dict[NoticeKind, tuple[QuerySet[Any], str, str]] = {
    NoticeKind.APPROVAL: (_events(EventKind.PENDING_CONFIRMATION), "created_at", "post_group_id"),
    NoticeKind.POST: (_events(EventKind.FAILED, EventKind.PARTIAL, EventKind.UNCONFIRMED), "created_at", "post_group_id"),
    NoticeKind.ACCOUNT: (
        ConnectedAccount.objects.filter(sandbox=False, status=ConnectedAccount.Status.NEEDS_REAUTH),
        "updated_at",
        "pk",
    ),
    NoticeKind.DELIVERY: (
        Delivery.objects.filter(status=DeliveryStatus.DEAD_LETTER, event__sandbox=False),
        "given_up_at",
        "pk",
    ),
    NoticeKind.SERIES: (_events(EventKind.OCCURRENCE_REFUSED), "created_at", "subject_id"),
    NoticeKind.KEY: (ApiKey.objects.all(), "new_network_at", "pk"),
}


def find_events_needing_notice(kind: NoticeKind, *, since: datetime, limit: int) -> list[NoticeToStore]:
    """Return the earliest `limit` events since a time that need an e-mail notice of this kind and have none yet."""
    if kind == NoticeKind.BUDGET:
        return _nearly_spent_budgets(limit)
    rows, at, about = _SOURCES[kind]
    noticed = Notice.objects.filter(kind=kind, occurrence=OuterRef("pk"), at=OuterRef(at))
    recent = rows.filter(**{f"{at}__gte": since}).exclude(workspace__status=WorkspaceStatus.DELETED)
    new = recent.exclude(Exists(noticed)).order_by(at, "pk")
    return [NoticeToStore(*found) for found in new.values_list("workspace_id", "pk", at, about)[:limit]]


def _nearly_spent_budgets(limit: int) -> list[NoticeToStore]:
    """Return the events for which budget notices are due: 80 % or 100 % used (spent or reserved), not reported yet."""
    found = [
        NoticeToStore(
            budget.workspace_id,
            f"{budget.workspace_id}:{percent}:{budget.limit_cents}",
            datetime.combine(budget.month, time.min, UTC),
        )
        for budget in nearly_spent_budgets(percent=BUDGET_THRESHOLDS[0], since=first_day_of_utc_month(timezone.now()))
        for percent in BUDGET_THRESHOLDS
        if budget.used_percent >= percent
    ]
    if not found:
        return []
    notices = Notice.objects.filter(kind=NoticeKind.BUDGET, at__gte=min(each.at for each in found))
    noticed = set(notices.values_list("occurrence", "at"))
    return [each for each in found if (each.occurrence, each.at) not in noticed][:limit]
