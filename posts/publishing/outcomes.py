"""Writing what became of a target; its end carries the money, the group's roll-up and the events (completion.py).

Every write is filtered by the claim's fence; ClaimLost says that another worker has taken over and nothing was written.
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
from posts.publishing.completion import close_targets, lock_groups, write_ends
from posts.publishing.segments import segments_out, told, what_to_do
from posts.publishing.writer import write_batched
from posts.states import GroupStatus, TargetStatus, before

logger = logging.getLogger(__name__)
LEASE = timedelta(seconds=20)  # the loop renews it while the target is in hand (posts/publishing/worker_loop.py)
_KNOWN: dict[str, Any] = {"step_begun_at": None, "worker_losses": 0}  # what a step's outcome takes back


class ClaimLost(Exception):
    """The row was claimed by another worker meanwhile."""


def write_beginnings(targets: Sequence[PostTarget]) -> list[bool]:
    """Write that the next step of each begins, all or none; of each, whether its claim still stood. The first makes its
    group publishing."""
    now = timezone.now()
    writes = [Write(target, _beginning(target, now), _MAY_BEGIN) for target in targets]
    scheduled = {each.group_id for each in targets if each.group.status == GroupStatus.SCHEDULED}
    if not scheduled:
        return update_rows(writes)
    with transaction.atomic():
        rows = PostGroup.objects.filter(pk__in=scheduled, status=GroupStatus.SCHEDULED)
        locked = set(rows.order_by("pk").select_for_update().values_list("pk", flat=True))
        began = update_rows(writes)
        first = [each for each, stood in zip(targets, began, strict=True) if stood and each.group_id in scheduled]
        of_first = locked & {each.group_id for each in first}
        PostGroup.objects.filter(pk__in=of_first).update(status=GroupStatus.PUBLISHING, updated_at=now)
    for each in first:
        each.group.status = GroupStatus.PUBLISHING
    return began


def _beginning(target: PostTarget, now: datetime) -> dict[str, Any]:
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


_MAY_BEGIN = before(TargetStatus.PUBLISHING)


def begin(target: PostTarget) -> None:
    """Write that its next step begins, together with those of other threads. Raises ClaimLost."""
    if not write_batched(write_beginnings, target):
        raise ClaimLost


def advance(target: PostTarget, progress: Progress) -> None:
    """Store how far the publication is; `ready_at` postpones the next step and gives the claim back."""
    changes: dict[str, Any] = {"phase": progress.phase, "progress": dict(progress.state), **_KNOWN}
    if progress.ready_at is not None:
        changes |= {"status": TargetStatus.PROCESSING, "due_at": progress.ready_at, "lease_until": None}
    _write(target, **changes)


def postpone(target: PostTarget, until: datetime) -> None:
    """Give the claim back and look again later; nothing is counted."""
    _write(target, due_at=until, lease_until=None)


def wait_for_turns(targets: Sequence[PostTarget]) -> None:
    """Give the claims back until the targets' turns at their accounts have come: each one's `turn_at`."""
    update_rows(
        [Write(each, {"due_at": each.turn_at, "turn_at": each.turn_at, "lease_until": None}) for each in targets]
    )


def wait_for_turn(target: PostTarget) -> None:
    """Give the claim back until the target's turn at its account has come."""
    _write(target, due_at=target.turn_at, turn_at=target.turn_at, lease_until=None)


def look_again(target: PostTarget, at: datetime) -> None:
    """The post is not at the platform yet, but a try that got no answer may still be carried out until then."""
    _stand_by(target, at, step_begun_at=target.step_begun_at, worker_losses=0)


def wait_for_tokens(target: PostTarget, at: datetime, *, may_be_out: bool) -> None:
    """Somebody else renews the account's tokens at this moment."""
    _stand_by(target, at, **({"worker_losses": 0} if may_be_out else _KNOWN))


