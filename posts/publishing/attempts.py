"""Attempts: what a worker has learnt about a post target while it publishes it, and has not written to the row yet."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import QuerySet

from accounts.platforms import errors
from accounts.platforms.base import START, Platform
from accounts.platforms.registry import adapter_or_simulator
from accounts.platforms.types import Content, Grant, MediaFile, Progress
from config.db.fixed_select import FixedSelect
from config.jobs.claims import claim_due
from config.jobs.database_writer import DatabaseWriter
from posts.models import PostTarget
from posts.publishing.decision_types import Decision, TargetState
from posts.states import Certainty, TargetStatus

LEASE = timedelta(seconds=20)  # the lease is renewed while the target is being published (worker_loop.py)
_targets_with_related_rows = FixedSelect(PostTarget, where_in="id", join=("group", "group__workspace", "account"))


def claim_targets(due: QuerySet[PostTarget], *, limit: int, due_rows_found: bool = False) -> list[PostTarget]:
    """Claim up to `limit` due post targets for attempts, with their groups, workspaces and accounts.

    `due_rows_found`: the caller has just found due ones, so that is not checked again.
    """
    return claim_due(due, limit=limit, lease=LEASE, due_rows_found=due_rows_found, read=_targets_with_related_rows)


@dataclass(eq=False)
class Attempt:
    """One attempt to publish a post target that this worker has claimed (reserved for itself).

    `progress` names the next publishing step. `number` counts the attempts since the release or the last retry, `total` all
    of them; until `count_attempt_unless_continued`, those before this. `certainty` is about the attempts before that step.
    `last_try_at` is the time of the last attempt at that step if it got no clear answer. `worker_losses` counts the workers
    that died in the step. `turn_at` is the time reserved at the account. `fault` is an error that prevents the step although
    it was committed as begun. `stop` is the decision that ends or postpones the target instead.
    """

    target: PostTarget
    writer: DatabaseWriter
    progress: Progress
    number: int
    total: int
    certainty: Certainty
    last_try_at: datetime | None
    worker_losses: int
    turn_at: datetime | None
    grant: Grant = field(default_factory=Grant)
    media: tuple[MediaFile, ...] = ()
    fault: errors.PlatformError | None = None
    stop: Decision | None = None
    tokens_renewed: bool = False
    began: float = field(default_factory=time.monotonic)

    @classmethod
    def for_claimed_target(cls, target: PostTarget, writer: DatabaseWriter) -> Attempt:
        """Return a new Attempt for a target that this worker has claimed; one still `publishing` has lost its worker."""
        return cls(
            target,
            writer,
            target.stored_progress if target.phase else START,
            number=target.round_attempts,
            total=target.attempts,
            certainty=Certainty(target.certainty),
            last_try_at=target.step_begun_at,
            worker_losses=target.worker_losses + (target.status == TargetStatus.PUBLISHING),
            turn_at=target.turn_at,
        )

    @property
    def adapter(self) -> Platform:
        """Return the adapter for this Attempt, or the simulator for a sandbox account. Raises KeyError."""
        return adapter_or_simulator(self.target.platform, sandbox=self.target.sandbox)

    @property
    def content(self) -> Content:
        return Content(self.target.id, self.target.shown_text, self.target.options, self.number, self.media)

    @property
    def state(self) -> TargetState:
        """Return what this attempt knows about its post target before the next step, as the input of a decision."""
        return TargetState(
            retry_safety=self.adapter.capabilities.retry_safety,
            publishes=self.progress.phase in self.adapter.irreversible,
            unanswered=self.last_try_at is not None,
            certainty=self.certainty,
            published=self.progress.published,
            segments=len(self.progress.segments),
            attempt=self.number,
            attempts_left=self.number <= len(settings.PUBLISH_RETRY_SCHEDULE),
        )

    def count_attempt_unless_continued(self) -> None:
        """Count an attempt to publish a post, unless it only continues one that the platform was still processing."""
        if self.target.status != TargetStatus.PROCESSING:
            self.number, self.total = self.number + 1, self.total + 1
