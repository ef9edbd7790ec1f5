"""Begins attempts to publish post targets: checks the targets, and prepares their credentials and media.

Commits that the first publishing step of each attempt begins.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta

from django.db import Error
from django.utils import timezone

from accounts.platforms import errors
from accounts.platforms.base import START, Platform
from accounts.platforms.registry import publishing_adapter
from accounts.platforms.types import Content, Grant, MediaFile, Progress
from config.api.caller import system_caller
from config.api.trace import set_trace_actor, start_trace
from config.db.encryption import SealedValueError
from config.db.outage import DATABASE_ERRORS, retry_while_database_down
from posts.attached_media import MediaGone, adapter_media_files
from posts.models import PostTarget
from posts.publishing import outcomes
from posts.publishing.decision_types import Decision, Postpone, TargetState
from posts.publishing.outcomes import ClaimLost
from posts.publishing.preconditions import preflight, target_state_of, worker_losses
from posts.publishing.writer import all_or_each
from posts.states import TargetStatus

logger = logging.getLogger(__name__)
UNEXPECTED_ERROR_PAUSE = timedelta(minutes=5)


@dataclass
class Attempt:
    """One attempt to publish a post target that this worker has claimed (reserved for itself).

    `unanswered`: the last attempt at the next step got no clear answer. `fault`: an error that prevents the next step
    although it was committed as begun. `stop`: the decision that ends or postpones the target instead; no step was begun.
    """

    target: PostTarget
    adapter: Platform
    unanswered: bool = False
    grant: Grant = field(default_factory=Grant)
    media: tuple[MediaFile, ...] = ()
    fault: errors.PlatformError | None = None
    stop: Decision | None = None
    tokens_renewed: bool = False
    began: float = field(default_factory=time.monotonic)

    @property
    def content(self) -> Content:
        target = self.target
        return Content(target.id, target.shown_text, target.options, target.round_attempts, self.media)

    def state(self, progress: Progress) -> TargetState:
        """Return what is known so far about publishing a post target, as the input for deciding what to do next."""
        state = target_state_of(self.target, self.adapter, progress, unanswered=self.unanswered)
        return replace(state, tokens_renewed=self.tokens_renewed)


@contextmanager
def log_errors(target: PostTarget) -> Iterator[None]:
    """Return a context manager that logs errors while a post is published, and postpones it after unexpected ones.

    When the database fails, the claim's lease expires and another worker continues.
    """
    start_trace(target.group.trace_id)
    set_trace_actor(system_caller(target.group.workspace_id))
    try:
        yield
    except ClaimLost:
        logger.warning("%s was claimed by another worker.", target.id)
    except DATABASE_ERRORS:
        logger.exception("%s was interrupted by a database error.", target.id)
    except Exception:
        logger.exception("%s cannot be published by this service.", target.id)
        with suppress(ClaimLost, Error):
            outcomes.record_decision(target, Postpone(timezone.now() + UNEXPECTED_ERROR_PAUSE))


def begin_attempts(targets: Sequence[PostTarget]) -> list[Attempt]:
    """Begin attempts to publish the post targets that this worker has claimed; returns the attempts to continue.

    The targets are prepared, and their first publishing steps are committed. Raises OperationalError, InterfaceError if the
    database is down; no attempt has begun then.
    """
    stopped: list[Attempt] = []
    ready: list[Attempt] = []
    for target in targets:
        with log_errors(target):
            adapter = publishing_adapter(target.platform, sandbox=target.sandbox)
            if stop := preflight(target, adapter):
                stopped.append(Attempt(target, adapter, stop=stop))
            else:
                ready.append(_prepared_attempt(target, adapter))
    return stopped + _commit_first_steps(ready)


def _commit_first_steps(attempts: Sequence[Attempt]) -> list[Attempt]:
    tried_at = [attempt.target.step_begun_at for attempt in attempts]
    results = (
        retry_while_database_down(all_or_each, outcomes.write_beginnings, [attempt.target for attempt in attempts])
        if attempts
        else ()
    )
    begun = []
    for attempt, before, result in zip(attempts, tried_at, results, strict=True):
        with log_errors(attempt.target):
            if isinstance(result, Exception):
                raise result
            if not result:
                raise ClaimLost
            attempt.target.step_begun_at = before
            begun.append(attempt)
    return begun


def _prepared_attempt(target: PostTarget, adapter: Platform) -> Attempt:
    """Build an attempt to publish a post target, with the account's credentials and the post's media files.

    `fault` is an error in preparing these.
    """
    attempt = Attempt(target, adapter, unanswered=target.step_begun_at is not None)
    try:
        attempt.grant, attempt.media = target.account.grant(), adapter_media_files(target.group)
    except (SealedValueError, MediaGone) as fault:
        attempt.fault = _preparation_error(attempt, fault)
    count_attempt(target)
    return attempt


def count_attempt(target: PostTarget) -> None:
    """Increase a post target's number of publishing attempts in memory, without saving the target.

    `begin_attempts` stores the number. Also counts dead workers, and sets the target's first phase.
    """
    is_new_attempt = int(target.status != TargetStatus.PROCESSING)
    target.worker_losses = worker_losses(target)
    target.attempts, target.round_attempts = target.attempts + is_new_attempt, target.round_attempts + is_new_attempt
    target.phase = target.phase or START.phase


def _preparation_error(attempt: Attempt, fault: Exception) -> errors.PlatformError:
    """Return the publishing error for credentials that cannot be decrypted, or for attached media that were deleted."""
    if isinstance(fault, SealedValueError):
        logger.error("The credentials for %s cannot be decrypted.", attempt.target.id, exc_info=fault)
        return errors.Transient("The service cannot read the account's credentials at the moment.")
    if attempt.state(attempt.target.publishing_progress).in_doubt:
        return errors.OutcomeUnknown(
            f"An earlier attempt may have been published and cannot be repeated: {fault}", final=True
        )
    return errors.ContentRejected(str(fault))


def begin_step(target: PostTarget, progress: Progress) -> None:
    """Commit that a post's next publishing step begins. Raises ClaimLost if another worker has claimed the post target.

    Extends this worker's lease of the target. `step_begun_at` in memory remains the time of the previous attempt at this
    step.
    """
    target.phase, target.progress = progress.phase, dict(progress.state)
    tried_at = target.step_begun_at
    retry_while_database_down(outcomes.commit_next_step, target)
    target.step_begun_at = tried_at
