"""The table of posts/publishing/decision.py: what follows from each fact in each kind of state."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from accounts.platforms.errors import (
    ConnectionUnavailable,
    ContentRejected,
    OutcomeUnknown,
    PlatformError,
    RateLimited,
    ReauthRequired,
    TokenExpired,
    Transient,
)
from accounts.platforms.types import Progress, Published
from posts.publishing.decision import MAX_WORKER_LOSSES, decide
from posts.publishing.decision_types import (
    AttemptBegins,
    Fact,
    Finish,
    PostNotFoundInSearch,
    Retry,
    TakeStep,
    TargetProblem,
    TargetState,
    TokensRenewed,
    Wait,
)
from posts.states import Certainty
from tests.posts.rows import NOON

POST = Published("42", "https://example.com/42")
FIRST = TargetState("at_most_once", publishes=True)
LAST = replace(FIRST, attempts_left=False)
DOUBTED = replace(FIRST, certainty=Certainty.MAYBE_SENT, unanswered=True, retry_safety="verifiable")
OUT_ALREADY = replace(LAST, certainty=Certainty.CONFIRMED, published=POST)
THREAD = replace(LAST, certainty=Certainty.SENT, segments=2)
EARLIER_ROUND = replace(LAST, certainty=Certainty.MAYBE_SENT)
ACCEPTED = replace(LAST, certainty=Certainty.SENT)
DOWN, LOST, REFUSED = Transient("Down."), OutcomeUnknown("No answer."), ContentRejected("Refused.")
STOPPED = TargetProblem("SCHEDULE_MISSED", "Too late.", "Retry.")


@pytest.mark.parametrize(
    ("state", "fact", "end"),
    [
        (FIRST, POST, "published"),
        (FIRST, REFUSED, "failed PLATFORM_REJECTED"),
        (FIRST, ReauthRequired("Gone."), "failed ACCOUNT_NEEDS_REAUTH"),
        (FIRST, ConnectionUnavailable("Not set up."), "failed PLATFORM_UNAVAILABLE"),
        (FIRST, LOST, "unconfirmed"),
        (FIRST, STOPPED, "failed SCHEDULE_MISSED"),
        (LAST, DOWN, "failed PLATFORM_UNAVAILABLE"),
        (LAST, RateLimited("Slow down."), "failed PLATFORM_RATE_LIMITED"),
        # An earlier attempt may have published the post.
        (EARLIER_ROUND, DOWN, "unconfirmed"),
        (EARLIER_ROUND, REFUSED, "unconfirmed"),
        (EARLIER_ROUND, STOPPED, "unconfirmed"),
        (replace(EARLIER_ROUND, retry_safety="verifiable"), REFUSED, "unconfirmed"),
        (replace(EARLIER_ROUND, retry_safety="idempotent"), REFUSED, "failed PLATFORM_REJECTED"),
        (replace(DOUBTED, attempts_left=False), DOWN, "unconfirmed"),
        (DOUBTED, REFUSED, "failed PLATFORM_REJECTED"),
        (replace(DOUBTED, retry_safety="idempotent"), REFUSED, "failed PLATFORM_REJECTED"),
        (DOUBTED, OutcomeUnknown("Nobody can say.", final=True), "unconfirmed"),
        # A person's request to send the post again counts for one attempt.
        (
            replace(DOUBTED, attempt=2, attempts_left=False),
            PostNotFoundInSearch(error=LOST),
            "unconfirmed",
        ),
        (replace(ACCEPTED, certainty=Certainty.MAYBE_SENT, retry_safety="verifiable"), STOPPED, "unconfirmed"),
        # The platform has accepted the post: only its own rejection ends it.
        (ACCEPTED, DOWN, "unconfirmed"),
        (replace(ACCEPTED, retry_safety="verifiable", publishes=False), REFUSED, "failed PLATFORM_REJECTED"),
        # A published post stays published; its error says what is missing.
        (OUT_ALREADY, DOWN, "published PUBLISHED_INCOMPLETE"),
        (OUT_ALREADY, REFUSED, "published PUBLISHED_INCOMPLETE"),
        (OUT_ALREADY, LOST, "published PUBLISHED_INCOMPLETE"),
        (OUT_ALREADY, STOPPED, "published PUBLISHED_INCOMPLETE"),
        # A thread that is published in part never starts from the beginning.
        (THREAD, REFUSED, "unconfirmed"),
        (THREAD, DOWN, "unconfirmed"),
        # Workers died.
        (replace(FIRST, certainty=Certainty.MAYBE_SENT, unanswered=True), AttemptBegins(1), "unconfirmed"),
        (FIRST, AttemptBegins(MAX_WORKER_LOSSES), "failed PLATFORM_UNAVAILABLE"),
        (DOUBTED, AttemptBegins(MAX_WORKER_LOSSES), "unconfirmed"),
        (
            replace(FIRST, unanswered=True, publishes=False, attempts_left=False),
            AttemptBegins(0),
            "failed PLATFORM_UNAVAILABLE",
        ),
    ],
)
def test_a_target_ends(state: TargetState, fact: Fact, end: str) -> None:
    decision = decide(state, fact)

    assert isinstance(decision, Finish)
    status, _, code = end.partition(" ")
    assert decision.status == status
    if code:
        assert decision.problem is not None
        assert decision.problem.code == code


@pytest.mark.parametrize(
    ("state", "fact", "decision"),
    [
        (FIRST, Progress("send"), TakeStep(Certainty.NOT_SENT, Progress("send"))),
        (EARLIER_ROUND, Progress("send"), TakeStep(Certainty.MAYBE_SENT, Progress("send"))),
        (
            replace(EARLIER_ROUND, certainty=Certainty.SENT),
            Progress("start"),
            TakeStep(Certainty.NOT_SENT, Progress("start")),  # the platform takes its acceptance back
        ),
        (OUT_ALREADY, Progress("start"), TakeStep(Certainty.MAYBE_SENT, Progress("start"))),
        (
            EARLIER_ROUND,
            Progress("poll", ready_at=NOON, accepted=True),
            Wait(NOON, Certainty.MAYBE_SENT, Progress("poll", ready_at=NOON, accepted=True)),
        ),
        (DOUBTED, TokensRenewed(NOON), Wait(NOON, Certainty.MAYBE_SENT, unanswered=True)),
        (FIRST, TokensRenewed(NOON), Wait(NOON, Certainty.NOT_SENT, unanswered=False)),
        (FIRST, Progress("poll", accepted=True), TakeStep(Certainty.SENT, Progress("poll", accepted=True))),
        (FIRST, Progress("wait", ready_at=NOON), Wait(NOON, Certainty.NOT_SENT, Progress("wait", ready_at=NOON))),
        (DOUBTED, PostNotFoundInSearch(), TakeStep(Certainty.DISPROVED, sends_again=True)),
        (DOUBTED, PostNotFoundInSearch(NOON), Wait(NOON, Certainty.MAYBE_SENT, unanswered=True)),
        (
            DOUBTED,
            PostNotFoundInSearch(error=LOST),
            TakeStep(Certainty.MAYBE_SENT, sends_again=True),
        ),
        (DOUBTED, TokensRenewed(), TakeStep(Certainty.MAYBE_SENT, unanswered=True)),
        (DOUBTED, AttemptBegins(1), TakeStep(Certainty.MAYBE_SENT, unanswered=True)),
    ],
)
def test_a_target_goes_on(state: TargetState, fact: Fact, decision: Any) -> None:
    assert decide(state, fact) == decision


def test_a_published_segment_ends_the_doubt_about_it() -> None:
    state = replace(EARLIER_ROUND, segments=1)

    one, two = Progress("send", segments=("1",)), Progress("send", segments=("1", "2"))
    assert decide(state, one) == TakeStep(Certainty.MAYBE_SENT, one)
    assert decide(state, two) == TakeStep(Certainty.SENT, two)


def test_what_is_published_already_is_certain() -> None:
    progress = Progress("comment", published=Published("42", ""))

    assert decide(FIRST, progress) == TakeStep(Certainty.CONFIRMED, progress)


@pytest.mark.parametrize(
    ("state", "error", "unanswered"),
    [
        (FIRST, DOWN, False),
        (FIRST, RateLimited("Slow down.", retry_after=90), False),
        (replace(FIRST, retry_safety="verifiable"), LOST, True),
        (DOUBTED, DOWN, True),
        (FIRST, TokenExpired("Stale."), False),
    ],
)
def test_a_further_attempt_is_scheduled(state: TargetState, error: PlatformError, unanswered: bool) -> None:
    decision = decide(state, error)

    assert isinstance(decision, Retry)
    assert decision.unanswered == unanswered
    assert decision.retry_after == (getattr(error, "retry_after", None) or 0)


SENDING = replace(FIRST, certainty=Certainty.MAYBE_SENT, unanswered=True)


@pytest.mark.parametrize(
    ("state", "fact", "words"),
    [
        (FIRST, LOST, "No answer."),
        (
            replace(FIRST, certainty=Certainty.SENT, segments=1),
            LOST,
            "Segment 1 was published; it is not known whether segment 2 was: No answer.",
        ),
        (replace(SENDING, segments=1), AttemptBegins(1), "Segment 1 was published; it is not known whether segment 2 was: "),
        (
            replace(FIRST, certainty=Certainty.SENT, segments=4),
            LOST,
            "Segments 1 to 4 were published; it is not known whether segment 5 was: No ",
        ),
        (replace(THREAD, attempts_left=True), DOWN, "Segments 1 and 2 were published; segment 3 was not: Down."),
        (THREAD, ConnectionUnavailable("No."), "Segments 1 and 2 were published; segment 3 was not: No."),
    ],
)
def test_a_message_says_which_segments_are_published(state: TargetState, fact: Fact, words: str) -> None:
    decision = decide(state, fact)

    assert isinstance(decision, Retry | Finish)
    assert decision.problem is not None
    assert decision.problem.message.startswith(words)


def test_an_action_says_where_a_thread_continues() -> None:
    end = decide(THREAD, REFUSED)

    assert isinstance(end, Finish)
    assert end.problem is not None
    assert end.problem.suggested_action.endswith("which continues at segment 3.")
