"""Helpers for services that change a stored post group: stop its pending targets, refuse changes, write audit entries."""

from __future__ import annotations

from typing import Any

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from auditlog.services import record_entry
from billing.services import release_holds
from config.api.caller import Caller
from config.api.errors import InvalidState
from posts.models import PostGroup, PostTarget
from posts.publishing.decision import unconfirmed_problem
from posts.publishing.outcomes import problem_json
from posts.states import UNFINISHED_TARGET_STATUSES, GroupStatus, TargetStatus

RETRY_CANCELLED = "The retry was cancelled. The attempt before it may have been published."


def stop_all_targets_or_raise(group: PostGroup, *, cancel: bool) -> None:
    """Stop all pending targets of a post group before it is edited or cancelled, and release the money held for them.

    If `cancel` is set, the targets are cancelled. Competes with the publisher for the target rows. Raises InvalidState if the
    publisher has started one; the caller's transaction is then rolled back.
    """
    running = PostTarget.objects.filter(group=group, status__in=UNFINISHED_TARGET_STATUSES)
    count = running.count()
    if len(stop_unclaimed_targets(running, cancel=cancel)) != count:
        raise too_late_error(group)


def stop_unclaimed_targets(targets: QuerySet[PostTarget], *, cancel: bool) -> list[str]:
    """Stop the given post targets that are pending and not claimed by a worker; returns the ids of the stopped targets.

    A target that was unconfirmed before a retry becomes unconfirmed again when cancelled; its money stays held, since the
    earlier attempt may have published it.
    """
    now = timezone.now()
    free = Q(lease_until=None) | Q(lease_until__lte=now)
    waiting = targets.filter(free, status=TargetStatus.PENDING)
    rows = list(waiting.select_for_update(of=("self",)).only("maybe_out", "phase", "progress"))
    doubtful = [row for row in rows if row.maybe_out and cancel]
    sure = [row.pk for row in rows if row not in doubtful]
    stopped = {"due_at": None, "lease_until": None, "turn_at": None, "fence": F("fence") + 1, "updated_at": now}
    ended = {"status": TargetStatus.CANCELLED} if cancel else {}
    PostTarget.objects.filter(pk__in=sure).update(**stopped, **ended)
    for row in doubtful:
        problem = unconfirmed_problem(len(row.publishing_progress.segments), RETRY_CANCELLED)
        end = {"status": TargetStatus.UNCONFIRMED, "error": problem_json(problem)}
        PostTarget.objects.filter(pk=row.pk).update(**stopped, **end)
    release_holds(target_ids=sure, failed=False)
    return [row.pk for row in rows]


def require_publishing_not_begun(group: PostGroup) -> list[PostTarget]:
    """Return a post group's unfinished targets. Raises InvalidState if a target is being published already.

    For the dry run of a change.
    """
    now = timezone.now()
    waiting = [target for target in group.targets.all() if target.status in UNFINISHED_TARGET_STATUSES]
    for target in waiting:
        if target.status != TargetStatus.PENDING or (target.lease_until and target.lease_until > now):
            raise too_late_error(group)
    return waiting


def too_late_error(group: PostGroup) -> InvalidState:
    """Return the API error for a change to a post group that is already being published."""
    begun = GroupStatus.PUBLISHING if group.status == GroupStatus.SCHEDULED else group.status
    return InvalidState(
        f"The group is {begun}. Only drafts, scheduled groups and groups awaiting confirmation can be changed.",
        suggested_action="Read the group again. Posts already published must be deleted at the platform.",
    )


def audit_group_operation(
    caller: Caller, group: PostGroup, operation: str, *, dry_run: bool = False, metadata: dict[str, Any] | None = None
) -> None:
    """Write the audit entry of an operation that changed a post group, or of the operation's dry run."""
    record_entry(
        caller=caller,
        operation=operation,
        resource_type="post_group",
        resource_id=group.id,
        dry_run=dry_run,
        metadata=metadata,
    )
