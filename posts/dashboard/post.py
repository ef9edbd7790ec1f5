"""The dashboard page of one post: targets with status and errors, events, webhook deliveries, and buttons for actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from agents.models import Agent
from config.api.errors import ValidationFailed
from config.pages.sentences import PageRefusal, sentence_about_invalid_field
from posts import services
from posts.content import PostEdit, PostInput
from posts.dashboard.cancellation import cancellation_or_none
from posts.dashboard.copied_content import request_fields_to_copy_post
from posts.dashboard.forms import ScheduleForm
from posts.dashboard.inputs import get_post_group_of_workspace, normalize_newlines_and_nul, validated_page_input
from posts.dashboard.scheduling_words import scheduled_for_message, sending_again_message
from posts.dashboard.shown_groups import ShownGroup, prepare_groups_for_display
from posts.dashboard.steps_after_failure import steps_after_failure
from posts.dashboard.undo_of_several import store_undo_of_retries_in_session
from posts.dashboard.undo_offers import (
    PUBLISHING_DELAY_FOR_UNDO,
    publish_now_due_at_or_none,
    undo_offer_after_scheduling_or_publishing,
    undo_offer_of_deletion_or_none,
)
from posts.models import PostGroup, PostTarget
from posts.serializers.requests import CreatePostSerializer, ResolvePostSerializer
from posts.services.changes import is_pending_and_unclaimed, is_unattempted_target
from posts.states import (
    CANCELLABLE_GROUP_STATUSES,
    GROUP_STATUSES_WITH_RETRIES,
    UNFINISHED_TARGET_STATUSES,
    GroupStatus,
    TargetStatus,
)
from webhooks import selectors as webhooks
from workspaces.workspace_page import WorkspacePage, run_once_per_submission, workspace_page

MAX_ROWS = 50  # maximum number of events, and of deliveries


@workspace_page()
def show_post(page: WorkspacePage, post_group_id: str) -> HttpResponse:
    """Dashboard page that shows one post; it reloads itself while the post is being published.

    The links in notices add the hash of the plan that they are about, and the decision (`decision_url`).
    """
    group = get_post_group_of_workspace(page, post_group_id)
    [shown] = prepare_groups_for_display(page.workspace.id, [group])
    about: dict[str, Any] = {
        "caller": page.caller,
        "workspace_id": page.workspace.id,
        "post_group_id": group.id,
        "limit": MAX_ROWS,
    }
    return page.render(
        "posts/post.html",
        shown=shown,
        by=describe_creator(group),
        events=webhooks.latest_events_of_post_group_oldest_first(**about),
        deliveries=webhooks.list_deliveries(**about).rows,
        now=timezone.now(),
        decision=page.request.GET.get("decision", ""),
        is_outdated=page.request.GET.get("plan_hash", group.plan_hash or "") != (group.plan_hash or ""),
        **_possible(page, shown),
    )


@workspace_page("POST", operation="posts.cancel")
def cancel_post(page: WorkspacePage, post_group_id: str) -> HttpResponse:
    """Dashboard action on a post's page that cancels the post."""
    group = get_post_group_of_workspace(page, post_group_id)
    cancellation = cancellation_or_none(group, begins=False)
    services.cancel_post(caller=page.caller, post_group_id=group.id)
    words = cancellation.done if cancellation else _("The post was cancelled.")
    if undo := undo_offer_of_deletion_or_none(group):
        return page.success_redirect(words, "post", undo=undo.address(page), post_group_id=group.id)
    return page.success_redirect(" ".join([words, _("This cannot be undone.")]), "post", post_group_id=group.id)


@workspace_page("POST", operation="posts.retry")
def retry_failed_and_selected_unconfirmed_targets(page: WorkspacePage, post_group_id: str) -> HttpResponse:
    """Dashboard action on a post's page that retries the post's failed targets and, if selected, its unconfirmed targets.

    It waits for the seconds in which the person can undo it.
    """
    group = get_post_group_of_workspace(page, post_group_id)
    doubtful = "include_unconfirmed" in page.request.POST
    due = publish_now_due_at_or_none(page)
    plan = services.retry_post(caller=page.caller, post_group_id=group.id, include_unconfirmed=doubtful, due_at=due)
    undo = store_undo_of_retries_in_session(page, plan.changes) if due else ""
    return page.success_redirect(sending_again_message(due), "post", undo=undo, post_group_id=group.id)


@workspace_page("POST", operation="posts.create")
def copy_failed_targets_to_draft_post(page: WorkspacePage, post_group_id: str) -> HttpResponse:
    """Dashboard action on a post's page that copies the post for the accounts where it failed, and opens the draft."""
    group = get_post_group_of_workspace(page, post_group_id)
    failed = {target.account_id for target in group.targets.all() if target.status == TargetStatus.FAILED}
    if not failed:
        raise PageRefusal(_("The post has not failed at any account."))
    data = validated_page_input(CreatePostSerializer, {**request_fields_to_copy_post(group, only=failed), "draft": True})
    post = PostInput.from_request(data)
    draft_id = run_once_per_submission(
        page, "posts.create", lambda: services.create_post(caller=page.caller, post=post).group
    )[0]
    words = _("This is a copy for the accounts where the post failed. Change what they did not accept, then send it again.")
    messages.info(page.request, words)
    return page.redirect(f"{page.url_of_page('post-edit', post_group_id=draft_id)}?fix=text")


