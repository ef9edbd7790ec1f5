"""Writing what became of a target: its row, the money, the group's roll-up and the events, in one transaction.

Every write is filtered by the claim's fence; ClaimLost says that another worker has taken over and nothing was written.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.platforms.errors import PlatformError
from accounts.platforms.types import Progress, Published
from billing.services import release, settle
from config.api.trace import current_trace_id
from config.db.due import held
from posts import selectors
from posts.events import tell_outcomes
from posts.media import let_go_of_media
from posts.models import PostGroup, PostTarget
from posts.states import FINISHED, TargetStatus, before, roll_up

JITTER = 0.2
_KNOWN: dict[str, Any] = {"step_begun_at": None, "worker_losses": 0}  # what a step's outcome takes back


class ClaimLost(Exception):
    """The row was claimed by another worker meanwhile."""


def advance(target: PostTarget, progress: Progress) -> None:
    """Store how far the publication is; `ready_at` postpones the next step and gives the claim back."""
    changes: dict[str, Any] = {"phase": progress.phase, "progress": dict(progress.state), **_KNOWN}
    if progress.ready_at is not None:
        changes |= {"status": TargetStatus.PROCESSING, "due_at": progress.ready_at, "lease_until": None}
    _write(target, **changes)


def postpone(target: PostTarget, until: datetime) -> None:
    """Give the claim back and look again later; nothing is counted."""
    _write(target, due_at=until, lease_until=None)


def wait_for_turn(target: PostTarget, turn_at: datetime) -> None:
    """Give the claim back until the target's turn at its account has come."""
    _write(target, due_at=turn_at, turn_at=turn_at, lease_until=None)


def look_again(target: PostTarget, at: datetime) -> None:
    """The post is not at the platform yet, but a try that got no answer may still be carried out until then."""
    _write(target, status=TargetStatus.RETRYING, due_at=at, lease_until=None, step_begun_at=target.step_begun_at)


def retry(target: PostTarget, code: str, error: PlatformError, *, may_be_out: bool) -> bool:
    """Try again after the schedule's pause (or the platform's own, when that is longer); False when none is left.

    `may_be_out` is kept with the row until the step's outcome is known, whatever the tries in between come to.
    """
    if target.round_attempts > len(settings.PUBLISH_RETRY_SCHEDULE):
        return False
    pause = settings.PUBLISH_RETRY_SCHEDULE[target.round_attempts - 1] * random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311
    asked = getattr(error, "retry_after", None) or 0
    _write(
        target,
        status=TargetStatus.RETRYING,
        due_at=timezone.now() + timedelta(seconds=max(pause, asked)),
        lease_until=None,
        error=_error(code, error.message, error.suggested_action, auto_fixable=True),
        **({"worker_losses": 0} if may_be_out else _KNOWN),
    )
    return True


def published(target: PostTarget, result: Published) -> None:
    _finish(
        target,
        TargetStatus.PUBLISHED,
        external_id=result.external_id,
        permalink=result.permalink,
        published_at=timezone.now(),
        error=None,
    )


def failed(target: PostTarget, code: str, message: str, suggested_action: str) -> None:
    _finish(target, TargetStatus.FAILED, error=_error(code, message, suggested_action))


def unconfirmed(target: PostTarget, message: str) -> None:
    """Nobody can tell whether it is out: it keeps its money, and nothing but an explicit retry sends it again."""
    _finish(target, TargetStatus.UNCONFIRMED, error=outcome_unknown(message))


def _finish(target: PostTarget, status: TargetStatus, **changes: Any) -> None:
    """End a target. Its group's row is locked first, so that two targets that end at once roll up one after the other."""
    with transaction.atomic():
        PostGroup.objects.select_for_update().get(pk=target.group_id)
        _write(target, status=status, due_at=None, lease_until=None, **_KNOWN, **changes)
        close_target(target, status)


def close_target(target: PostTarget, status: TargetStatus) -> PostGroup:
    """What follows from a target's end: its money, its group's roll-up and the events. The group's row is locked."""
    now = timezone.now()
    if not target.sandbox:
        if status == TargetStatus.PUBLISHED:
            settle(target_id=target.id)
        elif status == TargetStatus.FAILED:
            release(target_id=target.id, failed=True)
    group = selectors.groups_with_targets().get(pk=target.group_id)
    before, group.status = group.status, roll_up(each.status for each in group.targets.all())
    group.updated_at = now
    group.finished_at = now if group.status in FINISHED else None
    PostGroup.objects.filter(pk=group.pk).update(
        status=group.status, finished_at=group.finished_at, updated_at=group.updated_at
    )
    if group.finished_at:
        let_go_of_media(group)
    tell_outcomes(group, [each for each in group.targets.all() if each.pk == target.pk], ended=group.status != before)
    return group


def outcome_unknown(message: str) -> dict[str, Any]:
    """The error of a target of which nobody can tell whether it is out."""
    action = "Look at the account. Resolve the target if the post is there; otherwise retry with include_unconfirmed."
    return _error("PUBLISH_OUTCOME_UNKNOWN", message, action)


def not_published() -> dict[str, Any]:
    """The error of a target of which a person has said that it is not out."""
    return _error("PLATFORM_REJECTED", "Somebody looked: the post is not out.", "Retry the post to send it again.")


def _write(target: PostTarget, **changes: Any) -> None:
    rows = held(PostTarget.objects.all(), target)
    if "status" in changes:
        rows = rows.filter(status__in=before(changes["status"]))
    if not rows.update(updated_at=timezone.now(), **changes):
        raise ClaimLost
    for name, value in changes.items():
        setattr(target, name, value)


def _error(code: str, message: str, suggested_action: str, *, auto_fixable: bool = False) -> dict[str, Any]:
    return {
        "code": code,
        "message": message,
        "suggested_action": suggested_action,
        "auto_fixable": auto_fixable,
        "trace_id": current_trace_id(),
    }
