"""Undoing what a person has just done on a dashboard page: publishing, approving, scheduling, moving or deleting a post.

Sending a failed post again can be undone, too.

An offer to undo (undo_offers.py) is a signed token in the address of the button, which names the action and what was there
before.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any

from django.contrib import messages
from django.core import signing
from django.http import HttpResponse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.api.errors import Conflict, InvalidState, NotFound, ValidationFailed
from config.pages.sentences import PageRefusal
from posts import services
from posts.content import PostEdit, PostInput
from posts.dashboard.approval_words import (
    count_needing_approval_if_moved,
    move_undone_message,
    moved_message_with_approval_count,
    needs_approval_if_moved,
)
from posts.dashboard.composer_draft_forms import composer_address_of_draft, find_composer_draft
from posts.dashboard.copied_content import copy_post_to_composer_draft, request_fields_to_copy_post
from posts.dashboard.inputs import get_post_group_of_workspace, validated_page_input
from posts.dashboard.undo_offers import UNDO_SALT, UndoOffer
from posts.models import PostGroup
from posts.serializers.requests import CreatePostSerializer
from posts.services import composer_drafts
from posts.services.queue import undo_queue_change
from posts.services.restore_cancelled import restore_cancelled_post
from posts.services.take_back import take_back_approval
from posts.services.take_back_retry import take_back_retry
from posts.services.target_moves import TargetTime, target_inputs_with_times
from posts.states import CANCELLABLE_GROUP_STATUSES, GroupStatus
from workspaces.workspace_page import WorkspacePage, run_once_per_submission, workspace_page

UNDO_TOKEN_SECONDS = 600  # an offer without a time limit of its own ends then
TOO_LATE_MESSAGE = gettext_lazy("This can no longer be undone.")


@workspace_page("POST", operation="posts.update")
def undo_last_action(page: WorkspacePage) -> HttpResponse:
    """Dashboard action that undoes what the signed-in person has just done, as described by the signed token in the URL."""
    token = page.request.GET.get("token", "")
    try:
        user_id, workspace_id, content = signing.loads(token, salt=UNDO_SALT, max_age=UNDO_TOKEN_SECONDS)
    except signing.BadSignature as error:
        raise PageRefusal(" ".join([str(TOO_LATE_MESSAGE), _("Change the post instead.")])) from error
    if (user_id, workspace_id) != (page.caller.actor_id, page.workspace.id):
        raise NotFound()
    offer = UndoOffer(**content)
    if offer.action in ("discard", "queue"):
        return (_restore_draft if offer.action == "discard" else _restore_queue)(page, offer)
    group = get_post_group_of_workspace(page, offer.subject)
    _require_unchanged(group, offer)
    try:
        return _ACTIONS[offer.action](page, group, offer)
    except (Conflict, InvalidState) as error:
        raise PageRefusal(_too_late_message(offer)) from error


@workspace_page("POST")
def discard_draft_and_offer_undo(page: WorkspacePage) -> HttpResponse:
    """Dashboard action that discards a composer draft of the signed-in person, and offers to undo that."""
    draft = find_composer_draft(page, page.request.POST.get("draft", ""))
    if draft is None:
        return page.redirect(page.url_of_page("compose"))
    composer_drafts.discard_draft(caller=page.caller, workspace_id=page.workspace.id, key=draft.key)
    undo = UndoOffer("discard", draft.key).address(page)
    return page.success_redirect(_("The unfinished post was discarded."), "compose", undo=undo)


def apply_undo_offer_to_post(page: WorkspacePage, group: PostGroup, offer: UndoOffer) -> bool:
    """Undo the approval, move, deletion or retry of a single post that an UndoOffer describes. Raises API errors.

    Returns whether the post waits for approval because the signed-in person may not publish without it.
    """
    _require_unchanged(group, offer)
    match offer.action:
        case "approve":
            _await_approval_again(page, group, offer)
        case "move_entry":
            _move_targets_back(page, group, offer)
        case "delete":
            _restore_cancelled(page, group, offer)
        case "retry":
            take_back_retry(caller=page.caller, post_group_id=group.id, before=offer.before_retry)
        case _:
            raise PageRefusal(str(TOO_LATE_MESSAGE))
    return offer.status != GroupStatus.DRAFT and needs_approval_if_moved(page, group)


def _require_unchanged(group: PostGroup, offer: UndoOffer) -> None:
    """Raise PageRefusal if somebody has done something else with a post since the offer to undo was made.

    A cancelled post may be this offer's own work, when its button is pressed twice.
    """
    if offer.plan_hash and offer.plan_hash != group.plan_hash and group.status != GroupStatus.CANCELLED:
        raise PageRefusal(_too_late_message(offer))


def _too_late_message(offer: UndoOffer) -> str:
    status = PostGroup.objects.values_list("status", flat=True).get(pk=offer.subject)
    if status == GroupStatus.CANCELLED and offer.action == "delete":
        return str(TOO_LATE_MESSAGE)
    if status == GroupStatus.CANCELLED or (status in CANCELLABLE_GROUP_STATUSES and offer.action == "delete"):
        return _("This was already undone.")
    if status in CANCELLABLE_GROUP_STATUSES:
        return _("The post was changed in the meantime. This can no longer be undone.")
    why = _("The post is already being published, and what is out can only be deleted at the platform.")
    return " ".join([str(TOO_LATE_MESSAGE), why])


def _restore_draft(page: WorkspacePage, offer: UndoOffer) -> HttpResponse:
    composer_drafts.restore_discarded_draft(caller=page.caller, workspace_id=page.workspace.id, key=offer.subject)
    draft = find_composer_draft(page, offer.subject)
    if draft is None:
        raise PageRefusal(str(TOO_LATE_MESSAGE))
    messages.success(page.request, _("Undone. Your unfinished post is back."))
    return page.redirect(composer_address_of_draft(page, draft))


def _restore_queue(page: WorkspacePage, offer: UndoOffer) -> HttpResponse:
    try:
        plan = undo_queue_change(caller=page.caller, plan_id=offer.subject)
    except (Conflict, InvalidState, ValidationFailed) as error:
        raise PageRefusal(_("A post was changed since, or its slot was taken. This can no longer be undone.")) from error
    groups = [change.after for change in plan.changes]
    if len(groups) == 1:
        return page.success_redirect_back(move_undone_message(page, groups[0]))
    words = _("Undone: the posts have their former times again.")
    return page.success_redirect_back(
        moved_message_with_approval_count(words, count_needing_approval_if_moved(page, groups), len(groups))
    )


def _back_to_composer(page: WorkspacePage, group: PostGroup, offer: UndoOffer) -> HttpResponse:
    """Undo the publishing of a new post: cancel it and open the composer with its content."""
    services.cancel_post(caller=page.caller, post_group_id=group.id)
    draft = copy_post_to_composer_draft(page, group, when=offer.when)
    messages.success(page.request, _("Undone: nothing was published. Your text is back in the composer."))
    return page.redirect(composer_address_of_draft(page, draft))


def _back_to_draft(page: WorkspacePage, group: PostGroup, offer: UndoOffer) -> HttpResponse:
    """Undo the scheduling of a draft: cancel the post, and create the draft again."""

    def cancel_and_create() -> Any:
        services.cancel_post(caller=page.caller, post_group_id=group.id)
        return _created_draft(page, group, offer)

    key = sha256(f"{page.request.GET['token']} {offer.subject}".encode()).hexdigest()
    draft_id = run_once_per_submission(page, "posts.create", cancel_and_create, key=key)[0]
    return page.success_redirect(
        _("Undone: nothing was published. The post is a draft again."), "post", post_group_id=draft_id
    )


def _back_to_approval(page: WorkspacePage, group: PostGroup, offer: UndoOffer) -> HttpResponse:
    _await_approval_again(page, group, offer)
    is_draft = offer.status == GroupStatus.DRAFT
    words = _("Undone: the post is a draft again.") if is_draft else _("Undone: the post awaits approval again.")
    return page.success_redirect(words, "post", post_group_id=group.id)


def _await_approval_again(page: WorkspacePage, group: PostGroup, offer: UndoOffer) -> None:
    status = GroupStatus(offer.status)
    take_back_approval(caller=page.caller, post_group_id=group.id, status=status, scheduled_at=offer.moment)


def _back_to_former_time(page: WorkspacePage, group: PostGroup, offer: UndoOffer) -> HttpResponse:
    edit = PostEdit(scheduled_at=offer.moment)
    services.update_post(caller=page.caller, post_group_id=group.id, content_version=offer.version, edit=edit)
    return page.success_redirect(move_undone_message(page, group), "post", post_group_id=group.id)


def _move_entry_back(page: WorkspacePage, group: PostGroup, offer: UndoOffer) -> HttpResponse:
    _move_targets_back(page, group, offer)
    return page.success_redirect_back(move_undone_message(page, group))


def _move_targets_back(page: WorkspacePage, group: PostGroup, offer: UndoOffer) -> None:
    former = {account_id: TargetTime(parse_datetime(at), slot) for account_id, at, slot in offer.times}
    writes = target_inputs_with_times(group, former)
    edit = PostEdit(scheduled_at=offer.moment, targets=writes)
    services.update_post(caller=page.caller, post_group_id=group.id, content_version=offer.version, edit=edit)


def _back_to_uncancelled(page: WorkspacePage, group: PostGroup, offer: UndoOffer) -> HttpResponse:
    words = {
        GroupStatus.DRAFT: _("Undone. The draft is back."),
        GroupStatus.PENDING_CONFIRMATION: _("Undone. The post is back, and waits for approval."),
    }
    status = _restore_cancelled(page, group, offer)
    return page.success_redirect(words.get(status, _("Undone. The post is scheduled again.")), "post", post_group_id=group.id)


def _restore_cancelled(page: WorkspacePage, group: PostGroup, offer: UndoOffer) -> GroupStatus:
    """Undo the deletion or cancellation of a post from the dashboard; return the status that the post has again."""
    plan = restore_cancelled_post(
        caller=page.caller, post_group_id=group.id, status=GroupStatus(offer.status), cancelled_at=offer.moment
    )
    return GroupStatus(plan.group.status)


def _created_draft(page: WorkspacePage, group: PostGroup, offer: UndoOffer) -> PostGroup:
    """Undo the scheduling of a draft: create it again from the post's content, without times that have passed."""
    now = timezone.now()
    body = request_fields_to_copy_post(group, times_after=now) | {"draft": True, "metadata": group.metadata}
    if offer.moment and offer.moment > now:
        body["scheduled_at"] = offer.at
    if group.webhook_url:
        body["webhook_url"] = group.webhook_url
    post = PostInput.from_request(validated_page_input(CreatePostSerializer, body))
    return services.create_post(caller=page.caller, post=post).group


_ACTIONS: dict[str, Callable[[WorkspacePage, PostGroup, UndoOffer], HttpResponse]] = {
    "unpublish": _back_to_composer,
    "release": _back_to_draft,
    "approve": _back_to_approval,
    "move": _back_to_former_time,
    "move_entry": _move_entry_back,
    "delete": _back_to_uncancelled,
}
