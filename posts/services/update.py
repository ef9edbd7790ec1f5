"""Updates of posts: drafts, post groups awaiting approval, and the targets of released groups that have not begun."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext_noop

from config.api.caller import Caller, check_account_allowlist, require_access
from config.api.errors import Conflict, InvalidState, ValidationFailed
from posts import selectors
from posts.attached_media import attached_media_ids, match_media_to_assets
from posts.content import UNCHANGED, PostEdit, PostInput, TargetInput, media_inputs_of_group, target_inputs_of_group
from posts.models import PostGroup, PostTarget
from posts.plan import GroupChange, Plan, copy_of_group
from posts.plan_building import (
    WRITE_SCOPES,
    RowsForPlans,
    agent_id_for_caps,
    build_post_target,
    build_targets_to_validate,
    initial_status_for_caller,
    is_scheduled_or_publishing,
    refuse_caller_needing_approval,
    validate_content_or_raise,
)
from posts.services.changes import (
    end_unsaved_group_if_all_targets_ended,
    is_unattempted_target,
    mark_cancelled_or_unconfirmed_unsaved,
    unstarted_targets_or_raise_if_none,
    withdraw_unsaved_target_from_publisher,
)
from posts.services.commit import plan_and_commit
from posts.slot_choice import FreeSlots, choose_times_of_targets
from posts.states import Certainty, GroupStatus, TargetStatus
from posts.target_times import refuse_past_or_too_late_times, scopes_required_by_times, whether_targets_have_times

EDITED_TARGET_FIELDS = (
    *(
        "position",
        "sandbox",
        "text",
        "options",
        "content_sha256",
        "price_cents",
        "url_posts",
        "scheduled_at",
        "slot",
        "due_at",
        "status",
    ),
)


def update_post(
    *,
    caller: Caller,
    post_group_id: str,
    edit: PostEdit,
    content_version: int | None = None,
    dry_run: bool = False,
    plan_hash: str | None = None,
) -> Plan:
    """Update a post group: edit its text, targets, media or scheduled_at, and raise its content_version.

    Targets that have begun stay as they are. If the group is released, the new price is held. An edit by an agent that needs
    confirmation sends the group back for approval. `content_version`, if given, must be the current version. Raises NotFound,
    ScopeMissing, InvalidState, Conflict, AgentModeForbids, ValidationFailed, AccountNotAllowed, ContentInvalid, PlanChanged
    and the spend errors.
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
    change = plan_change_of_group(caller, group, edit, content_version=content_version, dry_run=dry_run)
    return Plan("posts.update", caller, group.workspace_id, [change], refuses_changes=True)


def plan_change_of_group(
    caller: Caller,
    group: PostGroup,
    edit: PostEdit,
    *,
    content_version: int | None = None,
    dry_run: bool = False,
    free: FreeSlots | None = None,
) -> GroupChange:
    """Return the change of a plan that edits a stored post group, after the checks of `update_post`.

    `free` are the free slots for all edits of a plan of several posts.
    """
    for scope in () if group.sandbox or dry_run else _scopes(group, edit):
        require_access(caller, group.workspace_id, scope)
    check_account_allowlist(caller, group.account_ids)  # build_targets_to_validate checks the edit's
    if not any(map(is_unattempted_target, unstarted_targets_or_raise_if_none(group))):
        raise InvalidState(
            gettext_noop("All targets were already published or attempted, so the content can no longer be changed.")
        )
    if content_version not in (None, group.content_version):
        raise Conflict(gettext_noop("Somebody else changed the group in the meantime."))
    return _edited(caller, group, edit, free or FreeSlots(own=[target.id for target in group.targets.all()]))


def _scopes(group: PostGroup, edit: PostEdit) -> list[str]:
    if group.status == GroupStatus.DRAFT:
        return ["posts.draft"]
    scheduled = whether_targets_have_times(_publishing_time(group, edit), _changed_targets(group, edit))
    return scopes_required_by_times(scheduled) or ["posts.schedule"]  # as for a cancellation


def _publishing_time(group: PostGroup, edit: PostEdit) -> datetime | None:
    return group.scheduled_at if edit.scheduled_at is UNCHANGED else edit.scheduled_at


def _wanted_targets(group: PostGroup, edit: PostEdit) -> Sequence[TargetInput]:
    return edit.targets or target_inputs_of_group(group)


def _changed_targets(group: PostGroup, edit: PostEdit) -> list[TargetInput]:
    """Return the targets of a post that an update may edit: new ones, and those whose publishing has not begun."""
    begun = {target.account_id for target in group.targets.all() if _has_begun(target)}
    return [each for each in _wanted_targets(group, edit) if each.connected_account_id not in begun]


def _has_begun(target: PostTarget) -> bool:
    """Return whether publishing to a target has begun, so that updates keep the target; False if it was cancelled unsent."""
    was_never_sent = not target.attempts and target.certainty == Certainty.NOT_SENT
    return not is_unattempted_target(target) and not (target.status == TargetStatus.CANCELLED and was_never_sent)


