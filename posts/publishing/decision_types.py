"""The types of decision.py: what is known about a target (State), newly learnt facts, and the decisions that follow."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from accounts.platforms import errors
from accounts.platforms.types import Progress, Published, RetrySafety
from posts.states import TargetStatus


@dataclass(frozen=True)
class TargetState:
    """What is known about a target that is being published, before its next publishing step.

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
        """Return whether the last attempt at the next publishing step may have published the post."""
        return self.unanswered and self.publishes

    @property
    def must_search(self) -> bool:
        """Return whether the platform must be asked whether it already has the post, before the post is sent again."""
        return self.in_doubt and self.retry_safety == "verifiable"

    @property
    def may_be_out(self) -> bool:
        """Whether the post may be published already, so that the target must not be marked as failed."""
        return self.in_doubt or self.maybe_sent or self.accepted


@dataclass(frozen=True)
class TargetProblem:
    """The error that a decision gives to a target: its API code, a message, and what a person can do."""

    code: str
    message: str
    suggested_action: str


@dataclass(frozen=True)
class Searched:
    """The fact that the service searched the platform for a post without finding it.

    If `error` is set, that proves nothing. Until `settled_at` the platform may still carry out the request of the last
    attempt; `settled`: that time has passed.
    """

    settled_at: datetime
    settled: bool
    error: errors.OutcomeUnknown | None = None


@dataclass(frozen=True)
class TokensRenewed:
    """The fact that the account's OAuth tokens were renewed, so that publishing can be tried again."""


@dataclass(frozen=True)
class TokensBeingRenewed:
    """The fact that another worker is renewing the account's OAuth tokens and will probably finish by `until`."""

    until: datetime


@dataclass(frozen=True)
class WorkerDied:
    """The fact that an earlier worker died while publishing the target, or that the platform gave it no clear answer.

    `losses` counts the workers that died.
    """

    losses: int


@dataclass(frozen=True)
class Stopped:
    """The fact that the post may no longer be published, because of its workspace, its account or its schedule."""

    problem: TargetProblem


@dataclass(frozen=True)
class BelongsToOther:
    """The fact that a published post, as the platform named it, is already recorded as the result of another target."""


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
    """The decision to take a publishing step now: the step `progress`, or the previous step again if `progress` is None.

    `sends_again`: the step sends the post again, which a search at the platform has allowed.
    """

    maybe_sent: bool
    progress: Progress | None = None
    unanswered: bool = False
    sends_again: bool = False


@dataclass(frozen=True)
class RenewTokens:
    """The decision to renew the account's OAuth tokens, and then to decide again."""


@dataclass(frozen=True)
class Postpone:
    """The decision to postpone a target until `until` and let any worker claim it then; no attempt has begun yet."""

    until: datetime


@dataclass(frozen=True)
class AwaitPlatform:
    """The decision to wait until `progress.ready_at`, because the platform is still processing the post.

    The claim on the target is released.
    """

    progress: Progress
    maybe_sent: bool


@dataclass(frozen=True)
class TryUncounted:
    """The decision to try to publish again at the time `at`, without counting this attempt against the limit of retries.

    `unanswered`: it is still in doubt whether a step was carried out.
    """

    at: datetime
    unanswered: bool


@dataclass(frozen=True)
class Retry:
    """The decision to schedule another attempt to publish the target, at the earliest in `retry_after` seconds.

    `unanswered`: the step that failed may have published the post.
    """

    problem: TargetProblem
    retry_after: float
    unanswered: bool


@dataclass(frozen=True)
class Finish:
    """The decision that publishing a target has ended, with the target's final status.

    A published target has `published`; a failed or unconfirmed target has `problem`.
    """

    status: TargetStatus
    maybe_sent: bool
    problem: TargetProblem | None = None
    published: Published | None = None


Decision = TakeStep | RenewTokens | Postpone | AwaitPlatform | TryUncounted | Retry | Finish
