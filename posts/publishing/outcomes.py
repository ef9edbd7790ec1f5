"""Writes the publisher's decisions to post target rows; a final decision also writes money, group status and events.

Every write is guarded by the claim's fence.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import OperationalError, transaction
from django.utils import timezone

from accounts.platforms.types import Progress
from billing.services import run_writes_settling_money
from config import metrics
from config.db.fixed_select import FixedSelect
from config.db.writes import write_all_or_return_failed
from config.jobs.backoff import retry_pause_from_list_or_none
from config.jobs.database_writer import DatabaseWriter
from config.jobs.fenced_updates import FencedUpdate, apply_fenced_updates, build_fenced_update_writes
from posts.attached_media import writes_that_end_media_protection
from posts.events import build_group_events, outcome_event_kinds_and_targets
from posts.models import PostGroup, PostTarget
from posts.publishing.attempts import LEASE, Attempt
from posts.publishing.decision_types import Decision, Finish, Postpone, Retry, TakeStep, Wait
from posts.states import FINISHED_GROUP_STATUSES, GroupStatus, TargetStatus, group_status_from_targets, statuses_valid_before
from webhooks.services import build_event_writes, wake_delivery_workers_after_commit

logger = logging.getLogger(__name__)
MAX_TRIES = 5
MAY_BEGIN = statuses_valid_before(TargetStatus.PUBLISHING)
_targets_with_groups = FixedSelect(PostTarget, where_in="group_id", join=("group",), order_by="position")
_locked_groups = FixedSelect(PostGroup, where_in="id", order_by="id", for_update=True)


class TargetUpdate(FencedUpdate):
    """The new values that an outcome writes to a post target that this worker has claimed."""

    row: PostTarget

    def may_be_written_to(self, stored: PostTarget) -> bool:
        """Return whether this TargetUpdate may still be written: the stored row has the same claim and a valid status."""
        return stored.fence == self.row.fence and stored.status in self.states


class ClaimLost(Exception):
    """Raised if nothing was written, because another worker has claimed the post target or its status has changed."""


def write_step_beginnings_if_claims_valid(attempts: Sequence[Attempt]) -> list[bool]:
    """Write to the rows of targets that attempts begin their next step; returns for each whether its claim is valid.

    A scheduled group becomes publishing with its first target, which may be another worker's. If another worker has claimed
    one of the targets meanwhile, the one statement changes nothing, and each attempt gets its own.
    """
    now = timezone.now()
    groups = {each.target.group_id: each.target.group for each in attempts}.values()
    publishing = {"status": GroupStatus.PUBLISHING, "updated_at": now}
    scheduled = [FencedUpdate(each, publishing, [each.status]) for each in groups if each.status == GroupStatus.SCHEDULED]
    begun = [FencedUpdate(each.target, _step_beginning(each, now), MAY_BEGIN) for each in attempts]
    writes = [*build_fenced_update_writes(scheduled, may_skip=True), *build_fenced_update_writes(begun)]
    if write_all_or_return_failed(writes):
        return [False] if len(attempts) == 1 else [write_step_beginnings_if_claims_valid([each])[0] for each in attempts]
    for update in (*scheduled, *begun):
        update.set_in_memory()
    return [True] * len(attempts)


def _step_beginning(attempt: Attempt, now: datetime) -> dict[str, Any]:
    return {
        "status": TargetStatus.PUBLISHING,
        **_progress(attempt.progress),
        "certainty": attempt.state.certainty_during_step,
        "step_begun_at": now,
        "worker_losses": attempt.worker_losses,
        "turn_at": None,
        "attempts": attempt.total,
        "round_attempts": attempt.number,
        "lease_until": now + LEASE,
        "updated_at": now,
    }


def _progress(progress: Progress) -> dict[str, Any]:
    return {"phase": progress.phase, "progress": progress.to_stored()}


def record_decision(attempt: Attempt, decision: Decision) -> None:
    """Write a decision about an attempt, such as its outcome, to the target's row. Raises ClaimLost if another worker has it.

    Raises IntegrityError if the published post already belongs to another target.
    """
    if isinstance(decision, Postpone):
        _write(attempt.target, attempt.writer, {"due_at": decision.until, "turn_at": attempt.turn_at, "lease_until": None})
        return
    if isinstance(decision, TakeStep):
        raise TypeError(f"{decision} is carried out by the engine.")
    known = {"certainty": decision.certainty, "step_begun_at": None, "worker_losses": 0}
    changes = {"lease_until": None, **known, **_values(attempt, decision)}
    _write(attempt.target, attempt.writer, changes, final=isinstance(decision, Finish))
    if not isinstance(decision, Wait):
        code = decision.problem.code if decision.problem else ""
        platform = "sandbox" if attempt.target.sandbox else attempt.target.platform
        metrics.PUBLISHING_OUTCOMES.labels(platform, changes["status"], code).inc()


def _values(attempt: Attempt, decision: Wait | Retry | Finish) -> dict[str, Any]:
    """Return the columns of a post target's row that depend on the outcome: waiting, a retry or the end of publishing."""
    target = attempt.target
    match decision:
        case Wait(progress=Progress() as progress):
            return {"status": TargetStatus.PROCESSING, "due_at": decision.at, **_progress(progress)}
        case Wait():
            return {
                "status": TargetStatus.RETRYING,
                "due_at": decision.at,
                "attempts": max(target.attempts - 1, 0),
                "round_attempts": max(target.round_attempts - 1, 0),
                "step_begun_at": attempt.last_try_at if decision.unanswered else None,
            }
        case Retry():
            schedule, retry_after = settings.PUBLISH_RETRY_SCHEDULE, decision.retry_after
            pause = retry_pause_from_list_or_none(schedule, attempt.number, retry_after=retry_after) or timedelta(0)
            return {
                "status": TargetStatus.RETRYING,
                "due_at": timezone.now() + pause,
                "step_begun_at": target.step_begun_at if decision.unanswered else None,
                "error": decision.problem.to_json(auto_fixable=True),
            }
        case Finish():  # with the progress of a thread that ends between two segments
            return {"due_at": None, "turn_at": None, **_progress(attempt.progress), **_final_values(decision)}


