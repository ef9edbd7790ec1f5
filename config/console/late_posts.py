"""The posts that are late, for the operators' console: by how much, and why as far as the database shows it.

A post that waits for approval is not due, so it is not late.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.db.models.functions import Coalesce
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.models import ConnectedAccount
from accounts.platforms.registry import PLATFORMS
from config.api.caller import WorkspaceStatus
from config.console import status
from config.db.ids import lowest_id_at
from posts.models import PostTarget
from posts.states import GroupStatus, TargetStatus

LATE_AFTER = timedelta(minutes=1)
MAX_SEARCHED_PER_PLATFORM = 1000  # the earliest due targets of each platform
MAX_SHOWN = 200
UNCONFIRMED_SHOWN_FOR = timedelta(days=30)
PUBLISH_LOOP = "publish"
TIME_FORMAT = "%Y-%m-%d %H:%M:%S"
# By the names of those who paused the workspace.
PAUSE_REASONS = {
    ("owner",): _("The workspace is paused by owner."),
    ("operator",): _("The workspace is paused by operator."),
    ("owner", "operator"): _("The workspace is paused by owner and operator."),
}


@dataclass(frozen=True)
class LatePost:
    """A late post target with its account, group and workspace, the time when it was due, and the reason why it is late."""

    target: PostTarget
    since: datetime
    reason: str


def late_targets(now: datetime) -> list[LatePost]:
    """Return the post targets that are late, for a page of the console: the most overdue first, at most 200.

    Looks at the thousand earliest due targets of each platform, and at targets of the last 30 days that are unconfirmed.
    """
    found: list[PostTarget] = []
    for platform in PLATFORMS:
        due = PostTarget.objects.filter(platform=platform, due_at__isnull=False).order_by("due_at")
        earliest = PostTarget.objects.filter(pk__in=due.values("pk")[:MAX_SEARCHED_PER_PLATFORM])
        found += _late(earliest, now)
    recent = lowest_id_at("pgr", now - UNCONFIRMED_SHOWN_FOR)
    unconfirmed = PostTarget.objects.filter(status=TargetStatus.UNCONFIRMED, group_id__gte=recent)
    found += _late(unconfirmed.filter(group__status__in=(GroupStatus.UNCONFIRMED, GroupStatus.PUBLISHING)), now)
    alive = status.is_heartbeat_recent(status.last_heartbeats_by_name().get(PUBLISH_LOOP), now)
    late = [LatePost(each, _own_time(each), reason_for_lateness(each, now, worker_alive=alive)) for each in found]
    return sorted(late, key=lambda post: post.since)[:MAX_SHOWN]


def _late(targets: QuerySet[PostTarget], now: datetime) -> list[PostTarget]:
    """Return the post targets of a queryset that are late by a minute or more, the most overdue first."""
    rows = targets.annotate(own_time=Coalesce("scheduled_at", "group__updated_at")).filter(own_time__lte=now - LATE_AFTER)
    rows = rows.select_related("group__workspace", "account").order_by("own_time")
    return list(rows.defer("progress", "text", "group__text", "account__credentials", "account__tokens")[:MAX_SHOWN])


def _own_time(target: PostTarget) -> datetime:
    """Return when a late post target should have been published: its scheduled time, or its group's last change.

    That change is the group's release, or later the start of publishing.
    """
    return target.scheduled_at or target.group.updated_at


def reason_for_lateness(target: PostTarget, now: datetime, *, worker_alive: bool) -> str:
    """Return, as a sentence for operators, why a post target is late. Its account, group and workspace must be loaded."""
    workspace, account = target.group.workspace, target.account
    if target.status == TargetStatus.UNCONFIRMED:
        return gettext("It is unknown whether it was published. Its owner has to check the account.")
    if workspace.status == WorkspaceStatus.PAUSED:
        return str(PAUSE_REASONS.get(tuple(workspace.paused_by), _("The workspace is paused.")))
    if target.lease_until and target.lease_until > now:
        return gettext("It is being published.")
    if target.status == TargetStatus.PUBLISHING:
        return (
            gettext("Its worker has stopped. Another one continues.")
            if worker_alive
            else gettext("Its worker has stopped, and no other runs.")
        )
    if account.status != ConnectedAccount.Status.ACTIVE:
        return gettext("The account is %(status)s.") % {"status": account.status}
    if account.held_until and account.held_until > now:
        held_until = account.held_until.strftime(TIME_FORMAT)
        return gettext("The platform asked to wait until %(time)s UTC.") % {"time": held_until}
    if target.turn_at and target.turn_at > now:
        reason = gettext("The account posts no faster than its platform allows; the turn is at %(time)s UTC.")
        return reason % {"time": target.turn_at.strftime(TIME_FORMAT)}
    if target.status == TargetStatus.PROCESSING:
        return gettext("The platform is processing it.")
    if target.status == TargetStatus.RETRYING:
        code = (target.error or {}).get("code")
        return (
            gettext("It is tried again after %(code)s.") % {"code": code}
            if code
            else gettext("It is tried again after an error.")
        )
    return gettext("The workers are busy with other posts.") if worker_alive else gettext("No worker runs.")
