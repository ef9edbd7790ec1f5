"""The dashboard's list of all posts of a workspace, and its filters by account and agent, which the calendar uses, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.http import HttpResponse
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext as _

from accounts.models import ConnectedAccount
from accounts.platforms.registry import PLATFORMS, get_adapter, platform_label
from agents.selectors import list_agents_with_revoked
from posts import selectors
from posts.dashboard.account_marks import AccountMarks
from posts.dashboard.chosen_posts import context_for_choosing_posts
from posts.dashboard.saved_filters import saved_filters_context
from posts.dashboard.target_error_sentences import target_error_sentence
from posts.day_lists import CalendarFilters
from posts.models import PostTarget
from posts.states import RETRYABLE_GROUP_STATUSES, GroupStatus, TargetStatus
from posts.summaries import PostSummary
from posts.tags import distinct_tags_in_text
from workspaces.workspace_page import WorkspacePage, workspace_page

PER_PAGE = 50
MAX_AGENTS = 200
EXCERPT_CHARACTERS = 140
STATUSES_WITH_REASONS = RETRYABLE_GROUP_STATUSES
MAX_SEARCHED_CHARACTERS = 100


class PostRow(NamedTuple):
    """A row of the dashboard's list of posts; `reason` says why the post has failed."""

    post: PostSummary
    excerpt: str
    marks: SafeString
    reason: str
    tags: list[str]


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
        tag=tag_filter_from_query_string(page) or None,
        limit=PER_PAGE,
        cursor=query.get("cursor"),
        **account_and_agent_from_query(page),
    )
    reasons = _failure_reasons([each.id for each in found.rows if each.status in STATUSES_WITH_REASONS])
    tags = selectors.tags_by_post_group_id([each.id for each in found.rows])
    marks = AccountMarks(page, (target for post in found.rows for target in post.targets))
    rows = []
    for post in found.rows:
        excerpt = Truncator(post.text).chars(EXCERPT_CHARACTERS) or _("(no text)")
        rows.append(
            PostRow(post, excerpt, marks.marks_of_post(post.targets), reasons.get(post.id, ""), tags.get(post.id, []))
        )
    return page.render(
        "posts/posts.html",
        posts=rows,
        sprite=marks.sprite(),
        posts_address=page.url_of_page("posts"),
        form_key=page.form_key,
        **context_for_choosing_posts(page),
        **saved_filters_context(page, "posts"),
        searched=text,
        tag=tag_filter_from_query_string(page),
        next_cursor=found.next_cursor,
        states=GroupStatus.values,
        **account_platform_and_agent_choices(page),
    )


def account_and_agent_from_query(page: WorkspacePage) -> dict[str, Any]:
    """Read the account and the agent by which the list of posts is filtered from the query string."""
    query = page.request.GET
    return {"account_id": query.get("account") or None, "agent_id": query.get("agent") or None}


def searched_text(page: WorkspacePage) -> str:
    """Return the text for which the list of posts or the calendar is searched, from the query string."""
    return page.request.GET.get("q", "").replace("\0", "").strip()[:MAX_SEARCHED_CHARACTERS]


def tag_filter_from_query_string(page: WorkspacePage) -> str:
    """Return the tag by which the list of posts or the calendar is filtered, from the query string; empty for all."""
    return next(iter(distinct_tags_in_text(page.request.GET.get("tag", "").replace("\0", "")[:MAX_SEARCHED_CHARACTERS])), "")


def calendar_filters_from_query(page: WorkspacePage) -> CalendarFilters:
    """Read the calendar's filters from the query string; platforms and states that do not exist are ignored."""
    query = page.request.GET
    status, platform = query.get("status", ""), query.get("platform", "")
    return CalendarFilters(
        platform=platform if platform in PLATFORMS else None,
        status=status if status in GroupStatus.values else None,
        text=searched_text(page),
        tag=tag_filter_from_query_string(page),
        **account_and_agent_from_query(page),
    )


def account_platform_and_agent_choices(page: WorkspacePage) -> dict[str, Any]:
    """Return the accounts, platforms and agents by which the dashboard's list of posts and its calendar can be filtered."""
    accounts = selectors.accounts_selectable_for_post(caller=page.caller, workspace_id=page.workspace.id)
    agents = list_agents_with_revoked(caller=page.caller, workspace_id=page.workspace.id, limit=MAX_AGENTS).rows
    platforms = sorted({(account.platform, get_adapter(account.platform).label) for account in accounts})
    labelled = [(account, _account_label(account)) for account in accounts]
    return {"accounts": labelled, "agents": agents, "platforms": platforms}


def _failure_reasons(group_ids: Sequence[str]) -> dict[str, str]:
    """Return for the rows of the list of posts why posts have failed: a sentence about the first failed target of each."""
    failed = PostTarget.objects.filter(group__in=group_ids, error__isnull=False).exclude(status=TargetStatus.CANCELLED)
    rows = failed.order_by("-position").values_list("group_id", "platform", "error") if group_ids else ()
    return {group_id: target_error_sentence(error, platform_label(platform)) for group_id, platform, error in rows if error}


def _account_label(account: ConnectedAccount) -> str:
    sandbox = f" ({_('sandbox')})" if account.sandbox else ""
    return f"{get_adapter(account.platform).label}: {account.handle or account.external_id}{sandbox}"
