"""Checks before publishing: conditions that end or postpone a target before its platform is called.

A `Stop` is a function that writes the resulting outcome.
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
TURN_VALIDITY = timedelta(seconds=2)  # a missed turn expires then, so that missed turns are not used all at once
MAX_WORKER_LOSSES = 3  # number of dead workers after which a step is not tried again


def may_be_published(target: PostTarget, adapter: Platform) -> bool:
    """Return whether an earlier attempt at the target's next step may have published the post."""
    return target.step_begun_at is not None and target.phase in adapter.irreversible


def worker_losses(target: PostTarget) -> int:
    """Return how many workers died in the target's current step, including the previous claim's worker."""
    return target.worker_losses + (target.status == TargetStatus.PUBLISHING)


def preflight(target: PostTarget, adapter: Platform) -> Stop | None:
    """Return the Stop that prevents a claimed target from being published, or None."""
    if target.group.workspace.status == WorkspaceStatus.PAUSED:
        return partial(outcomes.postpone, target, timezone.now() + PAUSED_WORKSPACE_DELAY)
    doubtful = may_be_published(target, adapter)
    if doubtful and target.account.status != ConnectedAccount.Status.ACTIVE:
        message = f"The account is {target.account.status}, so it cannot be checked whether the post was published."
        return partial(outcomes.unconfirmed, target, message)
    if stop := _stop_after_earlier_attempts(target, adapter, doubtful=doubtful):
        return stop
    untried = not target.round_attempts
    if doubtful:
        # A possibly published target is completed whatever has changed. But if the platform can only be checked by
        # sending the post again, the time limit of a retry applies.
        checked_by_sending = adapter.capabilities.retry_safety == "idempotent"
        return _stop_if_too_late(target) if checked_by_sending and untried else None
    return stop_if_not_allowed(target, untried=untried) or _stop_until_turn(target)


def _stop_after_earlier_attempts(target: PostTarget, adapter: Platform, *, doubtful: bool) -> Stop | None:
    crashes_workers = worker_losses(target) >= MAX_WORKER_LOSSES
    attempts_exhausted = target.step_begun_at is not None and target.round_attempts > len(
        settings.PUBLISH_RETRY_SCHEDULE
    )
    if crashes_workers:
        logger.error("%s ended %s workers and is not tried again.", target.id, MAX_WORKER_LOSSES)
    if doubtful and (crashes_workers or attempts_exhausted or adapter.capabilities.retry_safety == "at_most_once"):
        message = "The post may be published: the worker that sent it did not learn the outcome."
        return partial(outcomes.unconfirmed, target, message)
    if crashes_workers or attempts_exhausted:
        message = "The worker died in every attempt to prepare this post."
        action = "Report the trace_id to the operator of the service."
        return partial(outcomes.failed, target, "PLATFORM_UNAVAILABLE", message, action)
    return None


def stop_if_not_allowed(target: PostTarget, *, untried: bool) -> Stop | None:
    """Return the Stop that its workspace, account or schedule imposes on a target, or None.

    `untried`: nothing was sent since the release or the last retry. Only then a missed schedule stops it.
    """
    if target.group.workspace.status == WorkspaceStatus.DELETED:
        message, action = "The workspace was deleted.", "Nothing: the post was stopped."
        return partial(outcomes.failed, target, "WORKSPACE_DELETED", message, action)
    if target.account.status != ConnectedAccount.Status.ACTIVE:
        message = f"The account is {target.account.status}."
        action = AccountDisconnected.suggested_action
        return partial(outcomes.failed, target, "ACCOUNT_NEEDS_REAUTH", message, action)
    return _stop_if_too_late(target) if untried else None


def _stop_if_too_late(target: PostTarget) -> Stop | None:
    scheduled_at, hours = target.group.scheduled_at, settings.SCHEDULE_GRACE_HOURS
    if scheduled_at is None or timezone.now() <= scheduled_at + timedelta(hours=hours):
        return None
    message = f"The post could not be published within {hours} hours of its time."
    action = "Retry the post if it should still be published."
    return partial(outcomes.failed, target, "SCHEDULE_MISSED", message, action)


def take_account_turns(targets: Sequence[PostTarget]) -> list[PostTarget]:
    """Take turns at their accounts for claimed targets; returns those that may be published now.

    The claims of the others are released until their turn. Targets that something else stops take no turn.
    """
    waiting = _take_turns([target for target in targets if _is_unhindered(target)])
    return [target for target in targets if target not in waiting]


def _take_turns(targets: Sequence[PostTarget]) -> list[PostTarget]:
    """Take a turn for each target without one, and release the claims of those whose turn comes later."""
    waiting = _with_later_turns(targets)
    outcomes.wait_for_turns(waiting)
    return waiting


def _with_later_turns(targets: Sequence[PostTarget]) -> list[PostTarget]:
    without_turn = [(target, pace) for target in targets if (pace := _pace(target)) and _needs_turn(target, pace)]
    turns = take_turns([(target.account_id, pace) for target, pace in without_turn]) if without_turn else []
    for (target, _), turn_at in zip(without_turn, turns, strict=True):
        target.turn_at = turn_at
    return [target for target, _ in without_turn if target.turn_at and target.turn_at > timezone.now()]


def _stop_until_turn(target: PostTarget) -> Stop | None:
    """Return the Stop that postpones a target until its turn at the account, or None; pacing avoids rate limits."""
    if _is_held_back(target):
        return partial(outcomes.postpone, target, cast(datetime, target.account.held_until))
    return partial(outcomes.wait_for_turn, target) if _with_later_turns([target]) else None


def _is_unhindered(target: PostTarget) -> bool:
    """Return whether no stored status prevents the target from being published."""
    if target.platform not in PLATFORMS or target.step_begun_at is not None or _is_held_back(target):
        return False
    return (target.account.status, target.group.workspace.status) == (
        ConnectedAccount.Status.ACTIVE,
        WorkspaceStatus.ACTIVE,
    )


def _is_held_back(target: PostTarget) -> bool:
    held_until = target.account.held_until
    return held_until is not None and held_until > timezone.now() and _pace(target) is not None


def _needs_turn(target: PostTarget, pace: Pace) -> bool:
    return target.turn_at is None or target.turn_at + timedelta(seconds=pace.seconds) + TURN_VALIDITY < timezone.now()


def _pace(target: PostTarget) -> Pace | None:
    """Return the platform's pace for a target; None for the simulator and for posts that the platform already processes."""
    if target.sandbox or target.status == TargetStatus.PROCESSING:
        return None
    return publisher(target.platform, sandbox=False).capabilities.pace
