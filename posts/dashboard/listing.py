"""List page of all posts of a workspace, including drafts and rejected posts, with filters."""

from __future__ import annotations

from django.http import HttpResponse

from posts import selectors
from posts.dashboard.filters import chosen_filters, filter_choices
from posts.states import GroupStatus
from workspaces.workspace_page import WorkspacePage, workspace_page

PER_PAGE = 50


@workspace_page()
def posts(page: WorkspacePage) -> HttpResponse:
    """Dashboard page: list the posts that match the filters, newest first."""
    asked = page.request.GET
    status = asked.get("status", "")
    found = selectors.search_posts(
        caller=page.caller,
        workspace_id=page.workspace.id,
        status=status if status in GroupStatus.values else None,
        limit=PER_PAGE,
        cursor=asked.get("cursor"),
        **chosen_filters(page),
    )
    return page.render(
        "posts/posts.html",
        posts=found.rows,
        next_cursor=found.next_cursor,
        states=GroupStatus.values,
        **filter_choices(page),
    )
