"""One claimed target through its platform's steps.

Before each step its phase is committed as begun; the step runs outside any transaction; its outcome is written together
with the money and the events, filtered by the fence of the claim. So a worker that dies leaves a row that says how far
it came, and one that lost its claim cannot write any more.

An irreversible step whose outcome nobody learned is repeated as it is where the platform is idempotent, looked for
first where it is verifiable, and otherwise never.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, InterfaceError, OperationalError, connection
from django.db.models import QuerySet
from django.utils import timezone

from accounts.platforms import errors
from accounts.platforms.base import START, Platform
from accounts.platforms.registry import publisher
from accounts.platforms.types import OUT, Content, Grant, MediaFile, Progress, Published
from accounts.services import BeingRenewed, hold_back, mark_needs_reauth, refresh_grant
from config.api.caller import system_caller
from config.api.trace import note_actor, start_trace
from config.db.encryption import SealedValueError
from posts.media import MediaGone, files_of
from posts.models import PostTarget
from posts.publishing import outcomes
from posts.publishing.beforehand import may_be_out, stopped_beforehand, stopped_by_circumstances, worker_losses
from posts.publishing.outcomes import LEASE, ClaimLost
from posts.publishing.segments import segments_out
from posts.states import TargetStatus

logger = logging.getLogger(__name__)
UNFORESEEN_PAUSE = timedelta(minutes=5)
DATABASE_AWAY_SECONDS = 30.0  # how long an outcome waits in memory for a database that is away
DATABASE_LOOK_SECONDS = 0.5


@dataclass
class Attempt:
    """The work of one claim. `doubtful`: an earlier try of the step to come may have published."""

    target: PostTarget
    adapter: Platform
    doubtful: bool
    grant: Grant = field(default_factory=Grant)
    media: tuple[MediaFile, ...] = ()
    renewed: bool = False
    began: float = field(default_factory=time.monotonic)

    @property
    def content(self) -> Content:
        target = self.target
        return Content(target.id, target.shown_text, target.options, target.round_attempts, self.media)


@dataclass(frozen=True)
class NotThere:
    """The platform does not have the post; a try that got no answer may still be carried out until `settled_at`."""

    settled_at: datetime


def claimable() -> QuerySet[PostTarget]:
    """Targets with what publishing them asks for, so that the claim reads it all at once."""
    return PostTarget.objects.select_related("group__workspace", "account")


def publish_target(target: PostTarget) -> None:
    """Take a claimed target as far as it goes now. Nothing is raised but the database's own faults: every end is written
    to its row."""
    start_trace(target.group.trace_id)
    note_actor(system_caller(target.group.workspace_id))
    try:
        adapter = publisher(target.platform, sandbox=target.sandbox)
        if not stopped_beforehand(target, adapter):
            _take_steps(Attempt(target, adapter, may_be_out(target, adapter)))
    except ClaimLost:
        logger.warning("%s is another worker's now.", target.id)
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        logger.exception("%s cannot be published by this service.", target.id)
        outcomes.postpone(target, timezone.now() + UNFORESEEN_PAUSE)


def _take_steps(attempt: Attempt) -> None:
    target, first = attempt.target, True
    progress = Progress(target.phase or START.phase, target.progress)
    try:
        attempt.grant, attempt.media = target.account.grant(), files_of(target.group)
    except (SealedValueError, MediaGone) as fault:
        _begin_step(target, progress, first=True)
        return _record_fault(attempt, _cannot_begin(attempt, fault))
    while True:
        if _stopped_meanwhile(attempt, progress):
            return None
        tried_at = target.step_begun_at
        _begin_step(target, progress, first=first)
        first = False
        try:
            result = _look(attempt, progress, tried_at) if _can_look(attempt) else _step(attempt, progress)
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


def _cannot_begin(attempt: Attempt, fault: Exception) -> errors.PlatformError:
    """What it means that the account cannot be opened, or that media of the post are gone."""
    if isinstance(fault, SealedValueError):
        logger.error("The account of %s cannot be opened.", attempt.target.id, exc_info=fault)
        return errors.Transient("The service cannot open the account's credentials at the moment.")
    if attempt.doubtful:
        return errors.OutcomeUnknown(f"An earlier try may be out, and it cannot be repeated: {fault}", final=True)
    return errors.ContentRejected(str(fault))


def _can_look(attempt: Attempt) -> bool:
    return attempt.doubtful and attempt.adapter.capabilities.retry_safety == "verifiable"


def _look(attempt: Attempt, progress: Progress, tried_at: datetime | None) -> Progress | Published | NotThere:
    try:
        found = attempt.adapter.find(attempt.grant, attempt.content, progress)
    except errors.PlatformError:
        raise
    except Exception as fault:
        logger.exception("The %s adapter met a fault that it does not know.", attempt.adapter.name)
        raise errors.Transient("The service met a fault while it looked for the post.") from fault
    settles = timedelta(seconds=attempt.adapter.settles_seconds)
    return found or NotThere((tried_at or timezone.now()) + settles)


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


def _record_result(attempt: Attempt, progress: Progress, result: Progress | Published | NotThere) -> Progress | None:
    """Write what a step or a look came to; the step that follows in this claim, if one does.

    A step that follows at once is not stored here: its beginning stores it, in one statement.
    """
    target = attempt.target
    if isinstance(result, Published):
        _record_published(target, result)
        return None
    attempt.doubtful = False
    if isinstance(result, NotThere):
        if result.settled_at > timezone.now():
            _surely(outcomes.look_again, target, result.settled_at)
            return None
        target.maybe_out = False
        # It would be sent anew: by a retry that began with this look, for the first time.
        return None if stopped_by_circumstances(target, untried=target.round_attempts == 1) else progress
    if len(result.state.get("sent", ())) > segments_out(target):
        target.maybe_out = False  # that was of the segment which is out now
    if result.ready_at is not None:
        _surely(outcomes.advance, target, result)
        return None
    target.step_begun_at, target.worker_losses = None, 0
    return result


def _record_published(target: PostTarget, result: Published) -> None:
    try:
        _surely(outcomes.published, target, result)
    except ClaimLost:
        _surely(outcomes.published_late, target, result)
    except IntegrityError:
        _surely(outcomes.unconfirmed, target, "A post like this one is there, but another target has it.")


def _begin_step(target: PostTarget, progress: Progress, *, first: bool) -> None:
    """Commit that this step begins, and extend the lease; the first step of a claim is an attempt.

    `target.step_begun_at` stays as it was: it tells when the last try of the step before this one was.
    """
    spent = int(first and target.status != TargetStatus.PROCESSING)
    if first:
        target.worker_losses = worker_losses(target)
    target.attempts, target.round_attempts = target.attempts + spent, target.round_attempts + spent
    target.phase, target.progress = progress.phase, dict(progress.state)
    tried_at = target.step_begun_at
    if not _surely(outcomes.beginnings.write, target):
        raise ClaimLost
    target.step_begun_at = tried_at


def _stopped_meanwhile(attempt: Attempt, progress: Progress) -> bool:
    """Before something is sent that took long to prepare, the workspace and the account are looked at once more."""
    target = attempt.target
    long = time.monotonic() - attempt.began > LEASE.total_seconds()
    if not long or attempt.doubtful or progress.phase not in attempt.adapter.irreversible or OUT in progress.state:
        return False
    target.group.workspace.refresh_from_db(fields=["status"])
    target.account.refresh_from_db(fields=["status"])
    return stopped_by_circumstances(target, untried=False)


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


def _record_fault(attempt: Attempt, error: errors.PlatformError) -> None:
    """Write what a fault means for the target: failed, tried again later, or unconfirmed.

    What may be out from an earlier try is not called failed, since a retry would then send it anew; only the platform's
    rejection of its repetition proves that it is not there.
    """
    target, adapter = attempt.target, attempt.adapter
    if isinstance(error, BeingRenewed):
        at = timezone.now() + timedelta(seconds=error.retry_after or 1.0)
        return _surely(outcomes.wait_for_tokens, target, at, may_be_out=attempt.doubtful)
    if isinstance(error, errors.AccountDisconnected | errors.TokenExpired) and not target.sandbox:
        _surely(mark_needs_reauth, account_id=target.account_id, stale=attempt.grant)
    if isinstance(error, errors.RateLimited) and error.retry_after and not target.sandbox:
        _surely(hold_back, account_id=target.account_id, seconds=error.retry_after)
    code, lasting = _meaning(error, adapter)
    doubtful = isinstance(error, errors.OutcomeUnknown) or (
        attempt.doubtful and not isinstance(error, errors.ContentRejected)
    )
    if not lasting and _surely(outcomes.retry, target, code, error, may_be_out=doubtful):
        return None
    if doubtful:
        return _surely(outcomes.unconfirmed, target, error.message)
    action = error.suggested_action if lasting else "The service gave up after its last attempt; retry the post later."
    refused = isinstance(error, errors.ContentRejected) and adapter.capabilities.retry_safety != "at_most_once"
    return _surely(outcomes.failed, target, code, error.message, action, proven=refused)


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


def _surely(write: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Write what the platform answered, though the database be away for a while: nobody else knows it.

    The repetition of a write that was committed and not acknowledged changes nothing, or is seen as ClaimLost.
    """
    deadline = time.monotonic() + DATABASE_AWAY_SECONDS
    while True:
        try:
            return write(*args, **named)
        except (OperationalError, InterfaceError):
            if connection.in_atomic_block or time.monotonic() > deadline:
                raise
            connection.close()
            time.sleep(DATABASE_LOOK_SECONDS)
