"""Writes the publisher's decisions to the rows of post targets; with a final one also the money, group status and events.

Every write is guarded by the claim's fence; if it writes nothing, most likely because another worker took over, ClaimLost is
raised.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from billing.services import release_holds, settle_holds
from config import metrics
from config.api.trace import current_trace_id
from config.db.fixed_select import FixedSelect
from config.db.writes import write_together
from config.jobs.backoff import retry_pause_from_list
from config.jobs.database_writer import DatabaseWriter
from config.jobs.fenced_updates import FencedUpdate, apply_fenced_updates, fenced_update_writes
from posts.attached_media import end_group_media_protection
from posts.events import build_numbered_outcome_events
from posts.models import PostGroup, PostTarget
from posts.publishing.attempts import LEASE, Attempt
from posts.publishing.decision_types import (
    AwaitPlatform,
    Decision,
    Finish,
    Postpone,
    Retry,
    RetryUncounted,
    TakeStep,
    TargetProblem,
)
from posts.selectors import set_prefetched_targets
from posts.states import FINISHED_GROUP_STATUSES, GroupStatus, TargetStatus, group_status_from_targets, statuses_before
from webhooks.services import NewEvent, event_writes, wake_delivery_workers_after_commit

logger = logging.getLogger(__name__)
_lock_groups = FixedSelect(PostGroup, where_in="id", order_by="id", for_update=True)
_targets_of_groups = FixedSelect(PostTarget, where_in="group_id", order_by="position")
_ANSWERED: dict[str, Any] = {"step_begun_at": None, "worker_losses": 0}  # written when a step's outcome is certain


class ClaimLost(Exception):
    """Raised if a worker may not write to a post target any more: another one has claimed it, or it has changed status.

    Nothing was written.
    """


def write_step_beginnings(attempts: Sequence[Attempt]) -> list[bool]:
    """Write to the database that several attempts to publish begin their next steps; returns for each if its claim is valid.

    A scheduled group becomes publishing with its first target. If another worker has claimed one of the targets meanwhile,
    the one statement changes nothing, and each attempt gets its own.
    """
    now = timezone.now()
    of_attempts = {each.target.group_id: each.target.group for each in attempts}
    scheduled = [group for group in of_attempts.values() if group.status == GroupStatus.SCHEDULED]
    publishing = {"status": GroupStatus.PUBLISHING, "updated_at": now}
    # Another worker may have begun another target of the group, so groups may be skipped.
    groups = fenced_update_writes(
        [FencedUpdate(each, publishing, [GroupStatus.SCHEDULED]) for each in scheduled], may_skip=True
    )
    beginnings = [FencedUpdate(each.target, _step_beginning(each, now), _MAY_BEGIN) for each in attempts]
    if write_together([*groups, *fenced_update_writes(beginnings)]):
        return [False] if len(attempts) == 1 else [write_step_beginnings([each])[0] for each in attempts]
    for beginning in beginnings:
        beginning.set_in_memory()
    for group in scheduled:
        group.status = GroupStatus.PUBLISHING
    return [True] * len(attempts)


def _step_beginning(attempt: Attempt, now: datetime) -> dict[str, Any]:
    return {
        "status": TargetStatus.PUBLISHING,
        **_progress(attempt),
        "certainty": attempt.state.certainty_during_step,
        "step_begun_at": now,
        "worker_losses": attempt.worker_losses,
        "turn_at": None,
        "attempts": attempt.total,
        "round_attempts": attempt.number,
        "lease_until": now + LEASE,
        "updated_at": now,
    }


_MAY_BEGIN = statuses_before(TargetStatus.PUBLISHING)


def _progress(attempt: Attempt) -> dict[str, Any]:
    return {"phase": attempt.progress.phase, "progress": attempt.progress.to_stored()}


def record_decision(attempt: Attempt, decision: Decision) -> None:
    """Write a decision about a post to its target's row. Raises ClaimLost if this worker may not write it any more.

    Raises IntegrityError if the published post already belongs to another target.
    """
    if isinstance(decision, Postpone):
        postpone(attempt.target, attempt.writer, until=decision.until)
        return
    if isinstance(decision, TakeStep):
        raise TypeError(f"{decision} is carried out by the engine.")
    if isinstance(decision, AwaitPlatform):
        attempt.progress = decision.progress
    changes = {"certainty": decision.certainty, "lease_until": None, **_ANSWERED, **_values(attempt, decision)}
    if isinstance(decision, Finish):
        if not attempt.writer.write(write_final_outcomes, (attempt.target, changes)):
            raise ClaimLost
    else:
        _write(attempt.target, attempt.writer, **changes)
    if isinstance(decision, Finish | Retry):
        _count(attempt.target, changes["status"], changes["error"])


def _values(attempt: Attempt, decision: AwaitPlatform | RetryUncounted | Retry | Finish) -> dict[str, Any]:
    """Return what a decision writes to a target's row, beside what all of them write."""
    target = attempt.target
    match decision:
        case AwaitPlatform():
            return {"status": TargetStatus.PROCESSING, "due_at": decision.progress.ready_at, **_progress(attempt)}
        case RetryUncounted():
            return {
                "status": TargetStatus.RETRYING,
                "due_at": decision.at,
                "attempts": max(target.attempts - 1, 0),
                "round_attempts": max(target.round_attempts - 1, 0),
                "step_begun_at": attempt.last_try_at if decision.unanswered else None,
            }
        case Retry():
            schedule, retry_after = settings.PUBLISH_RETRY_SCHEDULE, decision.retry_after
            pause = retry_pause_from_list(schedule, attempt.number, retry_after=retry_after) or timedelta(0)
            return {
                "status": TargetStatus.RETRYING,
                "due_at": timezone.now() + pause,
                "step_begun_at": target.step_begun_at if decision.unanswered else None,
                "error": problem_json(decision.problem, auto_fixable=True),
            }
        case Finish():  # with the progress of a thread that ends between two segments
            return {"due_at": None, "turn_at": None, **_progress(attempt), **_final_values(decision)}


