"""Editing of drafts, scheduled post groups and post groups awaiting approval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from billing import selectors as billing
from billing.services import hold_costs, lock_month_counters
from config.api.caller import Caller, check_account_allowlist, require_access
from config.api.errors import Conflict, InvalidState, ValidationFailed
from config.jobs.wake_up import wake_worker_loop_after_commit
from posts import selectors
from posts.attached_media import (
    attached_assets_by_id,
    attached_media_from_request,
    end_group_media_protection,
    protect_group_media_from_deletion,
)
from posts.events import emit_group_event
from posts.models import PostGroup, PostTarget
from posts.planning import (
    WRITE_SCOPES,
    PostPlan,
    build_plan,
    check_schedule,
    find_target_accounts,
    initial_status_for_caller,
    paying_agent_id,
    resolve_targets,
    targets_as_request_data,
    validate_content,
)
from posts.services.changes import (
    audit_group_operation,
    require_publishing_not_begun,
    stop_all_targets_or_raise,
    too_late_error,
)
from posts.states import CANCELLABLE, GroupStatus

EDITABLE = CANCELLABLE
GROUP_FIELDS = ("status", "text", "media", "scheduled_at", "sandbox", "content_version")
TARGET_FIELDS = ("position", "sandbox", "text", "options", "content_sha256", "price_cents", "url_posts", "due_at")


def update_post(
    *, caller: Caller, post_group_id: str, content_version: int | None = None, dry_run: bool = False, **changes: Any
) -> PostGroup:
    """Edit a post group's text, targets, media or scheduled_at, and raise its content_version.

    If the group is released, the new price is held. An edit by an agent that needs confirmation sends the group back for
    approval. `content_version`, if given, must be the current version. Raises NotFound, ScopeMissing, InvalidState, Conflict,
    AgentModeForbids, ValidationFailed, AccountNotAllowed, ContentInvalid and the spend errors.
    """
    group = selectors.get_post_group(caller=caller, post_group_id=post_group_id, scope=WRITE_SCOPES, write=True)
    require_access(caller, group.workspace_id, WRITE_SCOPES if group.sandbox or dry_run else _scope(group, changes))
    check_account_allowlist(caller, group.account_ids)  # the current accounts; `_plan` checks the new ones
    if group.status not in EDITABLE:
        raise too_late_error(group)
    if group.was_attempted:
        raise InvalidState("Some targets were already published or attempted, so the content can no longer be changed.")
    if content_version not in (None, group.content_version):
        raise _conflict()
    plan = _plan(caller, group, changes)
    if dry_run:
        require_publishing_not_begun(group)
        _check_money(caller, group, plan)
        _preview(group, plan)
        _record(caller, group, changes, dry_run=True)
        return group
    with transaction.atomic():
        written = _write(caller, group, plan)
        _emit_events(group, written)
        _record(caller, written, changes)
        if plan.released:
            wake_worker_loop_after_commit("publish")
    return written


def _conflict() -> Conflict:
    return Conflict("Somebody else changed the group in the meantime.")


def _scope(group: PostGroup, changes: Mapping[str, Any]) -> str:
    if group.status == GroupStatus.DRAFT:
        return "posts.draft"
    return "posts.schedule" if changes.get("scheduled_at", group.scheduled_at) else "posts.publish"


def _plan(caller: Caller, group: PostGroup, changes: Mapping[str, Any]) -> PostPlan:
    scheduled_at = changes.get("scheduled_at", group.scheduled_at)
    if "scheduled_at" in changes:
        check_schedule(scheduled_at)
        if scheduled_at is None and group.status == GroupStatus.SCHEDULED:
            raise ValidationFailed.for_field("scheduled_at", "A scheduled group needs a time. Cancel it instead.", "required")
    status = initial_status_for_caller(caller, GroupStatus(group.status))
    media = changes.get("media", group.media)
    attached = attached_media_from_request(media, attached_assets_by_id(group.workspace_id, media))
    text = changes.get("text", group.text)
    targets = changes.get("targets") or targets_as_request_data(group)
    accounts = find_target_accounts(group.workspace_id, targets)
    inputs = resolve_targets(caller, accounts, text, targets, group.sandbox, attached)
    validation = validate_content(inputs, draft=group.status == GroupStatus.DRAFT, group_id=group.id)
    edited = PostGroup.objects.get(pk=group.pk)
    edited.status, edited.text, edited.media, edited.scheduled_at = status, text, list(media), scheduled_at
    edited.sandbox = all(each.sandbox for each in inputs)
    edited.content_version = group.content_version + 1
    return build_plan(edited, inputs, validation, {each.account_id: each.id for each in group.targets.all()})


def _write(caller: Caller, group: PostGroup, plan: PostPlan) -> PostGroup:
    locked = PostGroup.objects.select_for_update().get(pk=group.pk)
    if locked.status != group.status:
        raise too_late_error(locked)
    if locked.content_version != group.content_version:
        raise _conflict()
    if not plan.group.media:
        end_group_media_protection(locked)
    protect_group_media_from_deletion(plan.group)
    targets, paying = [target.id for target in group.targets.all()], paying_agent_id(caller, group)
    lock_month_counters(target_ids=targets, workspace_id=group.workspace_id, agent_id=paying, due=plan.due)
    stop_all_targets_or_raise(locked, cancel=False)
    _write_targets(group, plan)
    if plan.released and plan.charges:
        hold_costs(workspace_id=group.workspace_id, agent_id=paying, charges=plan.charges, due=plan.due)
    plan.group.save(update_fields=(*GROUP_FIELDS, "updated_at"))
    return selectors.groups_with_targets().get(pk=group.pk)


def _write_targets(group: PostGroup, plan: PostPlan) -> None:
    """Save the targets of an edited post group: create, update and delete rows; remaining targets keep their ids."""
    before, after = {each.id for each in group.targets.all()}, {row.id for row in plan.targets}
    PostTarget.objects.filter(pk__in=before - after).delete()
    for row in plan.targets:
        if row.id in before:
            PostTarget.objects.filter(pk=row.id).update(**{name: getattr(row, name) for name in TARGET_FIELDS})
    PostTarget.objects.bulk_create(row for row in plan.targets if row.id not in before)


def _check_money(caller: Caller, group: PostGroup, plan: PostPlan) -> None:
    """Check the spend limits for an edited post group, without counting the money held for the post before the edit."""
    if plan.released:
        billing.check_charges(
            workspace_id=group.workspace_id,
            agent_id=paying_agent_id(caller, group),
            charges=plan.charges,
            due=plan.due,
            instead_of=[target.id for target in group.targets.all()],
        )


def _preview(group: PostGroup, plan: PostPlan) -> None:
    for name in GROUP_FIELDS:
        setattr(group, name, getattr(plan.group, name))
    group.updated_at = timezone.now()
    selectors.set_prefetched_targets(group, plan.targets)


def _emit_events(before: PostGroup, after: PostGroup) -> None:
    waits_now = after.status == GroupStatus.PENDING_CONFIRMATION != before.status
    moved = after.status == GroupStatus.SCHEDULED and after.scheduled_at != before.scheduled_at
    if waits_now or moved:
        emit_group_event(after)


def _record(caller: Caller, group: PostGroup, changes: Mapping[str, Any], *, dry_run: bool = False) -> None:
    metadata = {"fields": sorted(changes), "content_version": group.content_version}
    audit_group_operation(caller, group, "posts.update", dry_run=dry_run, metadata=metadata)
