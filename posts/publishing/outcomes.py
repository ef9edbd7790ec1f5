"""Writes the outcomes of publishing. completion.py adds the money, the group's status and the events of final outcomes.

Every write is guarded by the claim's fence; ClaimLost means that another worker took over and nothing was written.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.platforms.errors import PlatformError
from accounts.platforms.types import OUT, TAKEN, Progress, Published
from config import metrics
from config.api.trace import current_trace_id
from config.jobs.backoff import scheduled_pause
from config.jobs.fenced_updates import Write, update_rows
from posts.models import PostGroup, PostTarget
from posts.publishing.completion import finish_targets, lock_groups, write_final_outcomes
from posts.publishing.segments import published_segments, unconfirmed_action, with_published_segments
from posts.publishing.writer import write_batched
from posts.states import GroupStatus, TargetStatus, statuses_before

logger = logging.getLogger(__name__)
LEASE = timedelta(seconds=20)  # the lease is renewed while the target is being published (worker_loop.py)
_OUTCOME_KNOWN: dict[str, Any] = {"step_begun_at": None, "worker_losses": 0}  # written when a step's outcome is certain


class ClaimLost(Exception):
    """Raised when another worker has claimed the target."""


def write_beginnings(targets: Sequence[PostTarget]) -> list[bool]:
    """Commit that the next step of each target begins, all or none; returns for each whether its claim was valid.

    A scheduled group becomes publishing with its first target.
    """
    now = timezone.now()
    writes = [Write(target, _columns_of_beginning(target, now), _MAY_BEGIN) for target in targets]
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


def begin(target: PostTarget) -> None:
    """Commit that the target's next step begins, batched with other threads' writes. Raises ClaimLost."""
    if not write_batched(write_beginnings, target):
        raise ClaimLost


def advance(target: PostTarget, progress: Progress) -> None:
    """Store a target's publishing progress; with `ready_at` the next step is postponed and the claim released."""
    changes: dict[str, Any] = {"phase": progress.phase, "progress": dict(progress.state), **_OUTCOME_KNOWN}
    if progress.ready_at is not None:
        changes |= {"status": TargetStatus.PROCESSING, "due_at": progress.ready_at, "lease_until": None}
    _write(target, **changes)


def postpone(target: PostTarget, until: datetime) -> None:
    """Release the claim of a target and make it due later, without counting an attempt."""
    _write(target, due_at=until, lease_until=None)


def wait_for_turns(targets: Sequence[PostTarget]) -> None:
    """Release the claims of targets until their turns at their accounts, which are stored in `turn_at`."""
    update_rows(
        [Write(each, {"due_at": each.turn_at, "turn_at": each.turn_at, "lease_until": None}) for each in targets]
    )


def wait_for_turn(target: PostTarget) -> None:
    """Release the claim of a target until its turn at its account."""
    _write(target, due_at=target.turn_at, turn_at=target.turn_at, lease_until=None)


def search_again(target: PostTarget, at: datetime) -> None:
    """Schedule another search for the post: it was not found, but the platform may still process an unanswered attempt."""
    _postpone_uncounted(target, at, step_begun_at=target.step_begun_at, worker_losses=0)


def wait_for_tokens(target: PostTarget, at: datetime, *, may_be_out: bool) -> None:
    """Postpone the target while another worker renews the account's tokens."""
    _postpone_uncounted(target, at, **({"worker_losses": 0} if may_be_out else _OUTCOME_KNOWN))


def _postpone_uncounted(target: PostTarget, at: datetime, **changes: Any) -> None:
    """Make the target due at a later time, without counting this claim as an attempt."""
    _write(
        target,
        status=TargetStatus.RETRYING,
        due_at=at,
        lease_until=None,
        attempts=max(target.attempts - 1, 0),
        round_attempts=max(target.round_attempts - 1, 0),
        **changes,
    )


def retry(target: PostTarget, code: str, error: PlatformError, *, may_be_out: bool) -> bool:
    """Schedule a further attempt to publish; returns False if none is left. The platform's own delay applies if it is longer.

    `may_be_out`: the step may have published. It is stored until the step's outcome is certain, whatever later attempts
    return.
    """
    retry_after = getattr(error, "retry_after", None) or 0.0
    pause = scheduled_pause(settings.PUBLISH_RETRY_SCHEDULE, target.round_attempts, retry_after=retry_after)
    if pause is None:
        return False
    message = with_published_segments(target, error.message, doubtful=may_be_out)
    _write(
        target,
        status=TargetStatus.RETRYING,
        due_at=timezone.now() + pause,
        lease_until=None,
        error=_error(code, message, error.suggested_action, auto_fixable=True),
        **({"worker_losses": 0} if may_be_out else _OUTCOME_KNOWN),
    )
    _count(target, TargetStatus.RETRYING, target.error)
    return True


