"""One claimed target through its platform's steps.

Before each step its phase is committed as begun; the step runs outside any transaction; its outcome is written together
with the money and the events, filtered by the fence of the claim. So a worker that dies leaves a row that says how far
it came, and one that lost its claim cannot write any more.

An irreversible step whose outcome nobody learned is repeated as it is where the platform is idempotent, looked for
first where it is verifiable, and otherwise never. What was looked for is sent again only if the platform proves that it
is not there, or if a person asks for it.
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
from config.db.connection import let_go
from config.db.outage import retry_while_database_down
from posts.models import PostTarget
from posts.publishing import outcomes
from posts.publishing.attempts import Attempt, begin_step, guarded, take_up
from posts.publishing.outcomes import LEASE, ClaimLost
from posts.publishing.preconditions import stop_of_circumstances
from posts.publishing.segments import segments_out
from posts.publishing.writer import run_on_writer

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class SendAgain:
    """The step may be repeated; a try that got no answer may still be carried out until `settled_at`. `proven`: the
    platform does not have the post. Otherwise nobody can tell, and a person wants it sent."""

    settled_at: datetime
    proven: bool


def claimable() -> QuerySet[PostTarget]:
    """Targets with what publishing them asks for, so that the claim reads it all at once."""
    return PostTarget.objects.select_related("group__workspace", "account")


def publish_target(target: PostTarget) -> None:
    """Take a claimed target as far as it goes now."""
    for attempt in take_up([target]):
        go_on(attempt)


def go_on(attempt: Attempt) -> None:
    """Take an attempt as far as it goes now; nothing is raised (see `guarded`)."""
    with guarded(attempt.target):
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
            result = _look(attempt, progress) if _can_look(attempt) else _step(attempt, progress)
        except errors.TokenExpired as stale:
            try:
                _renew_tokens(attempt, stale)
            except errors.PlatformError as error:
                return _record_fault(attempt, error)
        except errors.PlatformError as error:
            return _record_fault(attempt, error)
        else:
            following = _record_result(attempt, progress, result)
            if following is None:
                return None
            progress = following
        if _stopped_meanwhile(attempt, progress):
            return None
        begin_step(attempt.target, progress)


def _can_look(attempt: Attempt) -> bool:
    return attempt.doubtful and attempt.adapter.capabilities.retry_safety == "verifiable"


def _look(attempt: Attempt, progress: Progress) -> Progress | Published | SendAgain:
    target = attempt.target
    settled_at = (target.step_begun_at or timezone.now()) + timedelta(seconds=attempt.adapter.settles_seconds)
    try:
        found = attempt.adapter.find(attempt.grant, attempt.content, progress)
    except errors.OutcomeUnknown:
        # The first attempt of a retry that was asked for although the post may be out.
        if target.maybe_out and target.round_attempts == 1:
            return SendAgain(settled_at, proven=False)
        raise
    except errors.PlatformError:
        raise
    except Exception as fault:
        logger.exception("The %s adapter met a fault that it does not know.", attempt.adapter.name)
        raise errors.Transient("The service met a fault while it looked for the post.") from fault
    if isinstance(found, Absent):
        logger.info("%s is not at %s: %s", target.id, attempt.adapter.name, found.proof)
        return SendAgain(settled_at, proven=True)
    return found


def _step(attempt: Attempt, progress: Progress) -> Progress | Published:
    """Take the step; a fault that the adapter did not foresee counts as unknown where the step may have published."""
    try:
        return attempt.adapter.publish(attempt.grant, attempt.content, progress)
    except errors.PlatformError:
        raise
    except Exception as fault:
        logger.exception("The %s adapter met a fault that it does not know.", attempt.adapter.name)
        if progress.phase in attempt.adapter.irreversible:
            raise errors.OutcomeUnknown("The service met a fault while it was publishing.") from fault
        raise errors.Transient("The service met a fault before it published anything.") from fault


def _record_result(attempt: Attempt, progress: Progress, result: Progress | Published | SendAgain) -> Progress | None:
    """Write what a step or a look came to; the step that follows in this claim, if one does.

    A step that follows at once is not stored here: its beginning stores it, in one statement.
    """
    target = attempt.target
    if isinstance(result, Published):
        _record_published(target, result)
        return None
    attempt.doubtful = False
    if isinstance(result, SendAgain):
        if result.settled_at > timezone.now():
            retry_while_database_down(outcomes.look_again, target, result.settled_at)
            return None
        target.maybe_out = not result.proven
        # It would be sent anew: by a retry that began with this look, for the first time.
        if stop := stop_of_circumstances(target, untried=target.round_attempts == 1):
            stop()
            return None
        return progress
    if len(result.state.get("sent", ())) > segments_out(target):
        target.maybe_out = False  # that was of the segment which is out now
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
            outcomes.unconfirmed, target, "A post like this one is there, but another target has it."
        )


def _stopped_meanwhile(attempt: Attempt, progress: Progress) -> bool:
    """Before something is sent that took long to prepare, the workspace and the account are looked at once more."""
    target = attempt.target
    long = time.monotonic() - attempt.began > LEASE.total_seconds()
    if not long or attempt.doubtful or progress.phase not in attempt.adapter.irreversible or OUT in progress.state:
        return False
    run_on_writer(target.group.workspace.refresh_from_db, fields=["status"])
    run_on_writer(target.account.refresh_from_db, fields=["status"])
    if stop := stop_of_circumstances(target, untried=False):
        stop()
    return stop is not None


def _renew_tokens(attempt: Attempt, stale: errors.TokenExpired) -> None:
    """Exchange stale tokens, once in a claim. Raises PlatformError when there are no new ones."""
    if attempt.renewed:
        raise errors.Transient(f"The platform refuses tokens that it has just issued: {stale.message}")
    attempt.renewed = True
    try:
        attempt.grant = refresh_grant(account_id=attempt.target.account_id, stale=attempt.grant)
    except errors.PlatformError:
        raise
    except Exception as fault:
        logger.exception("The tokens of %s could not be renewed.", attempt.target.account_id)
        raise errors.Transient("The service met a fault while it renewed the account's tokens.") from fault
    finally:
        let_go()


def _record_fault(attempt: Attempt, error: errors.PlatformError) -> None:
    """Write what a fault means for the target: failed, tried again later, or unconfirmed.

    What may be out from an earlier try is not called failed, since a retry would then send it again. A rejection proves that
    it is not there where the platform is idempotent, or where it is the platform's answer about the earlier try.
    """
    target, adapter = attempt.target, attempt.adapter
    if isinstance(error, BeingRenewed):
        at = timezone.now() + timedelta(seconds=error.retry_after or 1.0)
        return retry_while_database_down(outcomes.wait_for_tokens, target, at, may_be_out=attempt.doubtful)
    if isinstance(error, errors.AccountDisconnected | errors.TokenExpired) and not target.sandbox:
        retry_while_database_down(run_on_writer, mark_needs_reauth, account_id=target.account_id, stale=attempt.grant)
    if isinstance(error, errors.RateLimited) and error.retry_after and not target.sandbox:
        retry_while_database_down(run_on_writer, hold_back, account_id=target.account_id, seconds=error.retry_after)
    code, lasting = _meaning(error, adapter)
    doubtful = isinstance(error, errors.OutcomeUnknown) or (
        attempt.doubtful and not isinstance(error, errors.ContentRejected)
    )
    if not lasting and retry_while_database_down(outcomes.retry, target, code, error, may_be_out=doubtful):
        return None
    if doubtful:
        return retry_while_database_down(outcomes.unconfirmed, target, error.message)
    action = error.suggested_action if lasting else "The service gave up after its last attempt; retry the post later."
    proven = isinstance(error, errors.ContentRejected) and _is_about_earlier_tries(attempt)
    return retry_while_database_down(outcomes.failed, target, code, error.message, action, proven=proven)


def _is_about_earlier_tries(attempt: Attempt) -> bool:
    """Whether a rejection of the step is one of all tries: it is not where the step sent the post once more."""
    retry_safety = attempt.adapter.capabilities.retry_safety
    looked_or_asked = attempt.doubtful or attempt.target.phase not in attempt.adapter.irreversible
    return retry_safety == "idempotent" or (retry_safety == "verifiable" and looked_or_asked)


def _meaning(error: errors.PlatformError, adapter: Platform) -> tuple[str, bool]:
    """The code that callers see, and whether another attempt would be pointless."""
    if isinstance(error, errors.ContentRejected):
        return "PLATFORM_REJECTED", True
    if isinstance(error, errors.AccountDisconnected | errors.TokenExpired):
        return "ACCOUNT_NEEDS_REAUTH", True
    if isinstance(error, errors.OutcomeUnknown):
        return "PUBLISH_OUTCOME_UNKNOWN", error.final or adapter.capabilities.retry_safety == "at_most_once"
    if isinstance(error, errors.RateLimited):
        return "PLATFORM_RATE_LIMITED", False
    return "PLATFORM_UNAVAILABLE", isinstance(error, errors.ConnectionUnavailable)
