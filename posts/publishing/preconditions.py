"""Preconditions: what ends or postpones an attempt to publish before the platform is called."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from accounts.models import ConnectedAccount
from accounts.platforms.errors import ReauthRequired
from accounts.platforms.types import PostingPace
from accounts.services import reserve_publishing_times
from config.api.caller import WorkspaceStatus
from posts.models import PostTarget
from posts.publishing.attempts import Attempt
from posts.publishing.decision import MAX_WORKER_LOSSES, decide, finish_unconfirmed
from posts.publishing.decision_types import AttemptBegins, Decision, Postpone, TakeStep, TargetProblem
from posts.series_selectors import must_be_cancelled_after_series_change
from posts.states import SCHEDULE_MISSED, GroupStatus, TargetStatus

logger = logging.getLogger(__name__)
PAUSED_WORKSPACE_DELAY = timedelta(seconds=30)
WITHDRAWN_POST_DELAY = timedelta(seconds=1)  # meanwhile a worker cancels the post
RESERVATION_VALIDITY = timedelta(seconds=2)  # then a missed time expires: missed times are not used all at once


def preflight_decision(attempt: Attempt) -> Decision | None:
    """Check the preconditions of publishing a post: return the decision to end or postpone it; None if it may begin."""
    target, state = attempt.target, attempt.state
    if target.group.workspace.status == WorkspaceStatus.PAUSED:
        return Postpone(timezone.now() + PAUSED_WORKSPACE_DELAY)
    if target.group.status == GroupStatus.SCHEDULED and must_be_cancelled_after_series_change(target.group):
        return Postpone(timezone.now() + WITHDRAWN_POST_DELAY)
    if state.in_doubt and target.account.status != ConnectedAccount.Status.ACTIVE:
        message = f"The account is {target.account.status}, so it cannot be checked whether the post was published."
        return finish_unconfirmed(state, message)
    if attempt.worker_losses >= MAX_WORKER_LOSSES:
        logger.error("%s ended %s workers and is not tried again.", target.id, attempt.worker_losses)
    ended = decide(state, AttemptBegins(attempt.worker_losses))
    if not isinstance(ended, TakeStep):
        return ended
    untried = state.attempt == 0
    if not state.in_doubt:
        if forbidden := stop_decision_if_forbidden(attempt, untried=untried):
            return forbidden
        held_until = target.account.held_until  # the platform has asked the service to pause posts to the account
        return Postpone(held_until) if held_until and held_until > timezone.now() and _pace(attempt) else None
    # A possibly published target is completed whatever has changed. But if the platform can only be checked by sending the
    # post again, the time limit of a retry applies.
    late = _too_late(target) if state.retry_safety == "idempotent" and untried else None
    return decide(state, late) if late else None


def stop_decision_if_forbidden(attempt: Attempt, *, untried: bool) -> Decision | None:
    """Return the decision to stop a post if a precondition fails: its workspace, account or schedule forbids publishing.

    `untried`: nothing was sent since the release or the last retry. Only then a missed schedule ends the target.
    """
    target = attempt.target
    problem = _too_late(target) if untried else None
    if target.group.workspace.status == WorkspaceStatus.DELETED:
        problem = TargetProblem("WORKSPACE_DELETED", "The workspace was deleted.", "Nothing: the post was stopped.")
    elif target.account.status != ConnectedAccount.Status.ACTIVE:
        message = f"The account is {target.account.status}."
        problem = TargetProblem("ACCOUNT_NEEDS_REAUTH", message, ReauthRequired.suggested_action)
    return decide(attempt.state, problem) if problem else None


def _too_late(target: PostTarget) -> TargetProblem | None:
    scheduled_at, hours = target.scheduled_at, settings.SCHEDULE_GRACE_HOURS
    if scheduled_at is None or timezone.now() <= scheduled_at + timedelta(hours=hours):
        return None
    message = f"The post could not be published within {hours} hours of its time."
    return TargetProblem(SCHEDULE_MISSED, message, "Retry the post if it should still be published.")


def reserve_times_or_postpone(attempts: Sequence[Attempt]) -> None:
    """As a precondition of publishing, reserve times for accounts of limited pace; postpone attempts until their times.

    An attempt to complete a post that may be published already is not postponed.
    """
    now = timezone.now()
    paced = [(attempt, pace) for attempt in attempts if (pace := _pace(attempt)) and not attempt.state.in_doubt]
    without_time = [(attempt, pace) for attempt, pace in paced if not _has_reserved_time(attempt, pace, now)]
    wanted = [(attempt.target.account_id, pace) for attempt, pace in without_time]
    for (attempt, _), turn_at in zip(without_time, reserve_publishing_times(wanted) if wanted else (), strict=True):
        attempt.turn_at = turn_at
    now = timezone.now()  # later than a time that was reserved for at once
    for attempt, _ in paced:
        if attempt.turn_at and attempt.turn_at > now:
            attempt.stop = Postpone(attempt.turn_at)


def _has_reserved_time(attempt: Attempt, pace: PostingPace, now: datetime) -> bool:
    return attempt.turn_at is not None and attempt.turn_at + timedelta(seconds=pace.seconds) + RESERVATION_VALIDITY >= now


def _pace(attempt: Attempt) -> PostingPace | None:
    """Return the posting pace to which an account's platform is limited; None for simulated or processing posts."""
    if attempt.target.sandbox or attempt.target.status == TargetStatus.PROCESSING:
        return None
    return attempt.adapter.capabilities.pace
