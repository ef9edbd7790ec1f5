"""What ends or postpones a publication before its platform is asked anything.

What is found here is written by whoever takes the target on: a `Stop` is that write.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import cast

from django.conf import settings
from django.utils import timezone

from accounts.models import ConnectedAccount
from accounts.platforms.base import Platform
from accounts.platforms.errors import AccountDisconnected
from accounts.platforms.registry import PLATFORMS, publisher
from accounts.platforms.types import Pace
from accounts.services import take_turns
from config.api.caller import WorkspaceStatus
from posts.models import PostTarget
from posts.publishing import outcomes
from posts.states import TargetStatus

logger = logging.getLogger(__name__)
Stop = Callable[[], None]
PAUSED_WORKSPACE_DELAY = timedelta(seconds=30)
TURN_VALIDITY = timedelta(seconds=2)  # beyond the pace; turns that were missed must not all be used at once
MAX_WORKER_LOSSES = 3  # a step that has ended so many workers ends no further one


def may_be_out(target: PostTarget, adapter: Platform) -> bool:
    """Whether an earlier try of the step to come may have published."""
    return target.step_begun_at is not None and target.phase in adapter.irreversible


def worker_losses(target: PostTarget) -> int:
    """How many workers the step to come has ended, this claim's predecessor included."""
    return target.worker_losses + (target.status == TargetStatus.PUBLISHING)


def preflight(target: PostTarget, adapter: Platform) -> Stop | None:
    """What keeps this claim from going on, if anything does."""
    if target.group.workspace.status == WorkspaceStatus.PAUSED:
        return partial(outcomes.postpone, target, timezone.now() + PAUSED_WORKSPACE_DELAY)
    doubtful = may_be_out(target, adapter)
    if doubtful and target.account.status != ConnectedAccount.Status.ACTIVE:
        message = f"The account is {target.account.status}, so nobody can look whether it is out."
        return partial(outcomes.unconfirmed, target, message)
    if past := _stop_of_its_past(target, adapter, doubtful=doubtful):
        return past
    untried = not target.round_attempts
    if doubtful:
        # What may be out is brought to its end, whatever has changed since; but a retry's time counts, where to look is
        # to send.
        looks_by_sending = adapter.capabilities.retry_safety == "idempotent"
        return _missed_its_time(target) if looks_by_sending and untried else None
    return stop_if_not_allowed(target, untried=untried) or _wait_for_its_turn(target)


def _stop_of_its_past(target: PostTarget, adapter: Platform, *, doubtful: bool) -> Stop | None:
    crashes_workers = worker_losses(target) >= MAX_WORKER_LOSSES
    attempts_exhausted = target.step_begun_at is not None and target.round_attempts > len(
        settings.PUBLISH_RETRY_SCHEDULE
    )
    if crashes_workers:
        logger.error("%s has ended %s workers and is published no further.", target.id, MAX_WORKER_LOSSES)
    if doubtful and (crashes_workers or attempts_exhausted or adapter.capabilities.retry_safety == "at_most_once"):
        message = "It may be out: whoever was publishing it did not learn the outcome."
        return partial(outcomes.unconfirmed, target, message)
    if crashes_workers or attempts_exhausted:
        message = "The worker that was preparing this died at every attempt."
        action = "Report the trace_id to the operator of the service."
        return partial(outcomes.failed, target, "PLATFORM_UNAVAILABLE", message, action)
    return None


def stop_if_not_allowed(target: PostTarget, *, untried: bool) -> Stop | None:
    """What stops it when the workspace, the account or the time no longer lets it go out.

    `untried`: nothing was sent since the release or the last retry. What was is brought to its end however late.
    """
    if target.group.workspace.status == WorkspaceStatus.DELETED:
        message, action = "The workspace was deleted.", "Nothing: the post was stopped."
        return partial(outcomes.failed, target, "WORKSPACE_DELETED", message, action)
    if target.account.status != ConnectedAccount.Status.ACTIVE:
        message = f"The account is {target.account.status}."
        action = AccountDisconnected.suggested_action
        return partial(outcomes.failed, target, "ACCOUNT_NEEDS_REAUTH", message, action)
    return _missed_its_time(target) if untried else None


def _missed_its_time(target: PostTarget) -> Stop | None:
    scheduled_at, hours = target.group.scheduled_at, settings.SCHEDULE_GRACE_HOURS
    if scheduled_at is None or timezone.now() <= scheduled_at + timedelta(hours=hours):
        return None
    message = f"It could not go out within {hours} hours of its time."
    action = "Retry the post if it should still go out."
    return partial(outcomes.failed, target, "SCHEDULE_MISSED", message, action)


def take_account_turns(targets: Sequence[PostTarget]) -> list[PostTarget]:
    """Take the turns of claimed targets all at once; those that go on now. The others have given their claims back.

    A target that something else stops takes no turn here.
    """
    waiting = _take_turns([target for target in targets if _stands(target)])
    return [target for target in targets if target not in waiting]


def _take_turns(targets: Sequence[PostTarget]) -> list[PostTarget]:
    """Take a turn for each target that lacks one; those whose turn comes later have given their claims back."""
    waiting = _with_later_turns(targets)
    outcomes.wait_for_turns(waiting)
    return waiting


def _with_later_turns(targets: Sequence[PostTarget]) -> list[PostTarget]:
    lacking = [(target, pace) for target in targets if (pace := _pace(target)) and _lacks_its_turn(target, pace)]
    turns = take_turns([(target.account_id, pace) for target, pace in lacking]) if lacking else []
    for (target, _), turn_at in zip(lacking, turns, strict=True):
        target.turn_at = turn_at
    return [target for target, _ in lacking if target.turn_at and target.turn_at > timezone.now()]


def _wait_for_its_turn(target: PostTarget) -> Stop | None:
    """Targets of one account go out one after another, each at a turn of its own, so that none fails for haste."""
    if _is_held(target):
        return partial(outcomes.postpone, target, cast(datetime, target.account.held_until))
    return partial(outcomes.wait_for_turn, target) if _with_later_turns([target]) else None


def _stands(target: PostTarget) -> bool:
    """Whether nothing that its rows tell keeps it from going out."""
    if target.platform not in PLATFORMS or target.step_begun_at is not None or _is_held(target):
        return False
    return (target.account.status, target.group.workspace.status) == (
        ConnectedAccount.Status.ACTIVE,
        WorkspaceStatus.ACTIVE,
    )


def _is_held(target: PostTarget) -> bool:
    held_until = target.account.held_until
    return held_until is not None and held_until > timezone.now() and _pace(target) is not None


def _lacks_its_turn(target: PostTarget, pace: Pace) -> bool:
    return target.turn_at is None or target.turn_at + timedelta(seconds=pace.seconds) + TURN_VALIDITY < timezone.now()


def _pace(target: PostTarget) -> Pace | None:
    """The simulator has none, and what a platform has taken needs no further turn."""
    if target.sandbox or target.status == TargetStatus.PROCESSING:
        return None
    return publisher(target.platform, sandbox=False).capabilities.pace
