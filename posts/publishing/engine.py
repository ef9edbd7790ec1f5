"""Publishes one claimed target, step by step.

Each step is committed as begun, runs outside any transaction, and its outcome is written together with the money and the
events, guarded by the claim's fence. So the row of a dead worker shows how far it came, and a worker that lost its claim
cannot write.

If the outcome of an irreversible step is unknown, the step is repeated on idempotent platforms, searched for first on
verifiable ones, and otherwise never repeated. After a search it is sent again only if the platform proves the post absent,
or if a person asks for it.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import IntegrityError
from django.db.models import QuerySet
from django.utils import timezone

from accounts.platforms import errors
from accounts.platforms.base import Platform
from accounts.platforms.types import OUT, Absent, Progress, Published
from accounts.services import BeingRenewed, hold_back, mark_needs_reauth, refresh_grant
from config.db.connection import release_connection
from config.db.outage import retry_while_database_down
from posts.models import PostTarget
from posts.publishing import outcomes
from posts.publishing.attempts import Attempt, begin_attempts, begin_step, log_errors
from posts.publishing.outcomes import LEASE, ClaimLost
from posts.publishing.preconditions import stop_if_not_allowed
from posts.publishing.segments import published_segments
from posts.publishing.writer import run_on_writer

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class SendAgain:
    """Result of a search: the step may be repeated once `settled_at` has passed.

    Until then the platform may still process an unanswered attempt. `proven`: the platform does not have the post;
    otherwise the post's state is unknown and a person asked to send it again.
    """

    settled_at: datetime
    proven: bool


def publishable_targets() -> QuerySet[PostTarget]:
    """Return a queryset of post targets with the related rows that publishing needs."""
    return PostTarget.objects.select_related("group__workspace", "account")


def publish_target(target: PostTarget) -> None:
    """Publish a claimed target as far as possible now."""
    for attempt in begin_attempts([target]):
        continue_attempt(attempt)


def continue_attempt(attempt: Attempt) -> None:
    """Publish an attempt's target as far as possible now; errors are logged, not raised."""
    with log_errors(attempt.target):
        if attempt.stop:
            attempt.stop()
        elif attempt.fault:
            _record_fault(attempt, attempt.fault)
        else:
            _take_steps(attempt)


def _take_steps(attempt: Attempt) -> None:
    progress = Progress(attempt.target.phase, attempt.target.progress)
    while True:
        try:
            result = _search(attempt, progress) if _can_search(attempt) else _step(attempt, progress)
        except errors.TokenExpired as stale:
            try:
                _renew_tokens(attempt, stale)
            except errors.PlatformError as error:
                return _record_fault(attempt, error)
        except errors.PlatformError as error:
            return _record_fault(attempt, error)
        else:
            next_step = _record_result(attempt, progress, result)
            if next_step is None:
                return None
            progress = next_step
        if _stopped_meanwhile(attempt, progress):
            return None
        begin_step(attempt.target, progress)


def _can_search(attempt: Attempt) -> bool:
    return attempt.doubtful and attempt.adapter.capabilities.retry_safety == "verifiable"


def _search(attempt: Attempt, progress: Progress) -> Progress | Published | SendAgain:
    target = attempt.target
    settled_at = (target.step_begun_at or timezone.now()) + timedelta(seconds=attempt.adapter.settles_seconds)
    try:
        found = attempt.adapter.find(attempt.grant, attempt.content, progress)
    except errors.OutcomeUnknown:
        # A person asked for this retry although the post may already be published.
        if target.maybe_out and target.round_attempts == 1:
            return SendAgain(settled_at, proven=False)
        raise
    except errors.PlatformError:
        raise
    except Exception as fault:
        logger.exception("The %s adapter raised an unexpected error.", attempt.adapter.name)
        raise errors.Transient("The service failed while it searched for the post.") from fault
    if isinstance(found, Absent):
        logger.info("%s is not at %s: %s", target.id, attempt.adapter.name, found.proof)
        return SendAgain(settled_at, proven=True)
    return found


def _step(attempt: Attempt, progress: Progress) -> Progress | Published:
    """Run the attempt's next step at the platform. An unexpected error in an irreversible step is an unknown outcome."""
    try:
        return attempt.adapter.publish(attempt.grant, attempt.content, progress)
    except errors.PlatformError:
        raise
    except Exception as fault:
        logger.exception("The %s adapter raised an unexpected error.", attempt.adapter.name)
        if progress.phase in attempt.adapter.irreversible:
            raise errors.OutcomeUnknown("The service failed while it was publishing.") from fault
        raise errors.Transient("The service failed before it published anything.") from fault


def _record_result(attempt: Attempt, progress: Progress, result: Progress | Published | SendAgain) -> Progress | None:
    """Write the result of a publishing step or search; returns the step to take next in this claim, if any.

    A next step is not stored here: the write that begins it stores it.
    """
    target = attempt.target
    if isinstance(result, Published):
        _record_published(target, result)
        return None
    attempt.doubtful = False
    if isinstance(result, SendAgain):
        if result.settled_at > timezone.now():
            retry_while_database_down(outcomes.search_again, target, result.settled_at)
            return None
        target.maybe_out = not result.proven
        # The step is about to be sent again; for a retry that began with a search, this is its first sending.
        if stop := stop_if_not_allowed(target, untried=target.round_attempts == 1):
            stop()
            return None
        return progress
    if len(result.state.get("sent", ())) > published_segments(target):
        target.maybe_out = False  # the earlier unanswered attempt was about the segment that is now published
    if result.ready_at is not None:
        retry_while_database_down(outcomes.advance, target, result)
        return None
    target.step_begun_at, target.worker_losses = None, 0
    return result


