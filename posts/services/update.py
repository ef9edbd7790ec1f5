"""Editing of drafts, scheduled post groups and post groups awaiting approval."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.utils import timezone

from config.api.caller import Caller, check_account_allowlist, require_access
from config.api.errors import Conflict, InvalidState, ValidationFailed
from posts import selectors
from posts.attached_media import attached_media_ids, match_media_to_assets, workspace_assets_by_id
from posts.content import UNCHANGED, PostEdit, media_writes_of_group, target_writes_of_group
from posts.models import PostGroup, PostTarget
from posts.plan import GroupChange, Plan, copy_of_group
from posts.planning import (
    WRITE_SCOPES,
    build_target,
    build_target_inputs,
    capped_agent_id,
    check_schedule,
    find_target_accounts,
    initial_status_for_caller,
    is_released,
    validate_content,
)
from posts.services.changes import publishing_begun_error, require_unstarted_targets, take_target_from_publisher
from posts.services.commit import plan_and_commit
from posts.states import CANCELLABLE_GROUP_STATUSES, GroupStatus
from posts.validation import TargetToValidate

EDITABLE_GROUP_STATUSES = CANCELLABLE_GROUP_STATUSES
EDITED_TARGET_FIELDS = ("position", "sandbox", "text", "options", "content_sha256", "price_cents", "url_posts", "due_at")


def update_post(
    *,
    caller: Caller,
    post_group_id: str,
    edit: PostEdit,
    content_version: int | None = None,
    dry_run: bool = False,
    plan_hash: str | None = None,
) -> Plan:
    """Edit a post group's text, targets, media or scheduled_at, and raise its content_version.

    If the group is released, the new price is held. An edit by an agent that needs confirmation sends the group back for
    approval. `content_version`, if given, must be the current version. Raises NotFound, ScopeMissing, InvalidState, Conflict,
    AgentModeForbids, ValidationFailed, AccountNotAllowed, ContentInvalid, PlanChanged and the spend errors.
    """
    return plan_and_commit(
        lambda: plan_update(caller, post_group_id, edit, content_version=content_version, dry_run=dry_run),
        dry_run=dry_run,
        plan_hash=plan_hash,
    )


def plan_update(
    caller: Caller, post_group_id: str, edit: PostEdit, *, content_version: int | None = None, dry_run: bool = False
) -> Plan:
    """Plan an edit of a post group, with the errors of `update_post`."""
    group = selectors.get_post_group(caller=caller, post_group_id=post_group_id, scope=WRITE_SCOPES, write=True)
    require_access(caller, group.workspace_id, WRITE_SCOPES if group.sandbox or dry_run else _scope(group, edit))
    check_account_allowlist(caller, group.account_ids)  # the current accounts; `build_target_inputs` checks the new ones
    if group.status not in EDITABLE_GROUP_STATUSES:
        raise publishing_begun_error(group)
    if group.was_attempted:
        raise InvalidState("Some targets were already published or attempted, so the content can no longer be changed.")
    if content_version not in (None, group.content_version):
        raise Conflict("Somebody else changed the group in the meantime.")
    change = _edited(caller, group, edit)
    require_unstarted_targets(group)
    return Plan("posts.update", caller, group.workspace_id, [change], refuses_changes=True)


def _scope(group: PostGroup, edit: PostEdit) -> str:
    if group.status == GroupStatus.DRAFT:
        return "posts.draft"
    return "posts.schedule" if _publishing_time(group, edit) else "posts.publish"


def _publishing_time(group: PostGroup, edit: PostEdit) -> datetime | None:
    return group.scheduled_at if edit.scheduled_at is UNCHANGED else edit.scheduled_at


def _edited(caller: Caller, group: PostGroup, edit: PostEdit) -> GroupChange:
    scheduled_at = _publishing_time(group, edit)
    if edit.scheduled_at is not UNCHANGED:
        check_schedule(scheduled_at)
        if scheduled_at is None and group.status == GroupStatus.SCHEDULED:
            raise ValidationFailed.for_field("scheduled_at", "A scheduled group needs a time. Cancel it instead.", "required")
    after = copy_of_group(group)
    after.status = initial_status_for_caller(caller, GroupStatus(group.status))
    after.text = group.text if edit.text is None else edit.text
    after.scheduled_at, after.content_version = scheduled_at, group.content_version + 1
    media = media_writes_of_group(group) if edit.media is None else edit.media
    after.media = [each.as_stored_json() for each in media]
    assets = workspace_assets_by_id(group.workspace_id, [*attached_media_ids(group), *attached_media_ids(after)])
    targets = edit.targets or target_writes_of_group(group)
    accounts = find_target_accounts(group.workspace_id, targets)
    inputs = build_target_inputs(caller, accounts, after.text, targets, group.sandbox, match_media_to_assets(media, assets))
    validation = validate_content(inputs, draft=group.status == GroupStatus.DRAFT, group_id=group.id)
    after.sandbox = all(each.sandbox for each in inputs)
    due = scheduled_at or timezone.now()
    rows = _edited_targets(after, inputs, due)
    selectors.set_prefetched_targets(after, rows)
    waits_now = after.status == GroupStatus.PENDING_CONFIRMATION != group.status
    moved = after.status == GroupStatus.SCHEDULED and scheduled_at != group.scheduled_at
    return GroupChange(
        before=group,
        after=after,
        moment=scheduled_at,
        due=due,
        assets=assets,
        validation=validation,
        holds=rows if is_released(after) else (),
        releases=list(group.targets.all()) if is_released(group) else (),
        capped_agent_id=capped_agent_id(caller, group),
        events=((f"post.{after.status}", None),) if waits_now or moved else (),
        audit={"fields": edit.changed_fields, "content_version": after.content_version},
    )


def _edited_targets(group: PostGroup, inputs: Sequence[TargetToValidate], due: datetime) -> list[PostTarget]:
    """Return the targets of an edited post group: those of remaining accounts with their ids, and new ones."""
    stored = {target.account_id: target for target in group.targets.all()}
    rows = []
    for position, each in enumerate(inputs):
        row = build_target(group, position, each, due)
        if kept := stored.get(each.account.id):
            take_target_from_publisher(kept)
            for name in EDITED_TARGET_FIELDS:
                setattr(kept, name, getattr(row, name))
        rows.append(kept or row)
    return rows