def _stand_by(target: PostTarget, at: datetime, **changes: Any) -> None:
    """Go on at that time; the claim that ends here was no attempt."""
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
    """Try again after the schedule's pause (or the platform's own, when that is longer); False when none is left.

    `may_be_out` is kept with the row until the step's outcome is known, whatever the tries in between come to.
    """
    retry_after = getattr(error, "retry_after", None) or 0.0
    pause = scheduled_pause(settings.PUBLISH_RETRY_SCHEDULE, target.round_attempts, retry_after=retry_after)
    if pause is None:
        return False
    message = told(target, error.message, doubtful=may_be_out)
    _write(
        target,
        status=TargetStatus.RETRYING,
        due_at=timezone.now() + pause,
        lease_until=None,
        error=_error(code, message, error.suggested_action, auto_fixable=True),
        **({"worker_losses": 0} if may_be_out else _KNOWN),
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
    """A worker that has lost its claim knows what nobody else does: that the post is out, and where."""
    logger.warning("%s is out as %s, told by a worker that lost its claim.", target.id, result.external_id)
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
            close_targets([target], groups)


def failed(target: PostTarget, code: str, message: str, suggested_action: str, *, proven: bool = False) -> None:
    """Mark the target as failed for good. `proven`: that holds for the try of an earlier round as well.

    A thread some of whose segments are out waits for a person instead, and so does what the platform has taken. What is
    out stays published: only what was to follow it has failed.
    """
    if OUT in target.progress:
        published(target, Published(**target.progress[OUT], note=message))
    elif (target.maybe_out or TAKEN in target.progress) and not proven:
        unconfirmed(target, f"{message} An earlier try may be out.")
    elif segments_out(target):
        unconfirmed(target, message, doubtful=False)
    else:
        _finish(target, TargetStatus.FAILED, error=_error(code, message, suggested_action), maybe_out=False)


def unconfirmed(target: PostTarget, message: str, *, doubtful: bool = True) -> None:
    """Nobody can tell whether it is out, or (not `doubtful`) a part of it is: it keeps its money, and nothing but an
    explicit retry sends it again. What is out stays published, as in `failed`."""
    if OUT in target.progress:
        published(target, Published(**target.progress[OUT], note=message))
    else:
        error = _unknown(told(target, message, doubtful=doubtful), what_to_do(target))
        _finish(target, TargetStatus.UNCONFIRMED, error=error)


def _finish(target: PostTarget, status: TargetStatus, **changes: Any) -> None:
    """End a target, together with those that other threads end at this moment. Raises ClaimLost."""
    whole = {"status": status, "due_at": None, "lease_until": None, "turn_at": None, **_KNOWN, **changes}
    if not write_batched(write_ends, (target, whole)):
        raise ClaimLost
    _count(target, status, changes["error"])


def retry_cancelled(target: PostTarget) -> dict[str, Any]:
    """The error of a target whose retry was cancelled, so that its try before is what counts."""
    message = told(target, "The retry was cancelled; the try before it may be out.", doubtful=True)
    return _unknown(message, what_to_do(target))


def not_published() -> dict[str, Any]:
    """The error of a target of which a person has said that it is not out."""
    return _error("PLATFORM_REJECTED", "Somebody looked: the post is not out.", "Retry the post to send it again.")


def _count(target: PostTarget, outcome: str, error: Mapping[str, Any] | None) -> None:
    platform = "sandbox" if target.sandbox else target.platform
    metrics.OUTCOMES.labels(platform, outcome, error["code"] if error else "").inc()


def _note(result: Published) -> dict[str, Any] | None:
    """What is missing about a post that is out."""
    action = "The post is out: do not send it again. Add what is missing at the platform, if it is still wanted."
    return _error("PUBLISHED_INCOMPLETE", result.note, action) if result.note else None


def _unknown(message: str, suggested_action: str) -> dict[str, Any]:
    return _error("PUBLISH_OUTCOME_UNKNOWN", message, suggested_action)


def _write(target: PostTarget, **changes: Any) -> None:
    """Write to a target whose claim stands and whose state allows it, together with others. Raises ClaimLost."""
    states = before(changes["status"]) if "status" in changes else ()
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