def published(target: PostTarget, result: Published) -> None:
    _finish(
        target,
        TargetStatus.PUBLISHED,
        external_id=result.external_id,
        permalink=result.permalink,
        published_at=timezone.now(),
        error=_note(result),
        maybe_out=False,
    )


def published_late(target: PostTarget, result: Published) -> None:
    """Mark an unconfirmed target as published, from a worker that lost its claim but got the platform's answer."""
    logger.warning("%s was published as %s by a worker that lost its claim.", target.id, result.external_id)
    with transaction.atomic():
        groups = lock_groups([target.group_id])
        rows = PostTarget.objects.filter(pk=target.pk, status=TargetStatus.UNCONFIRMED)
        if rows.update(
            status=TargetStatus.PUBLISHED,
            external_id=result.external_id,
            permalink=result.permalink,
            published_at=timezone.now(),
            error=_note(result),
            maybe_out=False,
            updated_at=timezone.now(),
        ):
            target.status = TargetStatus.PUBLISHED
            finish_targets([target], groups)


def failed(target: PostTarget, code: str, message: str, suggested_action: str, *, proven: bool = False) -> None:
    """Mark the target as failed. `proven`: the failure also applies to the attempts of an earlier round.

    A thread with published segments, or a post that the platform has accepted, becomes unconfirmed instead. A published post
    stays published; only the steps after it have failed.
    """
    if OUT in target.progress:
        published(target, Published(**target.progress[OUT], note=message))
    elif (target.maybe_out or TAKEN in target.progress) and not proven:
        unconfirmed(target, f"{message} An earlier attempt may have been published.")
    elif published_segments(target):
        unconfirmed(target, message, doubtful=False)
    else:
        _finish(target, TargetStatus.FAILED, error=_error(code, message, suggested_action), maybe_out=False)


def unconfirmed(target: PostTarget, message: str, *, doubtful: bool = True) -> None:
    """Mark the target as unconfirmed: unknown outcome, or (not `doubtful`) only a part was published.

    The money stays held and only an explicit retry sends it again. A published post stays published, as in `failed`.
    """
    if OUT in target.progress:
        published(target, Published(**target.progress[OUT], note=message))
    else:
        error = _unknown(with_published_segments(target, message, doubtful=doubtful), unconfirmed_action(target))
        _finish(target, TargetStatus.UNCONFIRMED, error=error)


def _finish(target: PostTarget, status: TargetStatus, **changes: Any) -> None:
    """Write a target's final status, batched with other threads' writes. Raises ClaimLost."""
    columns = {"status": status, "due_at": None, "lease_until": None, "turn_at": None, **_OUTCOME_KNOWN, **changes}
    if not write_batched(write_final_outcomes, (target, columns)):
        raise ClaimLost
    _count(target, status, changes["error"])


def retry_cancelled_error(target: PostTarget) -> dict[str, Any]:
    """Return the error of a target whose retry was cancelled, so that the attempt before the retry counts."""
    message = with_published_segments(
        target, "The retry was cancelled. The attempt before it may have been published.", doubtful=True
    )
    return _unknown(message, unconfirmed_action(target))


def not_published_error() -> dict[str, Any]:
    """Return the error of a target that a person marked as not published."""
    return _error(
        "PLATFORM_REJECTED", "A person checked: the post was not published.", "Retry the post to send it again."
    )


def _count(target: PostTarget, outcome: str, error: Mapping[str, Any] | None) -> None:
    platform = "sandbox" if target.sandbox else target.platform
    metrics.OUTCOMES.labels(platform, outcome, error["code"] if error else "").inc()


def _note(result: Published) -> dict[str, Any] | None:
    """Return the error that describes what is missing from a published post, or None."""
    action = "The post is published, so do not send it again. If needed, add what is missing at the platform."
    return _error("PUBLISHED_INCOMPLETE", result.note, action) if result.note else None


def _unknown(message: str, suggested_action: str) -> dict[str, Any]:
    return _error("PUBLISH_OUTCOME_UNKNOWN", message, suggested_action)


def _write(target: PostTarget, **changes: Any) -> None:
    """Update a target if its claim and status allow the change, batched with other threads' writes. Raises ClaimLost."""
    states = statuses_before(changes["status"]) if "status" in changes else ()
    if not write_batched(update_rows, Write(target, {**changes, "updated_at": timezone.now()}, states)):
        raise ClaimLost


def _error(code: str, message: str, suggested_action: str, *, auto_fixable: bool = False) -> dict[str, Any]:
    return {
        "code": code,
        "message": message,
        "suggested_action": suggested_action,
        "auto_fixable": auto_fixable,
        "trace_id": current_trace_id(),
    }
