"""Builds the content of e-mail notices: what happened in which workspace, what to do, and how to turn the notices off.

The e-mails contain no post texts and no secrets, and only the host of a webhook URL.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format

from accounts.models import ConnectedAccount
from accounts.platforms.registry import get_adapter
from agents.models import ApiKey
from billing.nearly_spent_budgets import WorkspaceBudgetUse, nearly_spent_budgets
from config.notices.events import BUDGET_THRESHOLDS
from config.notices.models import Notice, NoticeKind
from posts.models import PostGroup, SeriesOccurrence
from posts.post_group_json import approval_url
from posts.selectors import groups_with_targets
from posts.states import RETRYABLE_GROUP_STATUSES, GroupStatus
from webhooks.models import Delivery, DeliveryStatus
from webhooks.retention import EVENT_RETENTION
from workspaces.models import Workspace
from workspaces.services import MailItem, MailMessage, one_line_name

MAX_LINES = 10  # of one e-mail; the linked page shows all
PLAN_HASH_LENGTH = len("sha256:") + 12  # as much of it as a person compares
STATUS_PHRASES = {
    GroupStatus.FAILED: "failed",
    GroupStatus.PARTIAL: "failed on some of its accounts",
    GroupStatus.UNCONFIRMED: "may or may not be published",
}


@dataclass(frozen=True)
class _Body:
    """The parts of a notice e-mail: subject, summaries, how many there are, what the reader can do, its link, until when."""

    subject: str
    items: Sequence[MailItem]
    number: int
    todo: str
    button: str
    address: str
    until: str


def build_email(kind: NoticeKind, workspace: Workspace, notices: QuerySet[Notice]) -> MailMessage | None:
    """Build one e-mail from a workspace's notices of one kind, without resolved ones; return None if all are resolved."""
    body = _BODIES[kind](workspace, notices)
    if body is None:
        return None
    more = [MailItem(f"and {body.number - len(body.items)} more")] if body.number > len(body.items) else []
    return MailMessage(
        subject=body.subject,
        workspace_name=one_line_name(workspace.name),
        happened=f"{body.subject}.",
        items=[*body.items, *more],
        todo=body.todo,
        button=body.button,
        address=body.address,
        until=body.until,
        reason=f"You get this as a member of {one_line_name(workspace.name)}. Change which notices you get here:",
        choices_address=_page(workspace, "notices"),
    )


def _approvals(workspace: Workspace, notices: QuerySet[Notice]) -> _Body | None:
    groups = _groups(notices).filter(status=GroupStatus.PENDING_CONFIRMATION)
    number, name = groups.count(), one_line_name(workspace.name)
    if not number:
        return None
    return _Body(
        f"A post waits for approval in {name}" if number == 1 else f"{number} posts wait for approval in {name}",
        [
            MailItem(_described(group, workspace), _plan_line(group), approval_url(group) or "")
            for group in groups[:MAX_LINES]
        ],
        number,
        "Nothing is published until somebody approves it. The page of each post shows what would be published, and the "
        "whole hash of its plan.",
        "See all posts that wait for approval",
        _page(workspace, "approvals"),
        "Approve or reject each post before its time. One that is approved later is published at once.",
    )


def _posts(workspace: Workspace, notices: QuerySet[Notice]) -> _Body | None:
    groups = _groups(notices).filter(status__in=RETRYABLE_GROUP_STATUSES)
    number, shown = groups.count(), list(groups[:MAX_LINES])
    if not number:
        return None
    became = STATUS_PHRASES[GroupStatus(shown[0].status)] if number == 1 else "failed or may not be published"
    return _Body(
        f"{'A post' if number == 1 else f'{number} posts'} of {one_line_name(workspace.name)} {became}",
        [
            MailItem(
                f"{_described(group, workspace)}: {STATUS_PHRASES[GroupStatus(group.status)]}",
                address=_page(workspace, "post", post_group_id=group.id),
            )
            for group in shown
        ],
        number,
        "Open a post to see the reason, and to retry it. If a post may be published, check on the platform first and enter "
        "the result: it is not retried automatically.",
        "See all posts that need attention",
        _page(workspace, "home"),
        "There is no deadline. Nothing more is published until somebody acts.",
    )


def _accounts(workspace: Workspace, notices: QuerySet[Notice]) -> _Body | None:
    rows = ConnectedAccount.objects.filter(
        pk__in=notices.values("about"), status=ConnectedAccount.Status.NEEDS_REAUTH
    ).order_by("platform", "pk")
    number, name = rows.count(), one_line_name(workspace.name)
    if not number:
        return None
    return _Body(
        f"An account of {name} has to be reconnected"
        if number == 1
        else f"{number} accounts of {name} have to be reconnected",
        [
            MailItem(f"{get_adapter(row.platform).label}: {one_line_name(row.handle or row.external_id)}")
            for row in rows[:MAX_LINES]
        ],
        number,
        "The platform no longer accepts the connection. Connect the account again.",
        "Reconnect",
        _page(workspace, "accounts"),
        "Posts to the account fail until it is reconnected.",
    )


def _series(workspace: Workspace, notices: QuerySet[Notice]) -> _Body | None:
    refused = SeriesOccurrence.objects.filter(
        series__in=notices.values("about"), at__gt=timezone.now(), error__isnull=False, group=None, withdrawn=False
    )
    rows = refused.select_related("series").order_by("at")
    number, name = rows.count(), one_line_name(workspace.name)
    if not number:
        return None
    return _Body(
        f"A post of a series of {name} could not be scheduled"
        if number == 1
        else f"{number} posts of series of {name} could not be scheduled",
        [
            MailItem(
                f"{one_line_name(row.series.name or 'Series')}, {_time(row.at, workspace)}: "
                f"{one_line_name(row.error['message'])}"
            )
            for row in rows[:MAX_LINES]
        ],
        number,
        "Remove the reason, or have the series changed or the post skipped by the API. The calendar shows what is scheduled.",
        "Open the calendar",
        _page(workspace, "calendar"),
        "The service tries again until the time of the post.",
    )