def _final_values(decision: Finish) -> dict[str, Any]:
    error = decision.problem.to_json() if decision.problem else None
    values: dict[str, Any] = {"status": decision.status, "certainty": decision.certainty, "error": error}
    if post := decision.published:
        values |= {"external_id": post.external_id, "permalink": post.permalink, "published_at": timezone.now()}
    return values


def postpone(target: PostTarget, writer: DatabaseWriter, *, until: datetime) -> None:
    """Write that a target is postponed until the time `until`, when any worker may claim it again. Raises ClaimLost."""
    _write(target, writer, {"due_at": until, "lease_until": None})


def _write(target: PostTarget, writer: DatabaseWriter, changes: Mapping[str, Any], *, final: bool = False) -> None:
    """Write an outcome to a post target's row. Raises ClaimLost if another worker has claimed it or its status forbids it."""
    states = statuses_valid_before(changes["status"]) if "status" in changes else ()
    update = TargetUpdate(target, {**changes, "updated_at": timezone.now()}, states)
    if not writer.write(write_final_outcomes_if_claims_valid if final else apply_fenced_updates, update):
        raise ClaimLost


def mark_unconfirmed_as_published(target: PostTarget, decision: Finish) -> None:
    """Mark an unconfirmed target as published, because the platform confirmed it to a worker that had lost its claim."""
    logger.warning("%s was published by a worker that lost its claim: %s", target.id, decision.published)
    changes = {**_final_values(decision), "updated_at": timezone.now()}
    for unconfirmed in PostTarget.objects.filter(pk=target.pk, status=TargetStatus.UNCONFIRMED):
        write_final_outcomes_if_claims_valid([TargetUpdate(unconfirmed, changes, [TargetStatus.UNCONFIRMED])])


def write_final_outcomes_if_claims_valid(updates: Sequence[TargetUpdate]) -> list[bool]:
    """Save the final outcomes of finished post targets, except for those that another worker has claimed in the meantime.

    Returns for each target whether it was saved. Raises OperationalError if other writers keep changing the rows.
    """
    group_ids = {each.row.group_id for each in updates}
    for tries in range(MAX_TRIES):
        # Once another writer was first, the groups are locked, so that one contended group does not delay the whole batch.
        with transaction.atomic() if tries else nullcontext():
            if tries:
                _locked_groups(group_ids)
            rows = _targets_with_groups(group_ids)
            stored = {row.pk: row for row in rows}
            valid = [each for each in updates if each.row.pk in stored and each.may_be_written_to(stored[each.row.pk])]
            if _write_with_groups(valid, rows):
                saved = {each.row.pk for each in valid}
                return [each.row.pk in saved for each in updates]
    raise OperationalError("Other writers keep changing these post groups.")


def _write_with_groups(updates: Sequence[TargetUpdate], rows: Sequence[PostTarget]) -> bool:
    """Write final outcomes with the status of the post groups, the events and the money, in one statement on PostgreSQL.

    `rows` are all targets of the groups as they are stored. Returns False, and writes nothing, if they have changed since.
    """
    now, new_values = timezone.now(), {each.row.pk: each for each in updates}
    by_group = defaultdict[str, list[PostTarget]](list)
    for row in rows:
        by_group[row.group_id].append(row)
        if row.pk in new_values:
            replace(new_values[row.pk], row=row).set_in_memory()
    groups, ended = list[FencedUpdate](), list[tuple[PostGroup, list[PostTarget], list[tuple[str, str | None]]]]()
    for own in by_group.values():
        if changed := [row for row in own if row.pk in new_values]:
            group, status = own[0].group, group_status_from_targets(each.status for each in own)
            kinds = outcome_event_kinds_and_targets(status, own, changed, ended=status != group.status)
            values = {"status": status, "updated_at": now, "event_sequence": group.event_sequence + len(kinds)}
            values["finished_at"] = now if status in FINISHED_GROUP_STATUSES else group.finished_at
            groups.append(FencedUpdate(group, values, [group.status], PostGroup.GUARD_FIELDS))
            ended.append((group, own, kinds))
    writes = build_fenced_update_writes(groups)  # with what is stored now as the guard
    for update in groups:
        update.set_in_memory()
    events = [event for each in ended for event in build_group_events(*each)]
    writes += writes_that_end_media_protection(group for group, *_ in ended if group.status in FINISHED_GROUP_STATUSES)
    writes += build_fenced_update_writes(updates)
    # The money comes last, because concurrent posts of a workspace wait for the lock on its spend counters.
    settled, failed = (
        [each.row.pk for each in updates if each.changes["status"] == status and not each.row.sandbox]
        for status in (TargetStatus.PUBLISHED, TargetStatus.FAILED)
    )
    if run_writes_settling_money([*writes, *build_event_writes(events)], settled=settled, failed=failed):
        return False
    for update in updates:
        update.set_in_memory()
    wake_delivery_workers_after_commit(events)
    return True
