"""The dashboard's list of all posts of a workspace, and its filters by account and agent, which the calendar uses, too."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse

from accounts.models import ConnectedAccount
from accounts.platforms.registry import get_adapter
from agents.selectors import agents_of_workspace
from posts import selectors
from posts.states import GroupStatus
from workspaces.workspace_page import WorkspacePage, workspace_page

PER_PAGE = 50
MAX_AGENTS = 200


@workspace_page()
def list_posts(page: WorkspacePage) -> HttpResponse:
    """Dashboard page that lists the posts matching the filters, newest first, including drafts and rejected posts."""
    query = page.request.GET
    status = query.get("status", "")
    found = selectors.search_posts(
        caller=page.caller,
        workspace_id=page.workspace.id,
        status=status if status in GroupStatus.values else None,
        limit=PER_PAGE,
        cursor=query.get("cursor"),
        **post_filters_from_query(page),
    )
    return page.render(
        "posts/posts.html",
        posts=found.rows,
        next_cursor=found.next_cursor,
        states=GroupStatus.values,
        **post_filter_choices(page),
    )


def post_filters_from_query(page: WorkspacePage) -> dict[str, Any]:
    """Read the filters of the post listing (account id and agent id) from the query string, also for the calendar."""
    query = page.request.GET
    return {"account_id": query.get("account") or None, "agent_id": query.get("agent") or None}


def post_filter_choices(page: WorkspacePage) -> dict[str, Any]:
    """Return the choices of the post list's filter form: the workspace's accounts with their labels, and its agents."""
    accounts = selectors.accounts_selectable_for_post(caller=page.caller, workspace_id=page.workspace.id)
    agents = agents_of_workspace(caller=page.caller, workspace_id=page.workspace.id, limit=MAX_AGENTS).rows
    return {"accounts": [(account, _account_label(account)) for account in accounts], "agents": agents}


def _account_label(account: ConnectedAccount) -> str:
    sandbox = " (sandbox)" if account.sandbox else ""
    return f"{get_adapter(account.platform).label}: {account.handle or account.external_id}{sandbox}"