@workspace_page("POST", operation="posts.resolve")
def resolve_unconfirmed_target(page: WorkspacePage, post_group_id: str) -> HttpResponse:
    """Dashboard action that marks an unconfirmed post target as published or failed, as a person has found out.

    To mark a target as published, the person must enter the post's URL.
    """
    group, sent = get_post_group_of_workspace(page, post_group_id), page.request.POST
    seen = (
        {"permalink": normalize_newlines_and_nul(sent.get("permalink", "")).strip()}
        if "is-out" in sent
        else {"published": False}
    )
    data = validated_page_input(ResolvePostSerializer, {"target_id": sent.get("target_id", ""), **seen})
    services.resolve_unconfirmed_target(
        caller=page.caller, post_group_id=group.id, target_id=data["target_id"], permalink=data.get("permalink")
    )
    published = _("Marked as published.")
    failed = _("Marked as failed. You can send it again.")
    return page.success_redirect(published if data.get("permalink") else failed, "post", post_group_id=group.id)


@workspace_page("POST", operation="posts.update")
def reschedule_post(page: WorkspacePage, post_group_id: str) -> HttpResponse:
    """Dashboard action on a post's page that changes the time of the scheduled post.

    For an invalid or ambiguous time, it shows the form again.
    """
    group = get_post_group_of_workspace(page, post_group_id)
    schedule = ScheduleForm(page.request.POST, zone=page.zone, at=group.scheduled_at, required=True)
    if not schedule.is_valid():
        return page.render("posts/reschedule.html", group=group, schedule=schedule, status=422)
    try:
        edit = PostEdit(scheduled_at=schedule.chosen_time_or_none)
        moved = services.update_post(caller=page.caller, post_group_id=group.id, edit=edit).group
    except ValidationFailed as error:
        for row in error.details or []:
            schedule.add_error("when", sentence_about_invalid_field(row))
        return page.render("posts/reschedule.html", group=group, schedule=schedule, status=422)
    undo = undo_offer_after_scheduling_or_publishing(group, moved.id, publishes=False).address(page)
    return page.success_redirect(
        scheduled_for_message(page, schedule.chosen_time_or_none), "post", undo=undo, post_group_id=group.id
    )


@workspace_page("POST", operation="posts.create")
def copy_post_to_new_draft(page: WorkspacePage, post_group_id: str) -> HttpResponse:
    """Dashboard action on a post's page that copies the post into a new draft and opens the draft for editing.

    Deleted media are not copied.
    """
    group = get_post_group_of_workspace(page, post_group_id)
    data = validated_page_input(CreatePostSerializer, {**request_fields_to_copy_post(group), "draft": True})
    post = PostInput.from_request(data)
    draft_id = run_once_per_submission(
        page, "posts.create", lambda: services.create_post(caller=page.caller, post=post).group
    )[0]
    return page.success_redirect(_("Copied to a new draft."), "post-edit", post_group_id=draft_id)


def describe_creator(group: PostGroup) -> str:
    """Return in words, for the dashboard page of one post, who created it: an agent's name, a person, or an API key."""
    if group.agent_id:
        name = Agent.objects.filter(pk=group.agent_id).values_list("name", flat=True).first()
        return pgettext("after “by”", "the agent %(name)s") % {"name": name} if name else pgettext("after “by”", "an agent")
    return pgettext("after “by”", "a person") if group.created_by_type == "user" else pgettext("after “by”", "an API key")


def _possible(page: WorkspacePage, shown: ShownGroup) -> dict[str, Any]:
    """Return which actions, such as cancelling or retrying the post, a post's dashboard page offers as buttons.

    The services check the permissions again.
    """
    group = shown.group
    states = [each.target.status for each in shown.targets]
    editable = page.may_write_posts and group.status in CANCELLABLE_GROUP_STATUSES and not group.was_attempted
    retryable = page.may_publish_without_approval and group.status in GROUP_STATUSES_WITH_RETRIES
    unstarted = [each.target for each in shown.targets if is_pending_and_unclaimed(each.target)]
    begins = _begins_soon(group, unstarted)
    runs = group.status == GroupStatus.PUBLISHING and not UNFINISHED_TARGET_STATUSES.isdisjoint(states)
    # The form moves the targets that have no time of their own.
    movable = page.may_write_posts and any(
        is_unattempted_target(each) and each.scheduled_at == group.scheduled_at for each in unstarted
    )
    released = group.status in (GroupStatus.SCHEDULED, GroupStatus.PUBLISHING) and group.scheduled_at is not None
    return {
        "runs": runs and not begins,
        "begins": begins,
        "may_edit": editable,
        "may_review": page.may_manage and group.status == GroupStatus.PENDING_CONFIRMATION,
        "cancellation": cancellation_or_none(group, begins=begins) if page.may_write_posts else None,
        "may_retry": retryable,
        "next_steps": steps_after_failure(shown) if retryable else [],
        "failed": states.count(TargetStatus.FAILED),
        "unconfirmed": states.count(TargetStatus.UNCONFIRMED),
        "schedule": ScheduleForm(zone=page.zone, at=group.scheduled_at, required=True)
        if movable and released and not begins
        else None,
    }


def _begins_soon(group: PostGroup, unstarted: Sequence[PostTarget]) -> bool:
    """Return whether a post's dashboard page must say that it is about to be published, or sent again after a failure."""
    soon, first = timezone.now() + PUBLISHING_DELAY_FOR_UNDO, group.shown_scheduled_at_or_none
    if group.status == GroupStatus.SCHEDULED:
        return not group.was_attempted and first is not None and first <= soon
    due = [each.due_at for each in unstarted if each.due_at]
    unfinished = [each for each in group.targets.all() if each.status in UNFINISHED_TARGET_STATUSES]
    return 0 < len(due) == len(unfinished) and timezone.now() < min(due) <= soon
