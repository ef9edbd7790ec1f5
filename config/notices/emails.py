"""The words of the e-mails. They hold no word of a post, no address of a receiver but its host, and nothing secret.

Each says what has happened, in which workspace, what to do and where, and how to hear no more of it.
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
from accounts.platforms.registry import platform
from agents.models import ApiKey
from billing.selectors import BudgetUse, nearly_spent_budgets
from config.notices.models import Notice, NoticeKind
from config.notices.occurrences import BUDGET_THRESHOLDS
from posts.models import PostGroup
from posts.selectors import groups_with_targets
from posts.states import RETRYABLE, GroupStatus
from webhooks.models import Delivery, DeliveryStatus
from workspaces.models import Workspace

MAX_LINES = 10  # lines of one e-mail; the page has all
MAX_NAME_LENGTH = 80
STATUS_PHRASES = {
    GroupStatus.FAILED: "failed",
    GroupStatus.PARTIAL: "failed on some of its accounts",
    GroupStatus.UNCONFIRMED: "may be out, or not",
}


@dataclass(frozen=True)
class Email:
    """An e-mail for everybody who hears of it."""

    subject: str
    text: str


@dataclass(frozen=True)
class _Body:
    """What is of one kind: the subject, a line for each thing (the first of `number`), what to do, and where."""

    subject: str
    lines: Sequence[str]
    number: int
    todo: str
    address: str


def build_email(kind: NoticeKind, workspace: Workspace, notices: QuerySet[Notice]) -> Email | None:
    """The e-mail about what these notices of a workspace speak of, as it stands now; None when nothing of it stands still."""
    body = _BODIES[kind](workspace, notices)
    if body is None:
        return None
    more = [f"and {body.number - len(body.lines)} more"] if body.number > len(body.lines) else []
    summaries = "\n".join(f"- {line}" for line in [*body.lines, *more])
    why = f"You get this as a member of {_plain(workspace.name)}. Choose what you hear of, or turn it off:"
    return Email(
        body.subject,
        f"{body.subject}.\n\n{summaries}\n\n{body.todo}\n{body.address}\n\n--\n{why}\n{_page(workspace, 'notices')}\n",
    )


def _approvals(workspace: Workspace, notices: QuerySet[Notice]) -> _Body | None:
    groups = _groups(notices).filter(status=GroupStatus.PENDING_CONFIRMATION)
    number, name = groups.count(), _plain(workspace.name)
    if not number:
        return None
    return _Body(
        f"A post waits for approval in {name}" if number == 1 else f"{number} posts wait for approval in {name}",
        [_described(group, workspace) for group in groups[:MAX_LINES]],
        number,
        "Nothing of it goes out until somebody approves it. Read and approve or reject it here:",
        _page(workspace, "approvals"),
    )


def _posts(workspace: Workspace, notices: QuerySet[Notice]) -> _Body | None:
    groups = _groups(notices).filter(status__in=RETRYABLE)
    number, shown = groups.count(), list(groups[:MAX_LINES])
    if not number:
        return None
    became = STATUS_PHRASES[GroupStatus(shown[0].status)] if number == 1 else "failed or may not be out"
    return _Body(
        f"{'A post' if number == 1 else f'{number} posts'} of {_plain(workspace.name)} {became}",
        [
            f"{_described(group, workspace)}: {STATUS_PHRASES[GroupStatus(group.status)]}\n"
            f"  {_page(workspace, 'post', post_group_id=group.id)}"
            for group in shown
        ],
        number,
        "Open it to see why, and send it again or leave it. Of one that may be out, look at the platform first and say "
        "what you saw: it is not sent again by itself.\nAll that waits for somebody:",
        _page(workspace, "home"),
    )


def _accounts(workspace: Workspace, notices: QuerySet[Notice]) -> _Body | None:
    rows = ConnectedAccount.objects.filter(
        pk__in=notices.values("about"), status=ConnectedAccount.Status.NEEDS_REAUTH
    ).order_by("platform", "pk")
    number, name = rows.count(), _plain(workspace.name)
    if not number:
        return None
    return _Body(
        f"An account of {name} has to be reconnected"
        if number == 1
        else f"{number} accounts of {name} have to be reconnected",
        [f"{platform(row.platform).label}: {_plain(row.handle or row.external_id)}" for row in rows[:MAX_LINES]],
        number,
        "The platform does not let the service in any more, so posts to it fail. Connect it again here:",
        _page(workspace, "accounts"),
    )


def _deliveries(workspace: Workspace, notices: QuerySet[Notice]) -> _Body | None:
    rows = Delivery.objects.filter(pk__in=notices.values("about"), status=DeliveryStatus.DEAD_LETTER)
    number, name = rows.count(), _plain(workspace.name)
    if not number:
        return None
    shown = rows.select_related("event").defer("event__payload").order_by("-pk")[:MAX_LINES]
    return _Body(
        f"A webhook delivery of {name} was given up"
        if number == 1
        else f"{number} webhook deliveries of {name} were given up",
        [f"{row.event.kind} to {row.host or 'an address that is not allowed'}, {_why(row)}" for row in shown],
        number,
        "Every attempt has failed, so your receiver does not know of it. Mend the receiver, then send it again here:",
        _page(workspace, "webhooks"),
    )


def _budgets(workspace: Workspace, notices: QuerySet[Notice]) -> _Body | None:
    months = {moment.date() for moment in notices.values_list("at", flat=True)}
    near = (
        nearly_spent_budgets(percent=BUDGET_THRESHOLDS[0], since=min(months), workspace_id=workspace.pk) if months else []
    )
    uses = [use for use in near if use.month in months]
    if not uses:
        return None
    most = max(uses, key=lambda use: use.used_percent)
    share = "All" if most.used_percent >= 100 else f"{most.used_percent} %"
    return _Body(
        f"{share} of the budget of {_plain(workspace.name)} for {most.month:%B %Y} is used",
        [_spent(use) for use in uses],
        len(uses),
        "What does not fit into it is refused; what is scheduled already goes out. See here what it went on. If you want "
        "more, raise the cap in the settings, or subscribe:",
        _page(workspace, "usage"),
    )


def _keys(workspace: Workspace, notices: QuerySet[Notice]) -> _Body | None:
    rows = ApiKey.objects.filter(pk__in=notices.values("about"), revoked_at=None, new_network_at__isnull=False)
    number, name = rows.count(), _plain(workspace.name)
    if not number:
        return None
    return _Body(
        f"An API key of {name} was used from another network"
        if number == 1
        else f"{number} API keys of {name} were used from other networks",
        [_new_network(row, workspace) for row in rows.order_by("-new_network_at")[:MAX_LINES]],
        number,
        "If nobody of you uses that network, the key may have leaked: revoke it here, and make another:",
        _page(workspace, "api-keys"),
    )


_BODIES: dict[NoticeKind, Callable[[Workspace, QuerySet[Notice]], _Body | None]] = {
    NoticeKind.APPROVAL: _approvals,
    NoticeKind.POST: _posts,
    NoticeKind.ACCOUNT: _accounts,
    NoticeKind.DELIVERY: _deliveries,
    NoticeKind.BUDGET: _budgets,
    NoticeKind.KEY: _keys,
}


def _groups(notices: QuerySet[Notice]) -> QuerySet[PostGroup]:
    return groups_with_targets().filter(pk__in=notices.values("about")).order_by("-pk")


def _described(group: PostGroup, workspace: Workspace) -> str:
    """A post without its words: where it goes, and when."""
    names = dict.fromkeys(platform(target.platform).label for target in group.targets.all())
    when = f"for {_time(group.scheduled_at, workspace)}" if group.scheduled_at else "without a time"
    return f"To {', '.join(names)}, {when}, made {_time(group.created_at, workspace)}"


def _why(row: Delivery) -> str:
    return f"last answer {row.last_status_code}" if row.last_status_code else "no answer"


def _new_network(key: ApiKey, workspace: Workspace) -> str:
    told = [*(key.seen_networks or [])[-1:], *([_time(key.new_network_at, workspace)] if key.new_network_at else [])]
    return f"{_plain(key.name)} ({key.prefix}…): {', '.join(told)}"


def _spent(use: BudgetUse) -> str:
    return f"{use.month:%B %Y}: {_money(use.used_cents)} of {_money(use.limit_cents)} are spent or held for what is scheduled"


def _money(cents: int) -> str:
    return f"${cents // 100:,}.{cents % 100:02d}"


def _time(moment: datetime, workspace: Workspace) -> str:
    local = timezone.localtime(moment, ZoneInfo(workspace.default_timezone))
    return f"{date_format(local, 'j M Y, H:i')} ({workspace.default_timezone})"


def _plain(name: str) -> str:
    """What somebody has chosen as a name, in one short line."""
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in name).split())
    return line if len(line) <= MAX_NAME_LENGTH else f"{line[: MAX_NAME_LENGTH - 1]}…"


def _page(workspace: Workspace, route: str, **named: str) -> str:
    return f"{settings.BASE_URL}{reverse(route, kwargs={'workspace_id': workspace.pk, **named})}"
