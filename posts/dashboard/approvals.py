"""The dashboard's approvals page: posts that wait until a person approves, edits or rejects them."""

from __future__ import annotations

from datetime import datetime

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from agents.models import Agent
from auditlog.models import ActorType
from config.api.errors import Conflict
from posts import selectors, services
from posts.dashboard.inputs import (
    get_post_group_of_workspace,
    normalize_newlines_and_nul,
    submitted_content_version_or_zero,
    validated_page_input,
)
from posts.dashboard.scheduling_words import publishing_message
from posts.dashboard.shown_groups import prepare_groups_for_display
from posts.dashboard.undo_offers import publish_now_due_at_or_none, undo_offer_after_scheduling_or_publishing
from posts.models import PostGroup
from posts.serializers.requests import RejectPostSerializer
from workspaces.selectors import user_name_by_id
from workspaces.workspace_page import WorkspacePage, workspace_page

PER_PAGE = 10
MAX_SHOWN_CHARACTERS = 6000  # a longer post can be read and approved only on its own page


@workspace_page()
def list_posts_awaiting_approval(page: WorkspacePage) -> HttpResponse:
    """Dashboard page that lists the posts awaiting approval, oldest first."""
    found = selectors.posts_awaiting_approval(
        caller=page.caller, workspace_id=page.workspace.id, limit=PER_PAGE, cursor=page.request.GET.get("cursor")
    )
    shown = prepare_groups_for_display(page.workspace.id, found.rows)
    agents = Agent.objects.filter(pk__in={group.agent_id for group in found.rows})
    people = {group.created_by_id for group in found.rows if group.created_by_type == ActorType.USER}
    names = user_name_by_id(user_ids=people) | dict(agents.values_list("pk", "name"))
    return page.render(
        "posts/approvals.html",
        waiting=[
            (each, names.get(each.group.created_by_id, ""), each.total_length_of_text_versions <= MAX_SHOWN_CHARACTERS)
            for each in shown
        ],
        next_cursor=found.next_cursor,
        now=timezone.now(),
    )


@workspace_page("POST", operation="posts.confirm")
def approve_post(page: WorkspacePage, post_group_id: str) -> HttpResponse:
    """Dashboard action that approves a post, unless the post was changed after the page was shown."""
    group = get_post_group_of_workspace(page, post_group_id)
    version = submitted_content_version_or_zero(page)
    _require_plan_that_was_read(page, group)
    publishes, at = whether_approval_publishes_and_when(page, group)
    services.confirm_post(caller=page.caller, post_group_id=group.id, content_version=version, scheduled_at=at)
    words = " ".join([_("Approved."), publishing_message(at)]) if publishes else _("Approved and scheduled.")
    offered = at is not None or not publishes
    undo = undo_offer_after_scheduling_or_publishing(group, group.id, publishes=publishes).address(page) if offered else ""
    return page.success_redirect_back(words, undo=undo)


@workspace_page("POST", operation="posts.reject")
def reject_post(page: WorkspacePage, post_group_id: str) -> HttpResponse:
    """Dashboard action that rejects a post awaiting approval, with an optional reason for the person or agent who asked.

    It refuses to if the post was changed after the page was shown.
    """
    group = get_post_group_of_workspace(page, post_group_id)
    _require_plan_that_was_read(page, group)
    reason = normalize_newlines_and_nul(page.request.POST.get("reason", "")).strip()
    data = validated_page_input(RejectPostSerializer, {"reason": reason} if reason else {})
    services.reject_post(caller=page.caller, post_group_id=group.id, **data)
    return page.success_redirect_back(_("Rejected. Whoever asked can read the reason."))


def _require_plan_that_was_read(page: WorkspacePage, group: PostGroup) -> None:
    """Raise Conflict if a post was changed after the page was shown on which a person approves or rejects it."""
    if page.request.POST.get("plan_hash", group.plan_hash or "") != (group.plan_hash or ""):
        raise Conflict(_("The post has changed since this page was shown."))


def whether_approval_publishes_and_when(page: WorkspacePage, group: PostGroup) -> tuple[bool, datetime | None]:
    """Return whether approving a post publishes it now, and the end of the delay for an undo, for the approvals page."""
    now = timezone.now()
    times = [each.scheduled_at for each in group.targets.all() if not each.slot]  # a slot that has passed leads to the next
    publishes = not (group.scheduled_at and group.scheduled_at > now) and not all(at and at > now for at in times)
    return publishes, publish_now_due_at_or_none(page) if publishes else None