def _deliveries(workspace: Workspace, notices: QuerySet[Notice]) -> _Body | None:
    rows = Delivery.objects.filter(pk__in=notices.values("about"), status=DeliveryStatus.DEAD_LETTER)
    number, name = rows.count(), one_line_name(workspace.name)
    if not number:
        return None
    shown = rows.select_related("event").defer("event__payload").order_by("-pk")[:MAX_LINES]
    return _Body(
        f"A webhook delivery of {name} was given up"
        if number == 1
        else f"{number} webhook deliveries of {name} were given up",
        [MailItem(f"{row.event.kind} to {row.host or 'an address that is not allowed'}, {_why(row)}") for row in shown],
        number,
        "All attempts failed, so your receiver did not get the event. Fix the receiver, then replay the delivery.",
        "See the deliveries",
        _page(workspace, "webhooks"),
        f"A delivery can be replayed until {EVENT_RETENTION.days} days after its event.",
    )


def _budgets(workspace: Workspace, notices: QuerySet[Notice]) -> _Body | None:
    months = {moment.date() for moment in notices.values_list("at", flat=True)}
    near = nearly_spent_budgets(percent=BUDGET_THRESHOLDS[0], since=min(months), workspace_id=workspace.pk) if months else []
    uses = [use for use in near if use.month in months]
    if not uses:
        return None
    most = max(uses, key=lambda use: use.used_percent)
    share = "All" if most.used_percent >= 100 else f"{most.used_percent} %"
    return _Body(
        f"{share} of the budget of {one_line_name(workspace.name)} for {most.month:%B %Y} is used",
        [MailItem(_spent(use)) for use in uses],
        len(uses),
        "Posts beyond the budget are refused; posts already scheduled are published. To raise it, change the cap in the "
        "settings or subscribe.",
        "See how the budget was used",
        _page(workspace, "usage"),
        "The budget of the next month begins on its first day, at 00:00 UTC.",
    )


def _keys(workspace: Workspace, notices: QuerySet[Notice]) -> _Body | None:
    rows = ApiKey.objects.filter(pk__in=notices.values("about"), revoked_at=None, new_network_at__isnull=False)
    number, name = rows.count(), one_line_name(workspace.name)
    if not number:
        return None
    return _Body(
        f"An API key of {name} was used from another network"
        if number == 1
        else f"{number} API keys of {name} were used from other networks",
        [MailItem(_new_network(row, workspace)) for row in rows.order_by("-new_network_at")[:MAX_LINES]],
        number,
        "If nobody in your team uses that network, the key may have leaked: revoke it and create another one.",
        "See the API keys",
        _page(workspace, "api-keys"),
        "A key works until it is revoked or ends.",
    )


_BODIES: dict[NoticeKind, Callable[[Workspace, QuerySet[Notice]], _Body | None]] = {
    NoticeKind.APPROVAL: _approvals,
    NoticeKind.POST: _posts,
    NoticeKind.ACCOUNT: _accounts,
    NoticeKind.DELIVERY: _deliveries,
    NoticeKind.BUDGET: _budgets,
    NoticeKind.SERIES: _series,
    NoticeKind.KEY: _keys,
}


def _groups(notices: QuerySet[Notice]) -> QuerySet[PostGroup]:
    return groups_with_targets().filter(pk__in=notices.values("about")).order_by("-pk")


def _described(group: PostGroup, workspace: Workspace) -> str:
    """Return the line that describes a post in a notice e-mail: its platforms and times, but not its text."""
    names = dict.fromkeys(get_adapter(target.platform).label for target in group.targets.all())
    first = group.earliest_scheduled_at
    when = f"for {_time(first, workspace)}" if first else "without a time"
    return f"To {', '.join(names)}, {when}, created {_time(group.created_at, workspace)}"


def _plan_line(group: PostGroup) -> str:
    """Return the beginning of the hash of a post's plan, for a notice e-mail; the page of the post shows the whole hash."""
    return f"Plan {group.plan_hash[:PLAN_HASH_LENGTH]}…" if group.plan_hash else ""


def _why(row: Delivery) -> str:
    return f"last answer {row.last_status_code}" if row.last_status_code else "no answer"


def _new_network(key: ApiKey, workspace: Workspace) -> str:
    details = [*(key.seen_networks or [])[-1:], *([_time(key.new_network_at, workspace)] if key.new_network_at else [])]
    return f"{one_line_name(key.name)} ({key.prefix}…): {', '.join(details)}"


def _spent(use: WorkspaceBudgetUse) -> str:
    used, limit = _money(use.used_cents), _money(use.limit_cents)
    return f"{use.month:%B %Y}: {used} of {limit} is spent or reserved for scheduled posts"


def _money(cents: int) -> str:
    return f"${cents // 100:,}.{cents % 100:02d}"


def _time(moment: datetime, workspace: Workspace) -> str:
    local = timezone.localtime(moment, ZoneInfo(workspace.default_timezone))
    return f"{date_format(local, 'j M Y, H:i')} ({workspace.default_timezone})"


def _page(workspace: Workspace, route: str, **named: str) -> str:
    return f"{settings.BASE_URL}{reverse(route, kwargs={'workspace_id': workspace.pk, **named})}"
