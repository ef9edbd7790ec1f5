"""For all changes of stored posts: finds the targets that are not being sent yet, and withdraws them from publishing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from django.utils import timezone

from config.api.errors import InvalidState
from media.models import MediaAsset
from posts.attached_media import attached_media_ids, existing_workspace_assets_by_id
from posts.models import PostGroup, PostTarget
from posts.publishing.decision import unconfirmed_problem_with_segment_count
from posts.states import (
    FINISHED_GROUP_STATUSES,
    UNFINISHED_GROUP_STATUSES,
    UNFINISHED_TARGET_STATUSES,
    Certainty,
    GroupStatus,
    TargetStatus,
    group_status_from_targets,
)

RETRY_CANCELLED_MESSAGE = "The retry was cancelled."
MAYBE_SENT_BEFORE_MESSAGE = "The attempt before it may have been published."


class ChangeableTarget(Protocol):
    """The columns that decide whether a post target may still be changed, in a model instance or in a row of columns."""

    @property
    def status(self) -> str: ...

    @property
    def lease_until(self) -> datetime | None: ...

    @property
    def attempts(self) -> int: ...


def withdraw_unsaved_target_from_publisher(target: PostTarget) -> None:
    """In a plan, withdraw an unsaved target from publishing; its raised fence number blocks workers with older claims."""
    target.due_at = target.lease_until = target.turn_at = None
    target.fence += 1


def mark_cancelled_or_unconfirmed_unsaved(target: PostTarget) -> None:
    """Set the final status of a plan's unsaved post target: cancelled, or unconfirmed again after an unclear attempt.

    The money of an unconfirmed target stays held, since the earlier attempt may have published it.
    """
    withdraw_unsaved_target_from_publisher(target)
    certainty = Certainty(target.certainty)
    target.status = TargetStatus.CANCELLED
    if certainty.final_status == TargetStatus.UNCONFIRMED:
        message = (
            f"{RETRY_CANCELLED_MESSAGE} {MAYBE_SENT_BEFORE_MESSAGE}"
            if certainty == Certainty.MAYBE_SENT
            else RETRY_CANCELLED_MESSAGE
        )
        target.status = TargetStatus.UNCONFIRMED
        target.error = unconfirmed_problem_with_segment_count(
            len(target.stored_progress.segments), certainty, message
        ).to_json()


def is_pending_and_unclaimed(target: ChangeableTarget) -> bool:
    """Return whether a target is pending and not validly claimed by a worker, so that changes to its post may stop it."""
    return target.status == TargetStatus.PENDING and not (target.lease_until and target.lease_until > timezone.now())


def is_unattempted_target(target: ChangeableTarget) -> bool:
    """Return whether the content and the time of a target can be changed: nothing was ever sent for it."""
    return is_pending_and_unclaimed(target) and not target.attempts


def unstarted_targets_or_raise_if_none(group: PostGroup) -> list[PostTarget]:
    """Return a post's targets that no worker publishes yet. Raises InvalidState if there are none or the post is finished."""
    unstarted = [target for target in group.targets.all() if is_pending_and_unclaimed(target)]
    if group.status not in UNFINISHED_GROUP_STATUSES or not unstarted:
        raise publishing_begun_error(group)
    return unstarted


def unfinished_targets_or_raise_if_begun(group: PostGroup) -> list[PostTarget]:
    """Return the unfinished targets of a post to change. Raises InvalidState if one of them has begun."""
    waiting = [target for target in group.targets.all() if target.status in UNFINISHED_TARGET_STATUSES]
    if not all(is_pending_and_unclaimed(target) for target in waiting):
        raise publishing_begun_error(group)
    return waiting


def end_unsaved_group_if_all_targets_ended(group: PostGroup) -> bool:
    """Set the final status of a plan's unsaved post group if no target is unfinished; return whether that is so."""
    status = group_status_from_targets(target.status for target in group.targets.all())
    if status not in FINISHED_GROUP_STATUSES:
        return False
    group.status, group.finished_at = status, timezone.now()
    return True


def publishing_begun_error(group: PostGroup) -> InvalidState:
    """For all plans that change a stored post, return the InvalidState error to raise once publishing has begun."""
    begun = GroupStatus.PUBLISHING if group.status == GroupStatus.SCHEDULED else group.status
    return InvalidState(
        f"The group is {begun}, and none of its targets can be changed any more.",
        suggested_action="Read the group again. Posts already published must be deleted at the platform.",
    )


def existing_assets_of_group(group: PostGroup) -> Mapping[str, MediaAsset]:
    """Return, by id, the undeleted media assets of a post group, for a plan that changes the group."""
    return existing_workspace_assets_by_id(group.workspace_id, attached_media_ids(group))
