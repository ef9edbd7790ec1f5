"""Saves the publisher's decisions about post targets to the database.

For finished targets, completion.py adds money, group status and events. Every write is guarded by the claim's fence;
ClaimLost means that another worker took over and nothing was written.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from config import metrics
from config.api.trace import current_trace_id
from config.jobs.backoff import scheduled_pause
from config.jobs.fenced_updates import FencedUpdate, update_rows
from posts.models import PostGroup, PostTarget
from posts.publishing.completion import finish_targets, lock_groups, write_final_outcomes
from posts.publishing.decision import unconfirmed_problem
from posts.publishing.decision_types import (
    AwaitPlatform,
    Decision,
    Finish,
    Postpone,
    Retry,
    RetryUncounted,
    TargetProblem,
)
from posts.publishing.writer import write_batched
from posts.states import GroupStatus, TargetStatus, statuses_before

logger = logging.getLogger(__name__)
LEASE = timedelta(seconds=20)  # the lease is renewed while the target is being published (worker_loop.py)
_ANSWERED: dict[str, Any] = {"step_begun_at": None, "worker_losses": 0}  # written when a step's outcome is certain


class ClaimLost(Exception):
    """Raised if a worker cannot save a post target's outcome, because another worker has claimed the target since."""


def write_beginnings(targets: Sequence[PostTarget]) -> list[bool]:
    """Commit that the next publishing steps of several post targets begin, except for those claimed by another worker.

    Returns for each whether this worker still owns it. A scheduled group becomes publishing with its first target.
    """
    now = timezone.now()
    writes = [FencedUpdate(target, _columns_of_beginning(target, now), _MAY_BEGIN) for target in targets]
    scheduled = {each.group_id for each in targets if each.group.status == GroupStatus.SCHEDULED}
    if not scheduled:
        return update_rows(writes)
    with transaction.atomic():
        rows = PostGroup.objects.filter(pk__in=scheduled, status=GroupStatus.SCHEDULED)
        locked = set(rows.order_by("pk").select_for_update().values_list("pk", flat=True))
        began = update_rows(writes)
        first = [each for each, valid in zip(targets, began, strict=True) if valid and each.group_id in scheduled]
        of_first = locked & {each.group_id for each in first}
        PostGroup.objects.filter(pk__in=of_first).update(status=GroupStatus.PUBLISHING, updated_at=now)
    for each in first:
        each.group.status = GroupStatus.PUBLISHING
    return began


def _columns_of_beginning(target: PostTarget, now: datetime) -> dict[str, Any]:
    return {
        "status": TargetStatus.PUBLISHING,
        "phase": target.phase,
        "progress": target.progress,
        "step_begun_at": now,
        "worker_losses": target.worker_losses,
        "maybe_out": target.maybe_out,
        "turn_at": None,
        "attempts": target.attempts,
        "round_attempts": target.round_attempts,
        "lease_until": now + LEASE,
        "updated_at": now,
    }


_MAY_BEGIN = statuses_before(TargetStatus.PUBLISHING)


def commit_next_step(target: PostTarget) -> None:
    """Commit that a post target's next publishing step begins. Raises ClaimLost if another worker has claimed the target.

    The row is written in a batch with other threads' writes.
    """
    if not write_batched(write_beginnings, target):
        raise ClaimLost


def record_decision(target: PostTarget, decision: Decision) -> None:
    """Save the publisher's decision about a post target. Raises ClaimLost if another worker has claimed the target.

    The row is written in a batch with other threads' writes. Raises IntegrityError if the post already belongs to another
    target.
    """
    match decision:
        case Postpone():
            _write(target, due_at=decision.until, turn_at=target.turn_at, lease_until=None)
        case AwaitPlatform(progress):
            _write(
                target,
                status=TargetStatus.PROCESSING,
                phase=progress.phase,
                progress=dict(progress.state),
                due_at=progress.ready_at,
                lease_until=None,
                maybe_out=decision.maybe_sent,
                **_ANSWERED,
            )
        case RetryUncounted():
            _write(
                target,
                status=TargetStatus.RETRYING,
                due_at=decision.at,
                lease_until=None,
                attempts=max(target.attempts - 1, 0),
                round_attempts=max(target.round_attempts - 1, 0),
                **(_ANSWERED | ({"step_begun_at": target.step_begun_at} if decision.unanswered else {})),
            )
        case Retry():
            _retry(target, decision)
        case Finish():
            _finish(target, decision)
        case _:
            raise TypeError(f"{decision} is carried out by the engine.")


