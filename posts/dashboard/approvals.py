"""What agents ask to publish, exactly as it would go out; a person confirms, edits and confirms, or rejects."""

from __future__ import annotations

from django.http import HttpResponse
from django.utils import timezone

from agents.models import Agent
from posts import selectors, services
from posts.dashboard.content import shown_groups
from posts.dashboard.inputs import checked, group_on, plain, version_read
from posts.serializers.writes import RejectPostSerializer
from workspaces.workspace_page import WorkspacePage, workspace_page

AT_A_TIME = 10
READABLE = 6000  # characters of a group that the list shows; a longer one is read, and confirmed, on its own page


@workspace_page()
def approvals(page: WorkspacePage) -> HttpResponse:
    """The groups that wait, those that have waited longest first."""
    found = selectors.waiting_posts(
        caller=page.caller,
        workspace_id=page.workspace.id,
        limit=AT_A_TIME,
        cursor=page.request.GET.get("cursor"),
    )
    shown = shown_groups(page.workspace.id, found.rows)
    agents = Agent.objects.filter(pk__in={group.agent_id for group in found.rows})
    names = dict(agents.values_list("pk", "name"))
    return page.render(
        "posts/approvals.html",
        waiting=[(each, names.get(each.group.agent_id or "", ""), each.length <= READABLE) for each in shown],
        next_cursor=found.next_cursor,
        now=timezone.now(),
    )


@workspace_page("POST", operation="posts.confirm")
def confirm(page: WorkspacePage, post_group_id: str) -> HttpResponse:
    """Release what was read: a version that is no longer the current one is refused."""
    group = group_on(page, post_group_id)
    written = services.confirm_post(caller=page.caller, post_group_id=group.id, content_version=version_read(page))
    return page.success_redirect_back(
        "Approved; it goes out at its time." if written.scheduled_at else "Approved; it goes out now."
    )


@workspace_page("POST", operation="posts.reject")
def reject(page: WorkspacePage, post_group_id: str) -> HttpResponse:
    group = group_on(page, post_group_id)
    reason = plain(page.request.POST.get("reason", "")).strip()
    asked = checked(RejectPostSerializer, {"reason": reason} if reason else {})
    services.reject_post(caller=page.caller, post_group_id=group.id, **asked)
    return page.success_redirect_back("Rejected. The agent can read why.")
