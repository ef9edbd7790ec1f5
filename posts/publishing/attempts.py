"""What one claim of a target comes to: it is made ready, and its first step is committed as begun."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta

from django.db import Error
from django.utils import timezone

from accounts.platforms import errors
from accounts.platforms.base import START, Platform
from accounts.platforms.registry import publisher
from accounts.platforms.types import Content, Grant, MediaFile, Progress
from config.api.caller import system_caller
from config.api.trace import note_actor, start_trace
from config.db.encryption import SealedValueError
from config.db.outage import DATABASE_ERRORS, retry_while_database_down
from posts.media import MediaGone, files_of
from posts.models import PostTarget
from posts.publishing import outcomes
from posts.publishing.outcomes import ClaimLost
from posts.publishing.preconditions import Stop, may_be_out, preflight, worker_losses
from posts.publishing.writer import all_or_each
from posts.states import TargetStatus

logger = logging.getLogger(__name__)
UNFORESEEN_PAUSE = timedelta(minutes=5)


@dataclass
class Attempt:
    """The work of one claim. `doubtful`: an earlier try of the step to come may have published. `fault` keeps that step
    from being taken, though it has begun; with a `stop` nothing has."""

    target: PostTarget
    adapter: Platform
    doubtful: bool
    grant: Grant = field(default_factory=Grant)
    media: tuple[MediaFile, ...] = ()
    fault: errors.PlatformError | None = None
    stop: Stop | None = None
    renewed: bool = False
    began: float = field(default_factory=time.monotonic)

    @property
    def content(self) -> Content:
        target = self.target
        return Content(target.id, target.shown_text, target.options, target.round_attempts, self.media)


@contextmanager
def guarded(target: PostTarget) -> Iterator[None]:
    """Work at a target: nothing is raised. Every end is written to its row; when the database itself fails, the claim runs
    out and the row is taken up again."""
    start_trace(target.group.trace_id)
    note_actor(system_caller(target.group.workspace_id))
    try:
        yield
    except ClaimLost:
        logger.warning("%s is another worker's now.", target.id)
    except DATABASE_ERRORS:
        logger.exception("%s was left in the middle.", target.id)
    except Exception:
        logger.exception("%s cannot be published by this service.", target.id)
        with suppress(ClaimLost, Error):
            outcomes.postpone(target, timezone.now() + UNFORESEEN_PAUSE)


def take_up(targets: Sequence[PostTarget]) -> list[Attempt]:
    """Begin the first steps of claimed targets, in one transaction; the attempts that go on, be it to their stop.

    Raises OperationalError, InterfaceError: the database is away, and no attempt has begun.
    """
    stopped: list[Attempt] = []
    ready: list[Attempt] = []
    for target in targets:
        with guarded(target):
            adapter = publisher(target.platform, sandbox=target.sandbox)
            if stop := preflight(target, adapter):
                stopped.append(Attempt(target, adapter, doubtful=False, stop=stop))
            else:
                ready.append(_made_ready(target, adapter))
    return stopped + _begun(ready)


def _begun(attempts: Sequence[Attempt]) -> list[Attempt]:
    tried_at = [attempt.target.step_begun_at for attempt in attempts]
    results = (
        retry_while_database_down(all_or_each, outcomes.write_beginnings, [attempt.target for attempt in attempts])
        if attempts
        else ()
    )
    begun = []
    for attempt, before, result in zip(attempts, tried_at, results, strict=True):
        with guarded(attempt.target):
            if isinstance(result, Exception):
                raise result
            if not result:
                raise ClaimLost
            attempt.target.step_begun_at = before
            begun.append(attempt)
    return begun


def _made_ready(target: PostTarget, adapter: Platform) -> Attempt:
    """With what its first step needs."""
    attempt = Attempt(target, adapter, may_be_out(target, adapter))
    try:
        attempt.grant, attempt.media = target.account.grant(), files_of(target.group)
    except (SealedValueError, MediaGone) as fault:
        attempt.fault = _cannot_begin(attempt, fault)
    count_try(target)
    return attempt


def count_try(target: PostTarget) -> None:
    """What the beginning of a claim's first step writes."""
    spent = int(target.status != TargetStatus.PROCESSING)
    target.worker_losses = worker_losses(target)
    target.attempts, target.round_attempts = target.attempts + spent, target.round_attempts + spent
    target.phase = target.phase or START.phase


def _cannot_begin(attempt: Attempt, fault: Exception) -> errors.PlatformError:
    """What it means that the account cannot be opened, or that media of the post are gone."""
    if isinstance(fault, SealedValueError):
        logger.error("The account of %s cannot be opened.", attempt.target.id, exc_info=fault)
        return errors.Transient("The service cannot open the account's credentials at the moment.")
    if attempt.doubtful:
        return errors.OutcomeUnknown(f"An earlier try may be out, and it cannot be repeated: {fault}", final=True)
    return errors.ContentRejected(str(fault))


def begin_step(target: PostTarget, progress: Progress) -> None:
    """Commit that this step begins, and extend the lease. Raises ClaimLost.

    `step_begun_at` in memory stays as it was: it tells when the last try of the step before this one was.
    """
    target.phase, target.progress = progress.phase, dict(progress.state)
    tried_at = target.step_begun_at
    retry_while_database_down(outcomes.begin, target)
    target.step_begun_at = tried_at