def _retry(target: PostTarget, decision: Retry) -> None:
    pause = scheduled_pause(
        settings.PUBLISH_RETRY_SCHEDULE, target.round_attempts, retry_after=decision.retry_after
    ) or timedelta(0)
    _write(
        target,
        status=TargetStatus.RETRYING,
        due_at=timezone.now() + pause,
        lease_until=None,
        error=_error(decision.problem, auto_fixable=True),
        **({"worker_losses": 0} if decision.unanswered else _ANSWERED),
    )
    _count(target, TargetStatus.RETRYING, target.error)


def _finish(target: PostTarget, decision: Finish) -> None:
    changes = {
        "status": decision.status,
        "due_at": None,
        "lease_until": None,
        "turn_at": None,
        "phase": target.phase,
        "progress": target.progress,  # of a thread that ends between two segments
        **_ANSWERED,
        **_final_values(decision),
    }
    if not write_batched(write_final_outcomes, (target, changes)):
        raise ClaimLost
    _count(target, decision.status, changes["error"])


def _final_values(decision: Finish) -> dict[str, Any]:
    post = decision.published
    return {
        "error": _error(decision.problem) if decision.problem else None,
        "maybe_out": decision.maybe_sent,
        **(
            {"external_id": post.external_id, "permalink": post.permalink, "published_at": timezone.now()}
            if post
            else {}
        ),
    }


def postpone_to_turns(targets: Sequence[PostTarget]) -> None:
    """Postpone each post target to the time at which its account's posting rate lets it be published (`turn_at`)."""
    update_rows(
        [FencedUpdate(each, {"due_at": each.turn_at, "turn_at": each.turn_at, "lease_until": None}) for each in targets]
    )


def record_late_publication(target: PostTarget, decision: Finish) -> None:
    """Mark an unconfirmed post target as published, because the platform's answer arrived after another worker took over."""
    logger.warning("%s was published by a worker that lost its claim: %s", target.id, decision.published)
    with transaction.atomic():
        groups = lock_groups([target.group_id])
        rows = PostTarget.objects.filter(pk=target.pk, status=TargetStatus.UNCONFIRMED)
        if rows.update(status=decision.status, updated_at=timezone.now(), **_final_values(decision)):
            target.status = decision.status
            finish_targets([target], groups)


def retry_cancelled_error(target: PostTarget) -> dict[str, Any]:
    """Return the error of a post target whose retry was cancelled, while an earlier attempt may have published the post."""
    message = "The retry was cancelled. The attempt before it may have been published."
    return _error(unconfirmed_problem(target.publishing_progress.segments, message))


def not_published_error() -> dict[str, Any]:
    """Return the error of a post target for which a person has found that the post was not published."""
    message = "A person checked: the post was not published."
    return _error(TargetProblem("PLATFORM_REJECTED", message, "Retry the post to send it again."))


def _count(target: PostTarget, outcome: str, error: Mapping[str, Any] | None) -> None:
    platform = "sandbox" if target.sandbox else target.platform
    metrics.OUTCOMES.labels(platform, outcome, error["code"] if error else "").inc()


def _write(target: PostTarget, **changes: Any) -> None:
    """Update a post target's row. Raises ClaimLost if another worker has claimed it or its status forbids the change."""
    states = statuses_before(changes["status"]) if "status" in changes else ()
    if not write_batched(update_rows, FencedUpdate(target, {**changes, "updated_at": timezone.now()}, states)):
        raise ClaimLost


def _error(problem: TargetProblem, *, auto_fixable: bool = False) -> dict[str, Any]:
    return {
        "code": problem.code,
        "message": problem.message,
        "suggested_action": problem.suggested_action,
        "auto_fixable": auto_fixable,
        "trace_id": current_trace_id(),
    }
