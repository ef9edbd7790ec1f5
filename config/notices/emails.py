"""Builds the content of e-mail notices: what happened in which workspace, what to do, and how to turn the notices off.

The e-mails contain no post texts and no secrets, and only the host of a webhook URL.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext, pgettext
from django.utils.translation import gettext_lazy as _

from accounts.models import ConnectedAccount
from accounts.platforms.registry import get_adapter
from agents.models import ApiKey
from billing.nearly_spent_budgets import nearly_spent_budgets
from config.notices.email_lines import (
    budget_line,
    new_ip_network_line,
    plan_hash_line,
    post_line,
    time_with_zone_name,
    webhook_delivery_line,
)
from config.notices.events import BUDGET_THRESHOLDS
from config.notices.models import Notice, NoticeKind
from config.pages.language import format_date
from config.pages.message_templates import translated_message
from posts.models import PostGroup, SeriesOccurrence
from posts.post_group_json import approval_url, decision_url
from posts.selectors import groups_prefetching_targets
from posts.states import RETRYABLE_GROUP_STATUSES, GroupStatus
from webhooks.models import Delivery, DeliveryStatus
from webhooks.retention import EVENT_RETENTION
from workspaces.models import Workspace
from workspaces.services import MailListItem, MailMessage, short_printable_name

MAX_LINES = 10  # of one e-mail; the linked page shows all
STATUS_PHRASES = {
    GroupStatus.FAILED: _("failed"),
    GroupStatus.PARTIAL: _("failed on some of its accounts"),
    GroupStatus.UNCONFIRMED: _("may or may not be published"),
}
STATUS_SUBJECTS = {
    GroupStatus.FAILED: _("A post of %(workspace)s failed"),
    GroupStatus.PARTIAL: _("A post of %(workspace)s failed on some of its accounts"),
    GroupStatus.UNCONFIRMED: _("A post of %(workspace)s may or may not be published"),
}
MANY_POSTS = _("%(number)s posts of %(workspace)s failed or may not be published")


@dataclass(frozen=True)
class _Body:
    """The parts of a notice e-mail: subject, summaries and their number, what to do, its link, and by when."""

    subject: str
    items: Sequence[MailListItem]
    number: int
    todo: str
    button: str
    address: str
    until: str


def build_email_or_none(kind: NoticeKind, workspace: Workspace, notices: QuerySet[Notice]) -> MailMessage | None:
    """Build one e-mail from a workspace's notices of one kind, without resolved ones; return None if all are resolved."""
    body = _BODIES[kind](workspace, notices)
    if body is None:
        return None
    more = (
        [MailListItem(gettext("and %(number)s more") % {"number": body.number - len(body.items)})]
        if body.number > len(body.items)
        else []
    )
    return MailMessage(
        subject=body.subject,
        workspace_name=short_printable_name(workspace.name),
        happened=f"{body.subject}.",
        items=[*body.items, *more],
        todo=body.todo,
        button=body.button,
        address=body.address,
        until=body.until,
        reason=gettext("You get this as a member of %(workspace)s. Change which notices you get here:")
        % {"workspace": short_printable_name(workspace.name)},
        choices_address=_page(workspace, "notices"),
    )


def _approvals(workspace: Workspace, notices: QuerySet[Notice]) -> _Body | None:
    groups = _groups(notices).filter(status=GroupStatus.PENDING_CONFIRMATION)
    number, name = groups.count(), short_printable_name(workspace.name)
    if not number:
        return None
    return _Body(
        ngettext(
            "A post waits for approval in %(workspace)s",
            "%(number)s posts wait for approval in %(workspace)s",
            number,
        )
        % {"number": number, "workspace": name},
        [
            MailListItem(
                post_line(group, workspace),
                plan_hash_line(group),
                approval_url(group) or "",
                decision_url(group, "approve"),
                decision_url(group, "reject"),
            )
            for group in groups[:MAX_LINES]
        ],
        number,
        gettext(
            "Nothing is published until somebody approves it. The page of each post shows what would be published, and the "
            "whole hash of its plan."
        ),
        gettext("See all posts that wait for approval"),
        _page(workspace, "approvals"),
        gettext("Approve or reject each post before its time. One that is approved later is published at once."),
    )


def _posts(workspace: Workspace, notices: QuerySet[Notice]) -> _Body | None:
    groups = _groups(notices).filter(status__in=RETRYABLE_GROUP_STATUSES)
    number, shown = groups.count(), list(groups[:MAX_LINES])
    if not number:
        return None
    subject = STATUS_SUBJECTS[GroupStatus(shown[0].status)] if number == 1 else MANY_POSTS
    return _Body(
        subject % {"number": number, "workspace": short_printable_name(workspace.name)},
        [
            MailListItem(
                f"{post_line(group, workspace)}: {STATUS_PHRASES[GroupStatus(group.status)]}",
                address=_page(workspace, "post", post_group_id=group.id),
            )
            for group in shown
        ],
        number,
        gettext(
            "Open a post to see the reason, and to retry it. If a post may be published, check on the platform first and "
            "enter the result: it is not retried automatically."
        ),
        gettext("See all posts that need attention"),
        _page(workspace, "home"),
        gettext("There is no deadline. Nothing more is published until somebody acts."),
    )


