"""The dashboard's list of all posts of a workspace, and its filters by account and agent, which the calendar uses, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpResponse

from accounts.models import ConnectedAccount
from accounts.platforms.registry import PLATFORMS, get_adapter, platform_label
from agents.selectors import agents_of_workspace
from posts import selectors
from posts.dashboard.target_error_sentences import target_error_sentence
from posts.day_lists import CalendarFilters
from posts.models import PostTarget
from posts.states import RETRYABLE_GROUP_STATUSES, GroupStatus, TargetStatus
from workspaces.workspace_page import WorkspacePage, workspace_page

PER_PAGE = 50
MAX_AGENTS = 200
STATUSES_WITH_REASONS = RETRYABLE_GROUP_STATUSES
MAX_SEARCHED_CHARACTERS = 100


@workspace_page()
def list_posts(page: WorkspacePage) -> HttpResponse:
    """Dashboard page that lists the posts matching the filters, newest first, including drafts and rejected posts."""
    query = page.request.GET
    status, text = query.get("status", ""), searched_text(page)
    found = selectors.search_posts(
        caller=page.caller,
        workspace_id=page.workspace.id,
        status=status if status in GroupStatus.values else None,
        text=text or None,
        limit=PER_PAGE,
        cursor=query.get("cursor"),
        **post_filters_from_query(page),
    )
    reasons = _failure_reasons([each.id for each in found.rows if each.status in STATUSES_WITH_REASONS])
    return page.render(
        "posts/posts.html",
        posts=[(each, reasons.get(each.id, "")) for each in found.rows],
        searched=text,
        next_cursor=found.next_cursor,
        states=GroupStatus.values,
        **post_filter_choices(page),
    )


def post_filters_from_query(page: WorkspacePage) -> dict[str, Any]:
    """Read the filters of the post listing from the query string: account and agent."""
    query = page.request.GET
    return {"account_id": query.get("account") or None, "agent_id": query.get("agent") or None}


def searched_text(page: WorkspacePage) -> str:
    """Return the text for which the calendar or the list of posts is searched, from the query string."""
    return page.request.GET.get("q", "").replace("\0", "").strip()[:MAX_SEARCHED_CHARACTERS]


def calendar_filters_from_query(page: WorkspacePage) -> CalendarFilters:
    """Read the filters of the calendar from the query string, which ignores platforms and states that do not exist."""
    query = page.request.GET
    status, platform = query.get("status", ""), query.get("platform", "")
    return CalendarFilters(
        platform=platform if platform in PLATFORMS else None,
        status=status if status in GroupStatus.values else None,
        text=searched_text(page),
        **post_filters_from_query(page),
    )


def post_filter_choices(page: WorkspacePage) -> dict[str, Any]:
    """Return the choices of the filter forms: the workspace's accounts and platforms with their labels, and its agents."""
    accounts = selectors.accounts_selectable_for_post(caller=page.caller, workspace_id=page.workspace.id)
    agents = agents_of_workspace(caller=page.caller, workspace_id=page.workspace.id, limit=MAX_AGENTS).rows
    platforms = sorted({(account.platform, get_adapter(account.platform).label) for account in accounts})
    labelled = [(account, _account_label(account)) for account in accounts]
    return {"accounts": labelled, "agents": agents, "platforms": platforms}


def _failure_reasons(group_ids: Sequence[str]) -> dict[str, str]:
    """Return why posts have failed, in a sentence for people about the first target that did. Runs at most one query."""
    failed = PostTarget.objects.filter(group__in=group_ids, error__isnull=False).exclude(status=TargetStatus.CANCELLED)
    rows = failed.order_by("-position").values_list("group_id", "platform", "error") if group_ids else ()
    return {group_id: target_error_sentence(error, platform_label(platform)) for group_id, platform, error in rows if error}


def _account_label(account: ConnectedAccount) -> str:
    sandbox = " (sandbox)" if account.sandbox else ""
    return f"{get_adapter(account.platform).label}: {account.handle or account.external_id}{sandbox}"
