"""The times of a post's targets: each has its own, or that of its post group, or none and is published at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from django.utils import timezone

from config.api.errors import ValidationFailed
from posts.content import TargetInput
from posts.states import GroupStatus

PAST_TOLERANCE = timedelta(seconds=60)
MAX_SCHEDULE_AHEAD = timedelta(days=366)


def refuse_past_or_too_late_times(scheduled_at: datetime | None, targets: Sequence[TargetInput] = ()) -> None:
    """Raise ValidationFailed if a time of a post or of its targets is over 60 seconds ago or over 366 days ahead."""
    now = timezone.now()
    times = [("scheduled_at", scheduled_at)]
    times += [(f"targets[{index}].scheduled_at", target.scheduled_at) for index, target in enumerate(targets)]
    problems = []
    for field, at in times:
        if at and at < now - PAST_TOLERANCE:
            message = "Must not be more than 60 seconds in the past."
            problems.append({"field": field, "code": "past", "message": message})
        elif at and at > now + MAX_SCHEDULE_AHEAD:
            problems.append({"field": field, "code": "too_far", "message": "Must not be more than 366 days ahead."})
    if problems:
        raise ValidationFailed(details=problems)


def whether_targets_have_times(scheduled_at: datetime | None, targets: Iterable[TargetInput]) -> list[bool]:
    """Return, for each target of a post to create or edit, whether it has a time; if not, it is published at once."""
    return [bool(target.slot or target.scheduled_at or scheduled_at) for target in targets]


def status_when_released(scheduled: Iterable[bool]) -> GroupStatus:
    """Return, by the times of its targets, the status of a released post group: scheduled, or publishing if one has none."""
    return GroupStatus.SCHEDULED if all(scheduled) else GroupStatus.PUBLISHING


def scopes_required_by_times(scheduled: Iterable[bool]) -> list[str]:
    """Return the scopes that the times of a post's targets need: one for times to come, and one to publish now."""
    known = set(scheduled)
    return [scope for later, scope in ((True, "posts.schedule"), (False, "posts.publish")) if later in known]
