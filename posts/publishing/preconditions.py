"""Checks before a post target is published, which may end or postpone the target without calling the platform."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from accounts.models import ConnectedAccount
from accounts.platforms.base import Platform
from accounts.platforms.errors import AccountDisconnected
from accounts.platforms.registry import PLATFORMS, publishing_adapter
from accounts.platforms.types import PostingPace, Progress
from accounts.services import reserve_publishing_times
from config.api.caller import WorkspaceStatus
from posts.models import PostTarget
from posts.publishing import outcomes
from posts.publishing.decision import MAX_WORKER_LOSSES, decide, unconfirmed
from posts.publishing.decision_types import (
    Decision,
    Postpone,
    PublishingForbidden,
    TakeStep,
    TargetProblem,
    TargetState,
    WorkerDied,
)
from posts.states import TargetStatus

logger = logging.getLogger(__name__)
PAUSED_WORKSPACE_DELAY = timedelta(seconds=30)
TURN_VALIDITY = timedelta(seconds=2)  # a missed turn expires then, so that missed turns are not used all at once


def target_state_of(target: PostTarget, adapter: Platform, progress: Progress, *, unanswered: bool) -> TargetState:
    """Summarize what is known about a post target before a publishing step, as the input for deciding what to do next."""
    return TargetState(
        retry_safety=adapter.capabilities.retry_safety,
        publishes=progress.phase in adapter.irreversible,
        unanswered=unanswered,
        maybe_sent=target.maybe_out,
        accepted=progress.accepted,
        published=progress.published,
        segments=progress.segments,
        attempt=target.round_attempts,
        attempts_left=target.round_attempts <= len(settings.PUBLISH_RETRY_SCHEDULE),
    )


def worker_losses(target: PostTarget) -> int:
    """Return how many workers have died while they took a post target's current publishing step.

    A target that is still being published when it is claimed counts the worker that claimed it before.
    """
    return target.worker_losses + (target.status == TargetStatus.PUBLISHING)


def preflight(target: PostTarget, adapter: Platform) -> Decision | None:
    """Check whether an attempt to publish a post target may begin; returns the decision to end or postpone it, or None."""
    if target.group.workspace.status == WorkspaceStatus.PAUSED:
        return Postpone(timezone.now() + PAUSED_WORKSPACE_DELAY)
    state = target_state_of(target, adapter, target.publishing_progress, unanswered=target.step_begun_at is not None)
    if state.in_doubt and target.account.status != ConnectedAccount.Status.ACTIVE:
        message = f"The account is {target.account.status}, so it cannot be checked whether the post was published."
        return unconfirmed(state, message)
    losses = worker_losses(target)
    if losses >= MAX_WORKER_LOSSES:
        logger.error("%s ended %s workers and is not tried again.", target.id, losses)
    ended = decide(state, WorkerDied(losses))
    if not isinstance(ended, TakeStep):
        return ended
    untried = state.attempt == 0
    if not state.in_doubt:
        return stop_if_not_allowed(target, state, untried=untried) or _postpone_until_turn(target)
    # A possibly published target is completed whatever has changed. But if the platform can only be checked by sending the
    # post again, the time limit of a retry applies.
    late = _too_late(target) if state.retry_safety == "idempotent" and untried else None
    return decide(state, PublishingForbidden(late)) if late else None


def stop_if_not_allowed(target: PostTarget, state: TargetState, *, untried: bool) -> Decision | None:
    """Return the decision to stop publishing a post if its workspace, account or schedule forbids that, or else None.

    `untried`: nothing was sent since the release or the last retry. Only then a missed schedule ends the target.
    """
    if target.group.workspace.status == WorkspaceStatus.DELETED:
        problem: TargetProblem | None = TargetProblem(
            "WORKSPACE_DELETED", "The workspace was deleted.", "Nothing: the post was stopped."
        )
    elif target.account.status != ConnectedAccount.Status.ACTIVE:
        problem = _inactive_account(target)
    else:
        problem = _too_late(target) if untried else None
    return decide(state, PublishingForbidden(problem)) if problem else None


def _inactive_account(target: PostTarget) -> TargetProblem:
    message = f"The account is {target.account.status}."
    return TargetProblem("ACCOUNT_NEEDS_REAUTH", message, AccountDisconnected.suggested_action)


def _too_late(target: PostTarget) -> TargetProblem | None:
    scheduled_at, hours = target.group.scheduled_at, settings.SCHEDULE_GRACE_HOURS
    if scheduled_at is None or timezone.now() <= scheduled_at + timedelta(hours=hours):
        return None
    message = f"The post could not be published within {hours} hours of its time."
    return TargetProblem("SCHEDULE_MISSED", message, "Retry the post if it should still be published.")


def take_account_turns(targets: Sequence[PostTarget]) -> list[PostTarget]:
    """Reserve publishing times for post targets by the posting rate of their accounts; returns those to publish now.

    The claims of the others are released until their turn. Targets that something else stops take no turn.
    """
    waiting = _reserve_turns([target for target in targets if _is_unhindered(target)])
    return [target for target in targets if target not in waiting]


def _reserve_turns(targets: Sequence[PostTarget]) -> list[PostTarget]:
    """Reserve a publishing time for each post target that has none, and postpone the targets whose time is later."""
    waiting = _with_later_turns(targets)
    outcomes.postpone_to_turns(waiting)
    return waiting


def _with_later_turns(targets: Sequence[PostTarget]) -> list[PostTarget]:
    without_turn = [(target, pace) for target in targets if (pace := _pace(target)) and _needs_turn(target, pace)]
    turns = (
        reserve_publishing_times([(target.account_id, pace) for target, pace in without_turn]) if without_turn else []
    )
    for (target, _), turn_at in zip(without_turn, turns, strict=True):
        target.turn_at = turn_at
    return [target for target, _ in without_turn if target.turn_at and target.turn_at > timezone.now()]


def _postpone_until_turn(target: PostTarget) -> Postpone | None:
    """Return the decision to wait until the account's posting rate allows another post, or None if it allows one now."""
    if _is_held_back(target) and target.account.held_until:
        return Postpone(target.account.held_until)
    waits = _with_later_turns([target])
    return Postpone(target.turn_at) if waits and target.turn_at else None


def _is_unhindered(target: PostTarget) -> bool:
    """Return whether a post target could be published now, apart from the limit of its account's posting rate.

    Its account and workspace are active, and no publishing step has begun.
    """
    if target.platform not in PLATFORMS or target.step_begun_at is not None or _is_held_back(target):
        return False
    return (target.account.status, target.group.workspace.status) == (
        ConnectedAccount.Status.ACTIVE,
        WorkspaceStatus.ACTIVE,
    )


def _is_held_back(target: PostTarget) -> bool:
    held_until = target.account.held_until
    return held_until is not None and held_until > timezone.now() and _pace(target) is not None


def _needs_turn(target: PostTarget, pace: PostingPace) -> bool:
    return target.turn_at is None or target.turn_at + timedelta(seconds=pace.seconds) + TURN_VALIDITY < timezone.now()


def _pace(target: PostTarget) -> PostingPace | None:
    """Return the platform's limit on how often the account of a post target may post.

    None for simulated posts and for posts that the platform is already processing.
    """
    if target.sandbox or target.status == TargetStatus.PROCESSING:
        return None
    return publishing_adapter(target.platform, sandbox=False).capabilities.pace