def _accounts(workspace: Workspace, notices: QuerySet[Notice]) -> _Body | None:
    rows = ConnectedAccount.objects.filter(
        pk__in=notices.values("about"), status=ConnectedAccount.Status.NEEDS_REAUTH
    ).order_by("platform", "pk")
    number, name = rows.count(), short_printable_name(workspace.name)
    if not number:
        return None
    return _Body(
        ngettext(
            "An account of %(workspace)s has to be reconnected",
            "%(number)s accounts of %(workspace)s have to be reconnected",
            number,
        )
        % {"number": number, "workspace": name},
        [
            MailListItem(f"{get_adapter(row.platform).label}: {short_printable_name(row.handle or row.external_id)}")
            for row in rows[:MAX_LINES]
        ],
        number,
        gettext("The platform no longer accepts the connection. Connect the account again."),
        gettext("Reconnect"),
        _page(workspace, "accounts"),
        gettext("Posts to the account fail until it is reconnected."),
    )


def _series(workspace: Workspace, notices: QuerySet[Notice]) -> _Body | None:
    refused = SeriesOccurrence.objects.filter(
        series__in=notices.values("about"), at__gt=timezone.now(), error__isnull=False, group=None, withdrawn=False
    )
    rows = refused.select_related("series").order_by("at")
    number, name, series = rows.count(), short_printable_name(workspace.name), pgettext("one series", "Series")
    if not number:
        return None
    return _Body(
        ngettext(
            "A post of a series of %(workspace)s could not be scheduled",
            "%(number)s posts of series of %(workspace)s could not be scheduled",
            number,
        )
        % {"number": number, "workspace": name},
        [
            MailListItem(
                f"{short_printable_name(row.series.name or series)}, {time_with_zone_name(row.at, workspace)}: "
                f"{short_printable_name(translated_message(row.error['message']))}"
            )
            for row in rows[:MAX_LINES]
        ],
        number,
        gettext(
            "Remove the reason, or have the series changed or the post skipped by the API. "
            "The calendar shows what is scheduled."
        ),
        gettext("Open the calendar"),
        _page(workspace, "calendar"),
        gettext("The service tries again until the time of the post."),
    )


def _deliveries(workspace: Workspace, notices: QuerySet[Notice]) -> _Body | None:
    rows = Delivery.objects.filter(pk__in=notices.values("about"), status=DeliveryStatus.DEAD_LETTER)
    number, name = rows.count(), short_printable_name(workspace.name)
    if not number:
        return None
    shown = rows.select_related("event").defer("event__payload").order_by("-pk")[:MAX_LINES]
    return _Body(
        ngettext(
            "A webhook delivery of %(workspace)s was given up",
            "%(number)s webhook deliveries of %(workspace)s were given up",
            number,
        )
        % {"number": number, "workspace": name},
        [MailListItem(webhook_delivery_line(row)) for row in shown],
        number,
        gettext("All attempts failed, so your receiver did not get the event. Fix the receiver, then replay the delivery."),
        gettext("See the deliveries"),
        _page(workspace, "webhooks"),
        gettext("A delivery can be replayed until %(days)s days after its event.") % {"days": EVENT_RETENTION.days},
    )


def _budgets(workspace: Workspace, notices: QuerySet[Notice]) -> _Body | None:
    months = {moment.date() for moment in notices.values_list("at", flat=True)}
    near = nearly_spent_budgets(percent=BUDGET_THRESHOLDS[0], since=min(months), workspace_id=workspace.pk) if months else []
    uses = [use for use in near if use.month in months]
    if not uses:
        return None
    most = max(uses, key=lambda use: use.used_percent)
    subject = gettext("%(percent)s %% of the budget of %(workspace)s for %(month)s is used")
    if most.used_percent >= 100:
        subject = gettext("All of the budget of %(workspace)s for %(month)s is used")
    month = format_date(most.month, "F Y")
    return _Body(
        subject % {"percent": most.used_percent, "workspace": short_printable_name(workspace.name), "month": month},
        [MailListItem(budget_line(use)) for use in uses],
        len(uses),
        gettext(
            "Posts beyond the budget are refused; posts already scheduled are published. To raise it, change the cap in the "
            "settings or subscribe."
        ),
        gettext("See how the budget was used"),
        _page(workspace, "usage"),
        gettext("The budget of the next month begins on its first day, at 00:00 UTC."),
    )


def _keys(workspace: Workspace, notices: QuerySet[Notice]) -> _Body | None:
    rows = ApiKey.objects.filter(pk__in=notices.values("about"), revoked_at=None, new_network_at__isnull=False)
    number, name = rows.count(), short_printable_name(workspace.name)
    if not number:
        return None
    return _Body(
        ngettext(
            "An API key of %(workspace)s was used from another network",
            "%(number)s API keys of %(workspace)s were used from other networks",
            number,
        )
        % {"number": number, "workspace": name},
        [MailListItem(new_ip_network_line(row, workspace)) for row in rows.order_by("-new_network_at")[:MAX_LINES]],
        number,
        gettext("If nobody in your team uses that network, the key may have leaked: revoke it and create another one."),
        gettext("See the API keys"),
        _page(workspace, "api-keys"),
        gettext("A key works until it is revoked or ends."),
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
    return groups_prefetching_targets().filter(pk__in=notices.values("about")).order_by("-pk")


def _page(workspace: Workspace, route: str, **named: str) -> str:
    return f"{settings.BASE_URL}{reverse(route, kwargs={'workspace_id': workspace.pk, **named})}"
