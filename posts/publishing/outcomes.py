"""Writing what became of a target: its row, the money, the group's roll-up and the events, in one transaction.

Every write is filtered by the claim's fence; ClaimLost says that another worker has taken over and nothing was written.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.platforms.errors import PlatformError
from accounts.platforms.types import Progress, Published
from billing.services import release_many, settle_many
from config.api.trace import current_trace_id
from config.db.due import held
from posts import selectors
from posts.events import outcome_events
from posts.media import let_go_of_media
from posts.models import PostGroup, PostTarget
from posts.publishing.together import WrittenTogether
from posts.states import FINISHED, TargetStatus, before, roll_up
from webhooks.services import NewEvent, emit_many

logger = logging.getLogger(__name__)
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
        maybe_out=False,
    )


def published_late(target: PostTarget, result: Published) -> None:
    """A worker that has lost its claim knows what nobody else does: that the post is out, and where."""
    logger.warning("%s is out as %s, told by a worker that lost its claim.", target.id, result.external_id)
    with transaction.atomic():
        PostGroup.objects.select_for_update().get(pk=target.group_id)
        rows = PostTarget.objects.filter(pk=target.pk, status=TargetStatus.UNCONFIRMED)
        if rows.update(
            status=TargetStatus.PUBLISHED,
            external_id=result.external_id,
            permalink=result.permalink,
            published_at=timezone.now(),
            error=None,
            maybe_out=False,
            updated_at=timezone.now(),
        ):
            target.status = TargetStatus.PUBLISHED
            close_targets([target])


def failed(target: PostTarget, code: str, message: str, suggested_action: str, *, proven: bool = False) -> None:
    """It is not out and goes out no more. `proven`: that holds for the try of an earlier round as well."""
    if target.maybe_out and not proven:
        unconfirmed(target, f"{message} An earlier try may be out.")
    else:
        _finish(target, TargetStatus.FAILED, error=_error(code, message, suggested_action), maybe_out=False)


def unconfirmed(target: PostTarget, message: str) -> None:
    """Nobody can tell whether it is out: it keeps its money, and nothing but an explicit retry sends it again."""
    _finish(target, TargetStatus.UNCONFIRMED, error=outcome_unknown(message))


def _finish(target: PostTarget, status: TargetStatus, **changes: Any) -> None:
    """End a target, together with those that other threads end at this moment. Raises ClaimLost."""
    whole = {"status": status, "due_at": None, "lease_until": None, "turn_at": None, **_KNOWN, **changes}
    if not _ends.write((target, whole)):
        raise ClaimLost


def _write_ends(ends: Sequence[tuple[PostTarget, dict[str, Any]]]) -> list[bool]:
    """Write the ends of targets in one transaction; of each, whether its claim still stood.

    The groups' rows are locked first and in one order, so that targets that end at once roll up one after the other.
    """
    with transaction.atomic():
        groups = PostGroup.objects.filter(pk__in={target.group_id for target, _ in ends})
        list(groups.order_by("pk").select_for_update().values_list("pk"))
        written = [_written(target, changes) for target, changes in ends]
        close_targets([target for (target, _), stood in zip(ends, written, strict=True) if stood])
    return written


_ends = WrittenTogether(_write_ends)


def close_targets(targets: Sequence[PostTarget]) -> list[PostGroup]:
    """What follows from the ends of targets: their money, their groups' roll-up and the events; the groups as they stand.

    The groups' rows are locked.
    """
    now = timezone.now()
    real = [target for target in targets if not target.sandbox]
    settle_many(target_ids=[each.pk for each in real if each.status == TargetStatus.PUBLISHED])
    release_many(target_ids=[each.pk for each in real if each.status == TargetStatus.FAILED], failed=True)
    ended = {target.pk for target in targets}
    groups = list(selectors.groups_with_targets().filter(pk__in={target.group_id for target in targets}).order_by("pk"))
    told: list[NewEvent] = []
    for group in groups:
        was, group.status = group.status, roll_up(each.status for each in group.targets.all())
        group.updated_at, group.finished_at = now, now if group.status in FINISHED else None
        if group.finished_at:
            let_go_of_media(group)
        changed = [each for each in group.targets.all() if each.pk in ended]
        told += outcome_events(group, changed, ended=group.status != was)
        PostGroup.objects.filter(pk=group.pk).update(
            status=group.status,
            finished_at=group.finished_at,
            updated_at=group.updated_at,
            event_sequence=group.event_sequence,
        )
    emit_many(told)
    return groups


def outcome_unknown(message: str) -> dict[str, Any]:
    """The error of a target of which nobody can tell whether it is out."""
    action = "Look at the account. Resolve the target if the post is there; otherwise retry with include_unconfirmed."
    return _error("PUBLISH_OUTCOME_UNKNOWN", message, action)


def not_published() -> dict[str, Any]:
    """The error of a target of which a person has said that it is not out."""
    return _error("PLATFORM_REJECTED", "Somebody looked: the post is not out.", "Retry the post to send it again.")


def _write(target: PostTarget, **changes: Any) -> None:
    if not _written(target, changes):
        raise ClaimLost


def _written(target: PostTarget, changes: Mapping[str, Any]) -> bool:
    """Write to a target whose claim stands and whose state allows it; whether that was so."""
    rows = held(PostTarget.objects.all(), target)
    if "status" in changes:
        rows = rows.filter(status__in=before(changes["status"]))
    if not rows.update(updated_at=timezone.now(), **changes):
        return False
    for name, value in changes.items():
        setattr(target, name, value)
    return True


def _error(code: str, message: str, suggested_action: str, *, auto_fixable: bool = False) -> dict[str, Any]:
    return {
        "code": code,
        "message": message,
        "suggested_action": suggested_action,
        "auto_fixable": auto_fixable,
        "trace_id": current_trace_id(),
    }
