"""Export of posts: the posts of some days as the rows of a file."""

from __future__ import annotations

from datetime import date, timedelta
from zoneinfo import ZoneInfo

from django.db.models import Min
from django.utils.translation import gettext as _

from config.api.caller import Caller, require_access
from config.pages.sentences import PageRefusal
from posts.day_lists import SHOWN_AT
from posts.local_time import start_of_local_day
from posts.models import PostTarget
from posts.post_files.formats import MAX_ROWS
from posts.post_files.rows import AccountNames, cells_of_group
from posts.selectors import groups_prefetching_targets, require_account_and_agent_in_workspace
from posts.states import GroupStatus, TargetStatus
from workspaces.models import Workspace

LEFT_OUT_STATUSES = (GroupStatus.REJECTED, GroupStatus.CANCELLED)


def rows_of_days(
    *, caller: Caller, workspace: Workspace, first: date, last: date, account_id: str | None = None
) -> list[dict[str, str]]:
    """Return the rows of an export: the posts with a target on these local days, drafts included, earliest first.

    A target without a time is on the day on which it was created. Rejected and cancelled posts are left out. Raises NotFound
    (also for an account of another workspace), and PageRefusal for more than MAX_ROWS posts.
    """
    require_access(caller, workspace.id, "posts.read", write=False)
    require_account_and_agent_in_workspace(workspace.id, account_id=account_id)
    zone = ZoneInfo(workspace.default_timezone)
    begin, end = start_of_local_day(first, zone), start_of_local_day(last + timedelta(days=1), zone)
    targets = (
        PostTarget.objects.annotate(shown_at=SHOWN_AT)
        .filter(account__workspace_id=workspace.id, shown_at__gte=begin, shown_at__lt=end)
        .exclude(status=TargetStatus.CANCELLED)
        .exclude(group__status__in=LEFT_OUT_STATUSES)
    )
    if account_id:
        targets = targets.filter(account_id=account_id)
    by_group = targets.values("group_id").annotate(first_at=Min("shown_at")).order_by("first_at", "group_id")
    ids = list(by_group.values_list("group_id", flat=True)[: MAX_ROWS + 1])
    if len(ids) > MAX_ROWS:
        raise PageRefusal(_("These days have more than %(most)d posts. Choose fewer days.") % {"most": MAX_ROWS})
    groups = groups_prefetching_targets().in_bulk(ids)
    names = AccountNames(workspace.id)
    return [cells_of_group(groups[group_id], names, zone) for group_id in ids]
