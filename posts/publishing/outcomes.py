"""Writes the publisher's decisions to the rows of post targets.

For finished targets, completion.py adds money, group status and events. Every write is guarded by the claim's fence; if it
writes nothing, most likely because another worker took over, ClaimLost is raised.
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
from config.jobs.backoff import retry_pause_from_list
from config.jobs.database_writer import DatabaseWriter
from config.jobs.fenced_updates import FencedUpdate, update_rows
from posts.models import PostGroup, PostTarget
from posts.publishing.attempts import Attempt
from posts.publishing.completion import lock_groups, settle_finished_targets, write_final_outcomes
from posts.publishing.decision_types import AwaitPlatform, Decision, Finish, Postpone, Retry, RetryUncounted, TargetProblem
from posts.states import GroupStatus, TargetStatus, statuses_before

logger = logging.getLogger(__name__)
LEASE = timedelta(seconds=20)  # the lease is renewed while the target is being published (worker_loop.py)
_ANSWERED: dict[str, Any] = {"step_begun_at": None, "worker_losses": 0}  # written when a step's outcome is certain


class ClaimLost(Exception):
    """Raised if a worker may not write to a post target any more: another one has claimed it, or it has changed status.

    Nothing was written.
    """


def write_step_beginnings(attempts: Sequence[Attempt]) -> list[bool]:
    """Write to the database that several attempts begin their next steps; returns for each if the claim is still valid.

    A scheduled group becomes publishing with its first target.
    """
    now = timezone.now()
    targets = [attempt.target for attempt in attempts]
    writes = [FencedUpdate(each.target, _step_beginning(each, now), _MAY_BEGIN) for each in attempts]
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


def _step_beginning(attempt: Attempt, now: datetime) -> dict[str, Any]:
    return {
        "status": TargetStatus.PUBLISHING,
        **_progress(attempt),
        "step_begun_at": now,
        "worker_losses": attempt.worker_losses,
        "maybe_out": attempt.maybe_sent,
        "turn_at": None,
        "attempts": attempt.total,
        "round_attempts": attempt.number,
        "lease_until": now + LEASE,
        "updated_at": now,
    }


_MAY_BEGIN = statuses_before(TargetStatus.PUBLISHING)


def _progress(attempt: Attempt) -> dict[str, Any]:
    return {"phase": attempt.progress.phase, "progress": attempt.progress.stored()}


def record_decision(attempt: Attempt, decision: Decision) -> None:
    """Write a decision about a post to its target's row. Raises ClaimLost if this worker may not write it any more.

    Raises IntegrityError if the published post already belongs to another target.
    """
    target = attempt.target
    match decision:
        case Postpone():
            postpone(target, attempt.writer, until=decision.until)
        case AwaitPlatform(progress):
            attempt.progress, attempt.maybe_sent = progress, decision.maybe_sent
            _write(
                target,
                attempt.writer,
                status=TargetStatus.PROCESSING,
                **_progress(attempt),
                due_at=progress.ready_at,
                lease_until=None,
                maybe_out=decision.maybe_sent,
                **_ANSWERED,
            )
        case RetryUncounted():
            _write(
                target,
                attempt.writer,
                status=TargetStatus.RETRYING,
                due_at=decision.at,
                lease_until=None,
                attempts=max(target.attempts - 1, 0),
                round_attempts=max(target.round_attempts - 1, 0),
                **(_ANSWERED | ({"step_begun_at": attempt.last_try_at} if decision.unanswered else {})),
            )
        case Retry():
            _retry(attempt, decision)
        case Finish():
            _finish(attempt, decision)
        case _:
            raise TypeError(f"{decision} is carried out by the engine.")


def _retry(attempt: Attempt, decision: Retry) -> None:
    retry_after, schedule = decision.retry_after, settings.PUBLISH_RETRY_SCHEDULE
    pause = retry_pause_from_list(schedule, attempt.number, retry_after=retry_after) or timedelta(0)
    error = problem_json(decision.problem, auto_fixable=True)
    _write(
        attempt.target,
        attempt.writer,
        status=TargetStatus.RETRYING,
        due_at=timezone.now() + pause,
        lease_until=None,
        error=error,
        **({"worker_losses": 0} if decision.unanswered else _ANSWERED),
    )
    _count(attempt.target, TargetStatus.RETRYING, error)


def _finish(attempt: Attempt, decision: Finish) -> None:
    changes = {
        "status": decision.status,
        "due_at": None,
        "lease_until": None,
        "turn_at": None,
        **_progress(attempt),  # of a thread that ends between two segments
        **_ANSWERED,
        **_final_values(decision),
    }
    if not attempt.writer.write(write_final_outcomes, (attempt.target, changes)):
        raise ClaimLost
    _count(attempt.target, decision.status, changes["error"])


def _final_values(decision: Finish) -> dict[str, Any]:
    error = problem_json(decision.problem) if decision.problem else None
    values: dict[str, Any] = {"error": error, "maybe_out": decision.maybe_sent}
    if post := decision.published:
        values |= {"external_id": post.external_id, "permalink": post.permalink, "published_at": timezone.now()}
    return values


def postpone(target: PostTarget, writer: DatabaseWriter, *, until: datetime) -> None:
    """Release this worker's claim of a post target, which any worker may claim again at the time `until`; raise ClaimLost."""
    _write(target, writer, due_at=until, lease_until=None)


def postpone_to_turns(attempts: Sequence[Attempt]) -> None:
    """Postpone posts to `turn_at`, the times at which the posting rate of their accounts lets them be published."""
    update_rows(
        [
            FencedUpdate(each.target, {"due_at": each.turn_at, "turn_at": each.turn_at, "lease_until": None})
            for each in attempts
        ]
    )


def mark_unconfirmed_as_published(target: PostTarget, decision: Finish) -> None:
    """Mark an unconfirmed post as published, because the platform answered after another worker had claimed the target."""
    logger.warning("%s was published by a worker that lost its claim: %s", target.id, decision.published)
    with transaction.atomic():
        groups = lock_groups([target.group_id])
        rows = PostTarget.objects.filter(pk=target.pk, status=TargetStatus.UNCONFIRMED)
        if rows.update(status=decision.status, updated_at=timezone.now(), **_final_values(decision)):
            target.status = decision.status
            settle_finished_targets([target], groups)


def _count(target: PostTarget, outcome: str, error: Mapping[str, Any] | None) -> None:
    platform = "sandbox" if target.sandbox else target.platform
    metrics.OUTCOMES.labels(platform, outcome, error["code"] if error else "").inc()


def _write(target: PostTarget, writer: DatabaseWriter, **changes: Any) -> None:
    """Update a post target's row; raise ClaimLost if another worker has claimed it or its status forbids the change."""
    states = statuses_before(changes["status"]) if "status" in changes else ()
    changes["updated_at"] = timezone.now()
    if not writer.write(update_rows, FencedUpdate(target, changes, states)):
        raise ClaimLost


def problem_json(problem: TargetProblem, *, auto_fixable: bool = False) -> dict[str, Any]:
    """Return the `error` that is written with a post target's outcome; `auto_fixable`: the service tries again by itself."""
    return {
        "code": problem.code,
        "message": problem.message,
        "suggested_action": problem.suggested_action,
        "auto_fixable": auto_fixable,
        "trace_id": current_trace_id(),
    }
