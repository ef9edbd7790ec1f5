"""Restoring a cancelled post, by which a person undoes that they have deleted or cancelled it."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext_noop

from config.api.caller import Caller, check_account_allowlist
from config.api.errors import InvalidState, ValidationFailed
from posts import selectors
from posts.models import PostGroup, PostTarget, Series, SeriesOccurrence
from posts.plan import GroupChange, Plan, copy_of_group
from posts.plan_building import (
    STATUSES_WITH_EVENT_ON_CREATION,
    agent_id_for_caps,
    build_targets_to_validate_of_stored_group,
    initial_status_for_caller,
    is_scheduled_or_publishing,
    validate_content_or_raise,
)
from posts.services.changes import existing_assets_of_group, withdraw_unsaved_target_from_publisher
from posts.services.commit import plan_and_commit
from posts.states import CANCELLABLE_GROUP_STATUSES, FREED_SLOT_STATUSES, Certainty, GroupStatus, TargetStatus
from posts.target_times import refuse_past_or_too_late_times


def restore_cancelled_post(*, caller: Caller, post_group_id: str, status: GroupStatus, cancelled_at: datetime | None) -> Plan:
    """Restore a cancelled post of which nothing was ever sent: the same post, with the `status` that it had before.

    `cancelled_at` is its `finished_at`: a post that was restored and cancelled once more has another. The post keeps its id,
    its agent, its times and slots. A scheduled post waits for approval if the caller needs that; otherwise its price is held
    again. Raises NotFound, ScopeMissing, AccountNotAllowed, WorkspacePaused, InvalidState, ContentInvalid, ValidationFailed
    (a time has passed, a slot is taken, media were deleted) and the spend errors.
    """
    return plan_and_commit(lambda: _plan(caller, post_group_id, status, cancelled_at))


def _plan(caller: Caller, post_group_id: str, status: GroupStatus, cancelled_at: datetime | None) -> Plan:
    scope = "posts.draft" if status == GroupStatus.DRAFT else "posts.schedule"  # as for the cancellation
    group = selectors.get_post_group(caller=caller, post_group_id=post_group_id, scope=scope, write=True)
    check_account_allowlist(caller, group.account_ids)
    if status not in CANCELLABLE_GROUP_STATUSES or not _can_be_restored(group) or group.finished_at != cancelled_at:
        raise InvalidState(gettext_noop("Only a cancelled post of which nothing was sent can be restored."))
    if group.series_id and not _is_wanted_by_series(group):
        raise InvalidState(gettext_noop("The post's series has ended, or skips this post."))
    assets = existing_assets_of_group(group)
    after = copy_of_group(group)
    after.status, after.finished_at = initial_status_for_caller(caller, status), None
    targets, now = list(after.targets.all()), timezone.now()
    if status == GroupStatus.SCHEDULED:
        refuse_past_or_too_late_times(min(target.scheduled_at for target in targets if target.scheduled_at))
    _require_free_slots(after)
    for target in targets:
        withdraw_unsaved_target_from_publisher(target)
        target.status = TargetStatus.PENDING
        target.due_at = target.scheduled_at if is_scheduled_or_publishing(after) else None
    inputs = build_targets_to_validate_of_stored_group(after, assets)
    validate_content_or_raise(inputs, draft=status == GroupStatus.DRAFT, group_id=group.id)
    change = GroupChange(
        before=group,
        after=after,
        moment=group.scheduled_at,
        due=group.scheduled_at or now,
        assets=assets,
        holds=targets if is_scheduled_or_publishing(after) else (),
        agent_id_for_caps=agent_id_for_caps(caller, group),
        events=((f"post.{after.status}", None),) if after.status in STATUSES_WITH_EVENT_ON_CREATION else (),
        audit={"taken_back": True, "status": after.status},
    )
    return Plan("posts.cancel", caller, group.workspace_id, [change])


def _can_be_restored(group: PostGroup) -> bool:
    return group.status == GroupStatus.CANCELLED and all(
        not target.attempts and target.certainty == Certainty.NOT_SENT for target in group.targets.all()
    )


def _is_wanted_by_series(group: PostGroup) -> bool:
    occurrences = SeriesOccurrence.objects.filter(group=group, withdrawn=False)
    return occurrences.exclude(series__status=Series.Status.ENDED).exists()


def _require_free_slots(group: PostGroup) -> None:
    """Check that no other post has taken a slot of a post to restore. Raises ValidationFailed."""
    for index, target in enumerate(group.targets.all()):
        slot = PostTarget.objects.filter(account_id=target.account_id, slot=True, scheduled_at=target.scheduled_at)
        if target.slot and slot.exclude(pk=target.pk).exclude(status__in=FREED_SLOT_STATUSES).exists():
            raise ValidationFailed.for_field(
                f"targets[{index}].slot", gettext_noop("Another post has taken this slot."), "slot_taken"
            )
