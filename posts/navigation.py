"""Entries of the posts pages in the dashboard's navigation menu."""

from __future__ import annotations

from config.pages.navigation import MAX_SHOWN_COUNT, PageEntry
from posts.models import PostGroup
from posts.states import GroupStatus


def count_posts_awaiting_approval(workspace_id: str) -> int:
    """Return the number of posts awaiting approval for the navigation menu, which is counted only up to a maximum.

    The maximum is MOST + 1.
    """
    waiting = PostGroup.objects.filter(workspace_id=workspace_id, status=GroupStatus.PENDING_CONFIRMATION)
    return waiting[: MAX_SHOWN_COUNT + 1].count()


CALENDAR = PageEntry("calendar", "Calendar", also_for=("posts",))
NEW_POST = PageEntry("compose", "New post")
APPROVALS = PageEntry("approvals", "Approvals", waiting=count_posts_awaiting_approval)
POSTS = PageEntry("posts")
POST = PageEntry("post")