def _record_published(target: PostTarget, result: Published) -> None:
    try:
        retry_while_database_down(outcomes.published, target, result)
    except ClaimLost:
        retry_while_database_down(run_on_writer, outcomes.published_late, target, result)
    except IntegrityError:
        retry_while_database_down(
            outcomes.unconfirmed, target, "The platform has a matching post, but it belongs to another target."
        )


def _stopped_meanwhile(attempt: Attempt, progress: Progress) -> bool:
    """Stop the attempt if workspace or account changed during a long preparation; returns whether it was stopped."""
    target = attempt.target
    long = time.monotonic() - attempt.began > LEASE.total_seconds()
    if not long or attempt.doubtful or progress.phase not in attempt.adapter.irreversible or OUT in progress.state:
        return False
    run_on_writer(target.group.workspace.refresh_from_db, fields=["status"])
    run_on_writer(target.account.refresh_from_db, fields=["status"])
    if stop := stop_if_not_allowed(target, untried=False):
        stop()
    return stop is not None


def _renew_tokens(attempt: Attempt, stale: errors.TokenExpired) -> None:
    """Refresh the account's expired tokens, once per claim. Raises PlatformError if that fails."""
    if attempt.renewed:
        raise errors.Transient(f"The platform refuses tokens that it has just issued: {stale.message}")
    attempt.renewed = True
    try:
        attempt.grant = refresh_grant(account_id=attempt.target.account_id, stale=attempt.grant)
    except errors.PlatformError:
        raise
    except Exception as fault:
        logger.exception("The tokens of %s could not be renewed.", attempt.target.account_id)
        raise errors.Transient("The service failed while it renewed the account's tokens.") from fault
    finally:
        release_connection()


def _record_fault(attempt: Attempt, error: errors.PlatformError) -> None:
    """Write the outcome of a platform error for the target: failed, retried later, or unconfirmed.

    A target that an earlier attempt may have published is not marked as failed, since a retry would publish it again. A
    rejection proves it unpublished on idempotent platforms, or if it is the platform's answer about the earlier attempt.
    """
    target, adapter = attempt.target, attempt.adapter
    if isinstance(error, BeingRenewed):
        at = timezone.now() + timedelta(seconds=error.retry_after or 1.0)
        return retry_while_database_down(outcomes.wait_for_tokens, target, at, may_be_out=attempt.doubtful)
    if isinstance(error, errors.AccountDisconnected | errors.TokenExpired) and not target.sandbox:
        retry_while_database_down(run_on_writer, mark_needs_reauth, account_id=target.account_id, stale=attempt.grant)
    if isinstance(error, errors.RateLimited) and error.retry_after and not target.sandbox:
        retry_while_database_down(run_on_writer, hold_back, account_id=target.account_id, seconds=error.retry_after)
    code, final = _error_code(error, adapter)
    doubtful = isinstance(error, errors.OutcomeUnknown) or (
        attempt.doubtful and not isinstance(error, errors.ContentRejected)
    )
    if not final and retry_while_database_down(outcomes.retry, target, code, error, may_be_out=doubtful):
        return None
    if doubtful:
        return retry_while_database_down(outcomes.unconfirmed, target, error.message)
    action = error.suggested_action if final else "The service gave up after its last attempt; retry the post later."
    proven = isinstance(error, errors.ContentRejected) and _applies_to_earlier_attempts(attempt)
    return retry_while_database_down(outcomes.failed, target, code, error.message, action, proven=proven)


def _applies_to_earlier_attempts(attempt: Attempt) -> bool:
    """Return whether a rejection also applies to earlier attempts; it does not if the step sent the post once more."""
    retry_safety = attempt.adapter.capabilities.retry_safety
    searched_or_preparing = attempt.doubtful or attempt.target.phase not in attempt.adapter.irreversible
    return retry_safety == "idempotent" or (retry_safety == "verifiable" and searched_or_preparing)


def _error_code(error: errors.PlatformError, adapter: Platform) -> tuple[str, bool]:
    """Return the API error code for a platform error, and whether a further attempt would be pointless."""
    if isinstance(error, errors.ContentRejected):
        return "PLATFORM_REJECTED", True
    if isinstance(error, errors.AccountDisconnected | errors.TokenExpired):
        return "ACCOUNT_NEEDS_REAUTH", True
    if isinstance(error, errors.OutcomeUnknown):
        return "PUBLISH_OUTCOME_UNKNOWN", error.final or adapter.capabilities.retry_safety == "at_most_once"
    if isinstance(error, errors.RateLimited):
        return "PLATFORM_RATE_LIMITED", False
    return "PLATFORM_UNAVAILABLE", isinstance(error, errors.ConnectionUnavailable)
