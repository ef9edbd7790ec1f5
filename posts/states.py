"""Statuses of post groups and targets, and how a group's status follows from those of its targets."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import TextChoices


class GroupStatus(TextChoices):
    """The status of a post group: its own until the group is released, then the roll-up of its targets' statuses."""

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
    PENDING = "pending"
    PUBLISHING = "publishing"
    PROCESSING = "processing"
    RETRYING = "retrying"
    PUBLISHED = "published"
    FAILED = "failed"
    UNCONFIRMED = "unconfirmed"
    CANCELLED = "cancelled"


# The status changes that the publisher may write. A person resolves unconfirmed targets (services/resolve.py).
TARGET_TRANSITIONS: dict[str, frozenset[str]] = {
    # A target that was unconfirmed before a retry becomes unconfirmed again if the retry cannot begin.
    TargetStatus.PENDING: frozenset(
        {TargetStatus.PUBLISHING, TargetStatus.FAILED, TargetStatus.UNCONFIRMED, TargetStatus.CANCELLED}
    ),
    TargetStatus.PUBLISHING: frozenset(
        {
            TargetStatus.PUBLISHING,
            TargetStatus.PROCESSING,
            TargetStatus.RETRYING,
            TargetStatus.PUBLISHED,
            TargetStatus.FAILED,
            TargetStatus.UNCONFIRMED,
        }
    ),
    # A published post whose remaining steps are impossible ends as published.
    TargetStatus.PROCESSING: frozenset(
        {TargetStatus.PUBLISHING, TargetStatus.PUBLISHED, TargetStatus.FAILED, TargetStatus.UNCONFIRMED}
    ),
    TargetStatus.RETRYING: frozenset(
        {TargetStatus.PUBLISHING, TargetStatus.PUBLISHED, TargetStatus.FAILED, TargetStatus.UNCONFIRMED}
    ),
    TargetStatus.FAILED: frozenset({TargetStatus.PENDING}),
    TargetStatus.UNCONFIRMED: frozenset({TargetStatus.PENDING}),
    TargetStatus.PUBLISHED: frozenset(),
    TargetStatus.CANCELLED: frozenset(),
}
# Statuses in which only a person can continue.
NEEDS_A_PERSON = (GroupStatus.PENDING_CONFIRMATION, GroupStatus.UNCONFIRMED, GroupStatus.FAILED, GroupStatus.PARTIAL)
UNRELEASED = (GroupStatus.DRAFT, GroupStatus.PENDING_CONFIRMATION, GroupStatus.REJECTED)
CANCELLABLE = (GroupStatus.DRAFT, GroupStatus.PENDING_CONFIRMATION, GroupStatus.SCHEDULED)
RETRYABLE = (GroupStatus.FAILED, GroupStatus.PARTIAL, GroupStatus.UNCONFIRMED)
FINISHED = frozenset(
    {
        GroupStatus.PUBLISHED,
        GroupStatus.PARTIAL,
        GroupStatus.FAILED,
        GroupStatus.UNCONFIRMED,
        GroupStatus.CANCELLED,
        GroupStatus.REJECTED,
    }
)
UNFINISHED_TARGET_STATUSES = frozenset(
    {TargetStatus.PENDING, TargetStatus.PUBLISHING, TargetStatus.PROCESSING, TargetStatus.RETRYING}
)


def statuses_before(*after: str) -> list[str]:
    """Return the target statuses that may change to each of these statuses; outcome writes are filtered by them."""
    return [state for state, following in TARGET_TRANSITIONS.items() if set(after) <= following]


def roll_up(targets: Iterable[str]) -> GroupStatus:
    """Return the status of a released post group from its targets' statuses; cancelled targets count only if all are."""
    standing = {status for status in targets if status != TargetStatus.CANCELLED}
    if not standing:
        return GroupStatus.CANCELLED
    if standing & UNFINISHED_TARGET_STATUSES:
        return GroupStatus.PUBLISHING
    if TargetStatus.UNCONFIRMED in standing:
        return GroupStatus.UNCONFIRMED
    if standing == {TargetStatus.PUBLISHED}:
        return GroupStatus.PUBLISHED
    return GroupStatus.PARTIAL if TargetStatus.PUBLISHED in standing else GroupStatus.FAILED
