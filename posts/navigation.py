"""The dashboard pages of posts in the navigation menu, such as the calendar, and the count of posts awaiting approval."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from config.pages.navigation import MAX_SHOWN_COUNT, DashboardPage
from posts.models import PostGroup
from posts.selectors import needs_a_person_condition
from posts.states import GroupStatus


def count_posts_awaiting_approval_up_to_max(workspace_id: str) -> int:
    """Return, for the navigation menu, how many posts of a workspace await approval; the count stops at a maximum.

    The maximum is MAX_SHOWN_COUNT + 1.
    """
    needing = PostGroup.objects.filter(needs_a_person_condition(), workspace_id=workspace_id)
    waiting = needing.filter(status=GroupStatus.PENDING_CONFIRMATION)
    return waiting[: MAX_SHOWN_COUNT + 1].count()


CALENDAR = DashboardPage(
    "calendar", _("Calendar"), "calendar-days", in_bottom_bar=True, also_for=("posts", "missed", "calendar-feeds", "files")
)
NEW_POST = DashboardPage("compose", _("New post"), "pencil-square", in_bottom_bar=True, key="n", for_writers=True)
APPROVALS = DashboardPage(
    "approvals", _("Approvals"), "check-circle", in_bottom_bar=True, count_waiting=count_posts_awaiting_approval_up_to_max
)
SERIES = DashboardPage("series", _("Series"), "arrow-path")
POSTS = DashboardPage("posts")
POST = DashboardPage("post")
ACCOUNT_QUEUE = DashboardPage("account-queue")