def _edited(caller: Caller, group: PostGroup, edit: PostEdit, free: FreeSlots) -> GroupChange:
    scheduled_at = _publishing_time(group, edit)
    wanted = _wanted_targets(group, edit)
    begun = {target.account_id for target in group.targets.all() if _has_begun(target)}
    _check_edit(caller, group, edit, begun=bool(begun))
    after = copy_of_group(group)
    after.status = GroupStatus(group.status) if begun else initial_status_for_caller(caller, GroupStatus(group.status))
    after.text = group.text if edit.text is None else edit.text
    after.scheduled_at, after.content_version = scheduled_at, group.content_version + 1
    after.metadata = group.metadata if edit.metadata is None else dict(edit.metadata)
    media = media_inputs_of_group(group) if edit.media is None else edit.media
    after.media = [each.as_stored_json() for each in media]
    written = PostInput(after.text, tuple(wanted), media)
    read = RowsForPlans.read(group.workspace_id, [written], group_id=group.id, other_media=attached_media_ids(group))
    attached = match_media_to_assets(media, read.assets)
    inputs = build_targets_to_validate(caller, read.accounts, after.text, wanted, group.sandbox, attached)
    draft = group.status == GroupStatus.DRAFT
    validation = validate_content_or_raise(inputs, draft=draft, duplicates=read.duplicates, ignored=begun)
    now = timezone.now()
    times = choose_times_of_targets(scheduled_at, wanted, read.accounts, draft=draft, free=free)
    changed = [
        build_post_target(after, place, each, at, now, slot=bool(given.slot))
        for place, (each, at, given) in enumerate(zip(inputs, times, wanted, strict=True))
        if each.account.id not in begun
    ]
    rows = _edited_targets(group, after, changed)
    selectors.set_prefetched_targets(after, rows)
    after.sandbox = all(each.sandbox for each in rows)
    ended = bool(begun) and end_unsaved_group_if_all_targets_ended(after)
    return GroupChange(
        before=group,
        after=after,
        moment=scheduled_at,
        due=scheduled_at or now,
        assets=read.assets,
        validation=validation,
        holds=[each for each in rows if each.account_id not in begun and each.due_at]
        if is_scheduled_or_publishing(after)
        else (),
        releases=[each for each in group.targets.all() if is_unattempted_target(each)]
        if is_scheduled_or_publishing(group)
        else (),
        agent_id_for_caps=agent_id_for_caps(caller, group),
        events=_events(group, after, ended=ended),
        audit={"fields": edit.changed_field_names, "content_version": after.content_version},
    )


def _check_edit(caller: Caller, group: PostGroup, edit: PostEdit, *, begun: bool) -> None:
    """Check what the update of a post may change, given the status of the post group and whether a target has begun."""
    given = None if edit.scheduled_at is UNCHANGED else edit.scheduled_at
    refuse_past_or_too_late_times(given, edit.targets or ())
    scheduled = whether_targets_have_times(_publishing_time(group, edit), _changed_targets(group, edit))
    if edit.scheduled_at is None and is_scheduled_or_publishing(group) and not all(scheduled):
        raise ValidationFailed.for_field(
            "scheduled_at", gettext_noop("A scheduled group needs a time. Cancel it instead."), "required"
        )
    if not begun:
        return
    refuse_caller_needing_approval(caller)
    if edit.media is not None and edit.media != media_inputs_of_group(group):
        raise InvalidState(gettext_noop("Some targets have begun, so the media can no longer be changed."))


def _events(group: PostGroup, after: PostGroup, *, ended: bool) -> Sequence[tuple[str, str | None]]:
    """Return the webhook events of the update of a post: it is scheduled for another time, awaits approval, or has ended."""
    before = {target.id: target.scheduled_at for target in group.targets.all()}
    moved = any(
        target.due_at and target.scheduled_at and before.get(target.id, target.scheduled_at) != target.scheduled_at
        for target in after.targets.all()
    )
    if ended or after.status == GroupStatus.PENDING_CONFIRMATION != group.status:
        return ((f"post.{after.status}", None),)
    return ((f"post.{GroupStatus.SCHEDULED}", None),) if moved and is_scheduled_or_publishing(after) else ()


def _edited_targets(group: PostGroup, after: PostGroup, changed: Sequence[PostTarget]) -> list[PostTarget]:
    """Return the targets of an updated post group: those that have begun, and the changed ones, which keep their ids.

    A target that the edit leaves out is deleted, or cancelled if others have begun. What has begun keeps its text.
    """
    stored = {target.account_id: target for target in after.targets.all()}
    begun = [target for target in stored.values() if _has_begun(target)]
    for target in begun:
        if target.text is None and after.text != group.text:
            target.text = group.text
    rows = list(begun)
    for row in changed:
        if kept := stored.get(row.account_id):
            withdraw_unsaved_target_from_publisher(kept)
            for name in EDITED_TARGET_FIELDS:
                setattr(kept, name, getattr(row, name))
        rows.append(kept or row)
    for left_out in [target for target in stored.values() if target not in rows] if begun else ():
        if left_out.status != TargetStatus.CANCELLED:
            mark_cancelled_or_unconfirmed_unsaved(left_out)
        rows.append(left_out)
    first_free = 1 + max((each.position for each in begun), default=-1)
    for position, row in enumerate(rows[len(begun) :], first_free):
        row.position = position
    return rows
