"""Types for the publisher's decisions: what is known about a post target, new facts about it, and the decisions."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from accounts.platforms import errors
from accounts.platforms.types import Progress, Published, RetrySafety
from config.api.trace import current_trace_id
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
        """Return the Certainty that the target was sent, to store while the next step runs in case its outcome is lost."""
        sends = self.publishes and self.certainty is not Certainty.CONFIRMED
        return Certainty.MAYBE_SENT if sends else self.certainty


@dataclass(frozen=True)
class TargetProblem:
    """What keeps the publisher from publishing a post target: a code, a message, and what a person can do.

    As a fact it says that the workspace, the account or the schedule forbids publishing.
    """

    code: str
    message: str
    suggested_action: str

    def to_json(self, *, auto_fixable: bool = False) -> dict[str, Any]:
        """Return this TargetProblem as the `error` of a post target; `auto_fixable`: the service tries again by itself."""
        return {**asdict(self), "auto_fixable": auto_fixable, "trace_id": current_trace_id()}


@dataclass(frozen=True)
class PostNotFoundInSearch:
    """The fact that a search at the platform did not find a post whose last attempt to publish got no clear answer.

    If `error` is set, that proves nothing. Until `settled_at`, if that time has not passed yet, the platform may still carry
    out the request of the last attempt.
    """

    settled_at: datetime | None = None
    error: errors.OutcomeUnknown | None = None


@dataclass(frozen=True)
class TokensRenewed:
    """The fact that the account's OAuth tokens were renewed, or that another worker will have done so at about `ends_at`."""

    ends_at: datetime | None = None


@dataclass(frozen=True)
class AttemptBegins:
    """The fact that an attempt to publish a post begins; `losses`: how many workers have died in its next step so far."""

    losses: int


Fact = Published | Progress | PostNotFoundInSearch | TokensRenewed | AttemptBegins | TargetProblem | errors.PlatformError


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
    """The decision, before an attempt begins, to postpone it until the time `until` without changing anything else."""

    until: datetime


@dataclass(frozen=True)
class Wait:
    """The decision to continue publishing a post at the time `at`, which does not count as another attempt.

    With `progress`, the platform is processing the post, such as its video, before that step. `unanswered`: it is still in
    doubt whether a step was carried out.
    """

    at: datetime
    certainty: Certainty
    progress: Progress | None = None
    unanswered: bool = False


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


Decision = TakeStep | Postpone | Wait | Retry | Finish
