"""The types of decision.py: what is known about a target (State), what is learnt (facts), and what follows (decisions)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from accounts.platforms import errors
from accounts.platforms.types import Progress, Published, RetrySafety
from posts.states import TargetStatus


@dataclass(frozen=True)
class State:
    """What is known about a target before its next step.

    `publishes`: the next step publishes, so it must not be repeated carelessly. `unanswered`: the last attempt at the step
    got no clear answer. `maybe_sent`: an attempt of an earlier round, before a person's retry, may have published the post or
    its next segment. `accepted`: the platform shows the post unless it rejects it. `published` is the post if it is certainly
    published and only later steps are missing. `segments` counts the published segments of a thread. `attempt` counts from 1
    since the release or the last retry; it is 0 before the first attempt. `attempts_left`: a further attempt is scheduled if
    this one comes to nothing.
    """

    retry_safety: RetrySafety
    publishes: bool
    unanswered: bool = False
    maybe_sent: bool = False
    accepted: bool = False
    published: Published | None = None
    segments: int = 0
    attempt: int = 1
    attempts_left: bool = True
    tokens_renewed: bool = False

    @property
    def in_doubt(self) -> bool:
        """Whether the last attempt at the next step may have published the post."""
        return self.unanswered and self.publishes

    @property
    def must_search(self) -> bool:
        """Whether the platform is asked for the post before the step is repeated."""
        return self.in_doubt and self.retry_safety == "verifiable"

    @property
    def may_be_out(self) -> bool:
        """Whether the post may be at the platform, so that the target must not be marked as failed."""
        return self.in_doubt or self.maybe_sent or self.accepted


@dataclass(frozen=True)
class Problem:
    """An error of a target: its API code, a message, and what a person can do."""

    code: str
    message: str
    suggested_action: str


@dataclass(frozen=True)
class Searched:
    """The platform was asked for the post: it does not have it, or (`error`) its answer proves nothing.

    Until `settled_at` the platform may still carry out the request of the last attempt; `settled`: that time has passed.
    """

    settled_at: datetime
    settled: bool
    error: errors.OutcomeUnknown | None = None


@dataclass(frozen=True)
class TokensRenewed:
    """The account has new tokens."""


@dataclass(frozen=True)
class TokensBeingRenewed:
    """Another worker is renewing the account's tokens, probably until `until`."""

    until: datetime


@dataclass(frozen=True)
class WorkerDied:
    """The target was claimed in the middle of a step, or after an attempt without a clear answer; `losses` counts workers."""

    losses: int


@dataclass(frozen=True)
class Stopped:
    """The workspace, the account or the schedule no longer allows the post."""

    problem: Problem


@dataclass(frozen=True)
class BelongsToOther:
    """The post that the platform named is already the post of another target."""


Fact = (
    Published
    | Progress
    | Searched
    | TokensRenewed
    | TokensBeingRenewed
    | WorkerDied
    | Stopped
    | BelongsToOther
    | errors.PlatformError
)


@dataclass(frozen=True)
class TakeStep:
    """Take the next step now: `progress`, or (None) the same step. `sends_again`: a search has allowed to repeat it."""

    maybe_sent: bool
    progress: Progress | None = None
    unanswered: bool = False
    sends_again: bool = False


@dataclass(frozen=True)
class RenewTokens:
    """Renew the account's tokens, then decide again."""


@dataclass(frozen=True)
class Postpone:
    """Release the claim until `until`; no attempt has begun."""

    until: datetime


@dataclass(frozen=True)
class AwaitPlatform:
    """Release the claim until the platform has processed the post (`progress.ready_at`)."""

    progress: Progress
    maybe_sent: bool


@dataclass(frozen=True)
class TryUncounted:
    """Try again at `at` without counting this attempt. `unanswered`: the step is still in doubt."""

    at: datetime
    unanswered: bool


@dataclass(frozen=True)
class Retry:
    """Schedule a further attempt, at the earliest in `retry_after` seconds. `unanswered`: the step may have published."""

    problem: Problem
    retry_after: float
    unanswered: bool


@dataclass(frozen=True)
class Finish:
    """End the target: published (`published`), failed or unconfirmed (`problem`)."""

    status: TargetStatus
    maybe_sent: bool
    problem: Problem | None = None
    published: Published | None = None


Decision = TakeStep | RenewTokens | Postpone | AwaitPlatform | TryUncounted | Retry | Finish