def _final_values(decision: Finish) -> dict[str, Any]:
    error = problem_json(decision.problem) if decision.problem else None
    values: dict[str, Any] = {"status": decision.status, "certainty": decision.certainty, "error": error}
    if post := decision.published:
        values |= {"external_id": post.external_id, "permalink": post.permalink, "published_at": timezone.now()}
    return values


def postpone(target: PostTarget, writer: DatabaseWriter, *, until: datetime) -> None:
    """Release this worker's claim of a post target, which any worker may claim again at the time `until`; raise ClaimLost."""
    _write(target, writer, due_at=until, lease_until=None)


def postpone_to_turns(attempts: Sequence[Attempt]) -> None:
    """Postpone posts to `turn_at`, the times at which the posting rate of their accounts lets them be published."""
    apply_fenced_updates(
        [
            FencedUpdate(each.target, {"due_at": each.turn_at, "turn_at": each.turn_at, "lease_until": None})
            for each in attempts
        ]
    )


def write_final_outcomes(outcomes: Sequence[tuple[PostTarget, Mapping[str, Any]]]) -> list[bool]:
    """Save the final outcomes of finished post targets, except for those that another worker has claimed in the meantime.

    Returns for each target whether it was saved.
    """
    with transaction.atomic():
        groups = _lock_groups({target.group_id for target, _ in outcomes})  # in order, so that workers cannot deadlock
        now = timezone.now()
        written = apply_fenced_updates(
            [
                FencedUpdate(target, {**changes, "updated_at": now}, statuses_before(changes["status"]))
                for target, changes in outcomes
            ]
        )
        settle_finished_targets([target for (target, _), valid in zip(outcomes, written, strict=True) if valid], groups)
    return written


def settle_finished_targets(targets: Sequence[PostTarget], groups: Iterable[PostGroup]) -> None:
    """Charge or refund finished post targets, update the status of their post groups, and emit events.

    `groups` are the locked groups of the targets, and may contain others.
    """
    now = timezone.now()
    ended = {target.pk for target in targets}
    siblings = _targets_of_groups({target.group_id for target in targets})
    changed: list[PostGroup] = []
    events: list[NewEvent] = []
    for group in groups:
        own = [target for target in siblings if target.group_id == group.pk]
        if not own:
            continue
        set_prefetched_targets(group, own)
        was, group.status = group.status, group_status_from_targets(each.status for each in own)
        group.updated_at, group.finished_at = now, now if group.status in FINISHED_GROUP_STATUSES else None
        if group.finished_at:
            end_group_media_protection(group)
        events += build_numbered_outcome_events(group, [each for each in own if each.pk in ended], ended=group.status != was)
        changed.append(group)
    fields = ("status", "finished_at", "updated_at", "event_sequence")
    updates = [FencedUpdate(group, {name: getattr(group, name) for name in fields}) for group in changed]
    write_together([*fenced_update_writes(updates, may_skip=True), *event_writes(events)])
    wake_delivery_workers_after_commit(events)
    # Last, because concurrent posts of a workspace wait for the lock on its spend counters.
    real = [target for target in targets if not target.sandbox]
    settle_holds(target_ids=[each.pk for each in real if each.status == TargetStatus.PUBLISHED])
    release_holds(target_ids=[each.pk for each in real if each.status == TargetStatus.FAILED], failed=True)


def mark_unconfirmed_as_published(target: PostTarget, decision: Finish) -> None:
    """Mark an unconfirmed post as published, because the platform answered after another worker had claimed the target."""
    logger.warning("%s was published by a worker that lost its claim: %s", target.id, decision.published)
    with transaction.atomic():
        groups = _lock_groups([target.group_id])
        rows = PostTarget.objects.filter(pk=target.pk, status=TargetStatus.UNCONFIRMED)
        if rows.update(updated_at=timezone.now(), **_final_values(decision)):
            target.status = decision.status
            settle_finished_targets([target], groups)


def _count(target: PostTarget, outcome: str, error: Mapping[str, Any] | None) -> None:
    platform = "sandbox" if target.sandbox else target.platform
    metrics.PUBLISHING_OUTCOMES.labels(platform, outcome, error["code"] if error else "").inc()


def _write(target: PostTarget, writer: DatabaseWriter, **changes: Any) -> None:
    """Update a post target's row; raise ClaimLost if another worker has claimed it or its status forbids the change."""
    states = statuses_before(changes["status"]) if "status" in changes else ()
    changes["updated_at"] = timezone.now()
    if not writer.write(apply_fenced_updates, FencedUpdate(target, changes, states)):
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
