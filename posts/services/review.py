"""Review of post groups by people, who approve or reject them; agents can do neither."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from billing import selectors as billing
from billing.services import hold_costs
from config.api.caller import Caller, require_access
from config.api.errors import Conflict, Forbidden, InvalidState
from config.api.scopes import any_of
from config.jobs.wake_up import wake_worker_loop_after_commit
from posts import selectors
from posts.attached_media import end_group_media_protection
from posts.events import emit_group_event
from posts.models import PostGroup, PostTarget
from posts.planning import charges_of_targets, check_schedule, stored_target_inputs, validate_content
from posts.services.changes import audit_group_operation, stop_all_targets_or_raise
from posts.states import GroupStatus, TargetStatus

REVIEWERS = any_of("posts.publish", "posts.schedule")
CONFIRMABLE = (GroupStatus.DRAFT, GroupStatus.PENDING_CONFIRMATION)


def confirm_post(
    *, caller: Caller, post_group_id: str, content_version: int, scheduled_at: datetime | None = None, dry_run: bool = False
) -> PostGroup:
    """Approve a draft or a post awaiting approval, which is then published at `scheduled_at`, at its own set time, or now.

    `content_version` is the version that the person has read. Validates the content again and holds the money. Raises
    Forbidden (an agent), ScopeMissing, NotFound, InvalidState, Conflict (another version is current), ValidationFailed,
    ContentInvalid and the spend errors.
    """
    group = _reviewable_group(caller, post_group_id)
    check_schedule(scheduled_at)
    now = timezone.now()
    when = scheduled_at or (group.scheduled_at if group.scheduled_at and group.scheduled_at > now else None)
    require_access(caller, group.workspace_id, "posts.schedule" if when else "posts.publish")
    _check_version(group, content_version)
    validate_content(stored_target_inputs(group), group_id=group.id)
    if dry_run:
        charges = charges_of_targets(list(group.targets.all()))
        billing.check_charges(workspace_id=group.workspace_id, agent_id=group.agent_id, charges=charges, due=when or now)
        _release(group, when, when or now)
        audit_group_operation(caller, group, "posts.confirm", dry_run=True)
        return group
    with transaction.atomic():
        PostGroup.objects.select_for_update().get(pk=group.pk)
        group = selectors.groups_with_targets().get(pk=group.pk)
        _check_version(group, content_version)
        charges = charges_of_targets(list(group.targets.all()))
        hold_costs(workspace_id=group.workspace_id, agent_id=group.agent_id, charges=charges, due=when or now)
        _release(group, when, when or now)
        PostTarget.objects.filter(group=group).update(due_at=when or now, updated_at=now)
        group.save(update_fields=("status", "scheduled_at", "updated_at"))
        emit_group_event(group, "post.confirmed")
        if when:
            emit_group_event(group)
        audit_group_operation(caller, group, "posts.confirm")
        wake_worker_loop_after_commit("publish")
    return group


def reject_post(*, caller: Caller, post_group_id: str, reason: str | None = None, dry_run: bool = False) -> PostGroup:
    """Reject a post group awaiting approval. Raises Forbidden (an agent), ScopeMissing, NotFound, InvalidState."""
    group = _reviewable_group(caller, post_group_id)
    _require_pending_confirmation(group)
    if dry_run:
        _reject(group, reason)
        audit_group_operation(caller, group, "posts.reject", dry_run=True)
        return group
    with transaction.atomic():
        _require_pending_confirmation(PostGroup.objects.select_for_update().get(pk=group.pk))
        stop_all_targets_or_raise(group, cancel=True)
        end_group_media_protection(group)
        group = selectors.groups_with_targets().get(pk=group.pk)
        _reject(group, reason)
        group.save(update_fields=("status", "rejection_reason", "finished_at", "updated_at"))
        emit_group_event(group)
        audit_group_operation(caller, group, "posts.reject")
    return group


def _reviewable_group(caller: Caller, post_group_id: str) -> PostGroup:
    group = selectors.get_post_group(caller=caller, post_group_id=post_group_id, scope=REVIEWERS, write=True)
    if caller.agent_id:
        raise Forbidden("Agents cannot confirm or reject posts. Use a person's session or a workspace key.")
    return group


def _check_version(group: PostGroup, content_version: int) -> None:
    if group.status not in CONFIRMABLE:
        raise InvalidState(f"The group is {group.status}. Only drafts and groups awaiting confirmation can be confirmed.")
    if group.content_version != content_version:
        raise Conflict(
            f"The current content version is {group.content_version}, not {content_version}.",
            suggested_action="Read the group again, then confirm the version you read.",
        )


def _require_pending_confirmation(group: PostGroup) -> None:
    if group.status != GroupStatus.PENDING_CONFIRMATION:
        raise InvalidState(f"The group is {group.status}. Only groups awaiting confirmation can be rejected.")


def _release(group: PostGroup, when: datetime | None, due: datetime) -> None:
    group.status = GroupStatus.SCHEDULED if when else GroupStatus.PUBLISHING
    group.scheduled_at, group.updated_at = when, timezone.now()
    for target in group.targets.all():
        target.due_at = due


def _reject(group: PostGroup, reason: str | None) -> None:
    group.status, group.rejection_reason = GroupStatus.REJECTED, reason
    group.finished_at = group.updated_at = timezone.now()
    for target in group.targets.all():
        target.status, target.due_at = TargetStatus.CANCELLED, None
