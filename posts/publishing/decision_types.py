"""Types for the publisher's decisions: what is known about a post target, new facts about it, and the decisions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from accounts.platforms import errors
from accounts.platforms.types import Progress, Published, RetrySafety
from posts.states import Certainty, TargetStatus


@dataclass(frozen=True)
class TargetState:
    """What the publisher knows about a post target when it decides on the target's next publishing step.

    `publishes`: the next step publishes, so it must not be repeated carelessly. `unanswered`: the last attempt at the step
    got no clear answer. `certainty` is about the attempts until now, at the step and before it. `published` is the post if it
    is confirmed and only later steps are missing. `segments` counts the published segments of a thread. `attempt` counts from
    1 since the release or the last retry; it is 0 before the first attempt. `attempts_left`: a further attempt is scheduled
    if this one comes to nothing.
    """

    retry_safety: RetrySafety
    publishes: bool
    unanswered: bool = False
    certainty: Certainty = Certainty.NOT_SENT
    published: Published | None = None
    segments: int = 0
    attempt: int = 1
    attempts_left: bool = True

    @property
    def in_doubt(self) -> bool:
        """Return whether a decision must allow for a last attempt without clear answer that may have published the post."""
        return self.unanswered and self.publishes

    @property
    def must_search(self) -> bool:
        """Return whether a decision in this target state must be to search for the post before sending it again."""
        return self.in_doubt and self.retry_safety == "verifiable"

    @property
    def may_already_be_published(self) -> bool:
        """Return whether a decision must not end in failure, because in this state the post may already be published."""
        accepted = self.certainty is Certainty.SENT and not self.segments
        return self.certainty is Certainty.MAYBE_SENT or accepted

    @property
    def certainty_during_step(self) -> Certainty:
        """Return the certainty committed before the next publishing step, which remains if its outcome is not learnt."""
        sends = self.publishes and self.certainty is not Certainty.CONFIRMED
        return Certainty.MAYBE_SENT if sends else self.certainty


@dataclass(frozen=True)
class TargetProblem:
    """The type of the errors in publishing decisions: a code, a message, and what a person can do."""

    code: str
    message: str
    suggested_action: str


@dataclass(frozen=True)
class PostNotFoundAtPlatform:
    """The fact that a search at the platform did not find a post whose last attempt to publish got no clear answer.

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
class AttemptBegins:
    """The fact that an attempt to publish a post begins; earlier ones may have ended without a clear answer.

    `losses` counts the workers that died in the target's next step.
    """

    losses: int


@dataclass(frozen=True)
class PublishingForbidden:
    """The fact that a post must not be published any more, because of its workspace, its account or its schedule."""

    problem: TargetProblem


@dataclass(frozen=True)
class PostOfOtherTarget:
    """The fact that the post found at the platform is already recorded as the published post of another post target."""


Fact = (
    Published
    | Progress
    | PostNotFoundAtPlatform
    | TokensRenewed
    | TokensBeingRenewed
    | AttemptBegins
    | PublishingForbidden
    | PostOfOtherTarget
    | errors.PlatformError
)


@dataclass(frozen=True)
class TakeStep:
    """The decision to take the next step of publishing a post now, or to take the previous step again.

    `progress` is the next step; if it is None, the previous step is taken again. `sends_again`: the step sends the post
    again, which a search at the platform has allowed.
    """

    certainty: Certainty
    progress: Progress | None = None
    unanswered: bool = False
    sends_again: bool = False


@dataclass(frozen=True)
class Postpone:
    """The decision to postpone publishing a post until the time `until`, without changing anything else about it.

    Any worker may claim the target then. It is taken before an attempt begins, and after an unexpected error.
    """

    until: datetime


@dataclass(frozen=True)
class AwaitPlatform:
    """The decision to wait while the platform processes a post, such as its video, and to continue at a given time.

    The time is `progress.ready_at`. The claim on the target is released.
    """

    progress: Progress
    certainty: Certainty


@dataclass(frozen=True)
class RetryUncounted:
    """The decision to try publishing a post again at the time `at`, without counting this attempt as one of its retries.

    `unanswered`: it is still in doubt whether a step was carried out.
    """

    at: datetime
    certainty: Certainty
    unanswered: bool


@dataclass(frozen=True)
class Retry:
    """The decision to retry publishing a post target after a failed attempt, at the earliest in `retry_after` seconds.

    `unanswered`: the step that failed may have published the post.
    """

    problem: TargetProblem
    retry_after: float
    certainty: Certainty
    unanswered: bool


@dataclass(frozen=True)
class Finish:
    """The decision to end the publishing of a post target, with the final status that follows from the certainty.

    A published target has `published`; a failed or unconfirmed target has `problem`.
    """

    certainty: Certainty
    problem: TargetProblem | None = None
    published: Published | None = None

    @property
    def status(self) -> TargetStatus:
        return self.certainty.final_status


Decision = TakeStep | Postpone | AwaitPlatform | RetryUncounted | Retry | Finish
