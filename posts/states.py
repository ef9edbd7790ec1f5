"""Statuses of post groups and post targets, and how a group's status follows from those of its targets."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Protocol

from django.db.models import TextChoices


class GroupStatus(TextChoices):
    """The status of a post group; once the group is released for publishing, it follows from its targets' statuses."""

    DRAFT = "draft"
    PENDING_CONFIRMATION = "pending_confirmation"
    REJECTED = "rejected"
    SCHEDULED = "scheduled"
    PUBLISHING = "publishing"
    PUBLISHED = "published"
    PARTIAL = "partial"
    FAILED = "failed"
    UNCONFIRMED = "unconfirmed"
    CANCELLED = "cancelled"


class TargetStatus(TextChoices):
    """The status of a post target: how far publishing to one account has come, and how it ended."""

    PENDING = "pending"
    PUBLISHING = "publishing"
    PROCESSING = "processing"
    RETRYING = "retrying"
    PUBLISHED = "published"
    FAILED = "failed"
    UNCONFIRMED = "unconfirmed"
    CANCELLED = "cancelled"


class Certainty(TextChoices):
    """The certainty of a target's state: how sure it is that its post, or the thread's next segment, is at the platform.

    The status of a finished target follows from it, and so does the money: a failed target is refunded, a published one is
    charged, and the price of an unconfirmed one stays held.
    """

    NOT_SENT = "not_sent"  # no request that publishes it was sent
    MAYBE_SENT = "maybe_sent"  # such a request has begun, and nobody knows what came of it
    SENT = "sent"  # the platform has accepted it and may still reject it, or has only the first segments of a thread
    CONFIRMED = "confirmed"  # it is published; a later addition such as the first comment may be missing
    DISPROVED = "disproved"  # the platform has refused it or proves it absent, or a person has found that it is not there

    @property
    def final_status(self) -> TargetStatus:
        """Return the final TargetStatus that follows from this Certainty when publishing ends."""
        return next(status for status, certainties in CERTAINTIES_BY_FINAL_STATUS.items() if self in certainties)


# The certainties that a target of a final status may have; a cancelled target has those of a failed one.
CERTAINTIES_BY_FINAL_STATUS = {
    TargetStatus.PUBLISHED: (Certainty.CONFIRMED,),
    TargetStatus.UNCONFIRMED: (Certainty.MAYBE_SENT, Certainty.SENT),
    TargetStatus.FAILED: (Certainty.NOT_SENT, Certainty.DISPROVED),
    TargetStatus.CANCELLED: (Certainty.NOT_SENT, Certainty.DISPROVED),
}
_AFTER_THE_START = frozenset({TargetStatus.PUBLISHING, TargetStatus.PUBLISHED, TargetStatus.FAILED, TargetStatus.UNCONFIRMED})
# The status changes that the publisher may write. A person resolves unconfirmed targets (services/resolve.py).
TARGET_TRANSITIONS: dict[str, frozenset[str]] = {
    # A target that was unconfirmed before a retry becomes unconfirmed again if the retry cannot begin.
    TargetStatus.PENDING: frozenset(
        {TargetStatus.PUBLISHING, TargetStatus.FAILED, TargetStatus.UNCONFIRMED, TargetStatus.CANCELLED}
    ),
    TargetStatus.PUBLISHING: _AFTER_THE_START | {TargetStatus.PROCESSING, TargetStatus.RETRYING},
    TargetStatus.PROCESSING: _AFTER_THE_START,  # a published post whose remaining steps are impossible ends as published
    TargetStatus.RETRYING: _AFTER_THE_START,
    TargetStatus.FAILED: frozenset({TargetStatus.PENDING}),
    TargetStatus.UNCONFIRMED: frozenset({TargetStatus.PENDING}),
    TargetStatus.PUBLISHED: frozenset(),
    TargetStatus.CANCELLED: frozenset(),
}
# Statuses in which only a person can continue.
GROUP_STATUSES_NEEDING_A_PERSON = (
    GroupStatus.PENDING_CONFIRMATION,
    GroupStatus.UNCONFIRMED,
    GroupStatus.FAILED,
    GroupStatus.PARTIAL,
)
SCHEDULE_MISSED = "SCHEDULE_MISSED"  # the error of a target that could not be published within hours of its time
UNRELEASED_GROUP_STATUSES = (GroupStatus.DRAFT, GroupStatus.PENDING_CONFIRMATION, GroupStatus.REJECTED)
CANCELLABLE_GROUP_STATUSES = (GroupStatus.DRAFT, GroupStatus.PENDING_CONFIRMATION, GroupStatus.SCHEDULED)
RETRYABLE_GROUP_STATUSES = (GroupStatus.FAILED, GroupStatus.PARTIAL, GroupStatus.UNCONFIRMED)
# Groups that may have targets to retry; in one that is publishing, others may have their times later.
GROUP_STATUSES_WITH_RETRIES = (*RETRYABLE_GROUP_STATUSES, GroupStatus.PUBLISHING)
UNFINISHED_GROUP_STATUSES = (*CANCELLABLE_GROUP_STATUSES, GroupStatus.PUBLISHING)
FINISHED_GROUP_STATUSES = frozenset(GroupStatus) - set(UNFINISHED_GROUP_STATUSES)
UNFINISHED_TARGET_STATUSES = frozenset(
    {TargetStatus.PENDING, TargetStatus.PUBLISHING, TargetStatus.PROCESSING, TargetStatus.RETRYING}
)


def target_cost_cents(status: str, price_cents: int) -> int:
    """Return what a target costs by its status and price: nothing if it failed or was cancelled."""
    return 0 if status in (TargetStatus.FAILED, TargetStatus.CANCELLED) else price_cents


# A target of these statuses leaves its slot to others.
FREED_SLOT_STATUSES = (TargetStatus.FAILED, TargetStatus.CANCELLED)


class TargetStatusAndTime(Protocol):
    """The columns of a post target from which the time shown for its group is computed: its status and scheduled time."""

    @property
    def status(self) -> str: ...

    @property
    def scheduled_at(self) -> datetime | None: ...


def shown_scheduled_at_or_none(targets: Iterable[TargetStatusAndTime]) -> datetime | None:
    """Return, by the statuses of its targets, which time a post group shows: the earliest of the unfinished targets.

    If all are finished, that of those not cancelled, and if all are cancelled, of all. None if none of them has a time.
    """
    every = list(targets)
    shown = [each for each in every if each.status in UNFINISHED_TARGET_STATUSES]
    shown = shown or [each for each in every if each.status != TargetStatus.CANCELLED] or every
    return min((each.scheduled_at for each in shown if each.scheduled_at is not None), default=None)


def statuses_valid_before(*after: str) -> list[str]:
    """Return the statuses from which a post target may change to each of the given statuses."""
    return [state for state, following in TARGET_TRANSITIONS.items() if set(after) <= following]


def group_status_from_targets(targets: Iterable[str]) -> GroupStatus:
    """Return the status that a post group has because of the statuses of its targets.

    The group has been released for publishing. Cancelled targets count only if all are cancelled.
    """
    statuses = {status for status in targets if status != TargetStatus.CANCELLED}
    if not statuses:
        return GroupStatus.CANCELLED
    if statuses & UNFINISHED_TARGET_STATUSES:
        return GroupStatus.PUBLISHING
    if TargetStatus.UNCONFIRMED in statuses:
        return GroupStatus.UNCONFIRMED
    if statuses == {TargetStatus.PUBLISHED}:
        return GroupStatus.PUBLISHED
    return GroupStatus.PARTIAL if TargetStatus.PUBLISHED in statuses else GroupStatus.FAILED
