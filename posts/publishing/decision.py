"""Decides what the publisher does next with a post, from what it knew and a new fact, such as the platform's answer.

`decide(state, fact)` is a pure function: it uses no database, no clock and no platform names. engine.py collects the facts
and outcomes.py writes the decisions. Each decision names the `Certainty` that the post is at the platform (posts/states.py),
from which the status of a finished target follows. "May be out" means that it is `maybe_sent`, or `sent` as a whole.

| fact                    | decision                                                                                    |
|-------------------------|---------------------------------------------------------------------------------------------|
| Published               | Finish published                                                                            |
| Progress                | TakeStep, or Wait if the step has a time. A new segment ends earlier doubt                  |
| PostNotFoundInSearch    | TakeStep: send again, `disproved`; Wait while the request may still act                     |
| the same, with `error`  | the same, but `maybe_sent`, if a person has just asked to send again; else OutcomeUnknown   |
| TokenExpired            | as Transient, since the engine renews tokens once per claim before it asks for a decision   |
| TokensRenewed           | TakeStep: the same step; Wait if another worker is renewing the tokens                      |
| ContentRejected         | Finish failed if nothing can be out or the rejection proves it; else unconfirmed            |
| Transient, RateLimited  | Retry while attempts are left; then Finish failed, or unconfirmed if the post may be out    |
| OutcomeUnknown          | Retry while attempts are left, unless nobody can find out; then Finish unconfirmed          |
| ReauthRequired          | Finish failed, or unconfirmed if the post may be out                                        |
| AttemptBegins           | TakeStep; Finish if the step ends workers, has no attempts left or must not be repeated     |
| TargetProblem           | Finish failed, or unconfirmed if the post may be out                                        |

Two rules hold for every Finish. A confirmed post stays published; its error says what is missing. A thread of which some
segments are published is never failed, since a retry would start it from the beginning: it is `sent`, so it ends unconfirmed.
"""

from __future__ import annotations

from dataclasses import replace

from accounts.platforms import errors
from accounts.platforms.types import Progress, Published, RetrySafety
from posts.publishing.decision_types import (
    AttemptBegins,
    Decision,
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

MAX_WORKER_LOSSES = 3  # number of dead workers after which a step is not tried again


def decide(state: TargetState, fact: Fact) -> Decision:
    """Decide what the publisher does next with a post after a new fact, such as the platform's answer or an error.

    The module's docstring has a table of all cases.
    """
    match fact:
        case Published():
            return _published(fact)
        case Progress():
            return _step_done(state, fact)
        case PostNotFoundInSearch():
            return _searched(state, fact)
        case TokensRenewed():
            if fact.ends_at:
                return Wait(fact.ends_at, state.certainty, unanswered=state.in_doubt)
            return TakeStep(state.certainty, unanswered=state.unanswered)
        case AttemptBegins():
            return _worker_died(state, fact)
        case TargetProblem():
            return _failed(state, fact)
        case errors.PlatformError():
            return _step_failed(state, fact)


def _published(post: Published) -> Finish:
    action = "The post is published, so do not send it again. If needed, add what is missing at the platform."
    problem = TargetProblem("PUBLISHED_INCOMPLETE", post.note, action) if post.note else None
    return Finish(Certainty.CONFIRMED, problem, post)


def _step_done(state: TargetState, progress: Progress) -> Decision:
    certainty = _certainty_after_step(state, progress)
    return TakeStep(certainty, progress) if progress.ready_at is None else Wait(progress.ready_at, certainty, progress)


def _certainty_after_step(state: TargetState, progress: Progress) -> Certainty:
    """Return how certain it is that the target was sent, after a publishing step that left more steps to do.

    If a segment (one post of a thread) may have been sent before, that remains possible until the segment is complete.
    """
    if progress.published:
        return Certainty.CONFIRMED
    if len(progress.segments) <= state.segments and state.certainty in (Certainty.MAYBE_SENT, Certainty.CONFIRMED):
        return Certainty.MAYBE_SENT
    return Certainty.SENT if progress.accepted or progress.segments else Certainty.NOT_SENT


def _certainty_if_absent(state: TargetState) -> Certainty:
    """Return the Certainty that the target was sent, once it is proven that the doubtful step has published nothing."""
    if state.published:
        return Certainty.CONFIRMED
    return Certainty.SENT if state.segments else Certainty.DISPROVED


def _searched(state: TargetState, fact: PostNotFoundInSearch) -> Decision:
    # Whoever retries an unconfirmed target wants it sent again if a search proves nothing. Other first attempts never search.
    if fact.error and state.attempt > 1:
        return _step_failed(state, fact.error)
    if fact.settled_at:
        return Wait(fact.settled_at, state.certainty, unanswered=True)
    return TakeStep(state.certainty if fact.error else _certainty_if_absent(state), sends_again=True)


def _worker_died(state: TargetState, fact: AttemptBegins) -> Decision:
    ends_workers = fact.losses >= MAX_WORKER_LOSSES
    exhausted = state.unanswered and not state.attempts_left
    if state.in_doubt and (ends_workers or exhausted or state.retry_safety == "at_most_once"):
        return finish_unconfirmed(state, "The post may be published: the worker that sent it did not learn the outcome.")
    if ends_workers or exhausted:
        message = "The worker died in every attempt to prepare this post."
        action = "Report the trace_id to the operator of the service."
        return _failed(state, TargetProblem("PLATFORM_UNAVAILABLE", message, action))
    return TakeStep(state.certainty, unanswered=state.unanswered)


def _step_failed(state: TargetState, error: errors.PlatformError) -> Retry | Finish:
    """Decide whether the publisher retries or gives up a post after the platform refused a step or the step failed.

    A rejection is an answer about the post itself, so it ends the doubt about the attempt before it.
    """
    if isinstance(error, errors.TokenExpired):
        error = errors.Transient(f"The platform refuses tokens that it has just issued: {error.message}")
    code, final = _error_code(error, state.retry_safety)
    rejected = isinstance(error, errors.ContentRejected)
    in_doubt = isinstance(error, errors.OutcomeUnknown) or (state.in_doubt and not rejected)
    if in_doubt and not state.published:
        state = replace(state, certainty=Certainty.MAYBE_SENT)
    elif rejected and (not state.may_already_be_published or _applies_to_earlier_attempts(state)):
        state = replace(state, certainty=_certainty_if_absent(state))
    if not final and state.attempts_left:
        message = _with_segment_count(state.segments, error.message, in_doubt=in_doubt)
        retry_after = getattr(error, "retry_after", None) or 0.0
        return Retry(TargetProblem(code, message, error.suggested_action), retry_after, state.certainty, in_doubt)
    if in_doubt:
        return finish_unconfirmed(state, error.message)
    action = error.suggested_action if final else "The service gave up after its last attempt; retry the post later."
    return _failed(state, TargetProblem(code, error.message, action))


def _applies_to_earlier_attempts(state: TargetState) -> bool:
    """For the publisher's decision, return whether a platform's refusal proves that no earlier attempt published the post."""
    searched_or_preparing = state.in_doubt or not state.publishes
    return state.retry_safety == "idempotent" or (state.retry_safety == "verifiable" and searched_or_preparing)


def _error_code(error: errors.PlatformError, retry_safety: RetrySafety) -> tuple[str, bool]:
    """For the publisher's decision, return the API error code of a platform's error, and whether a retry is pointless."""
    match error:
        case errors.ContentRejected():
            return "PLATFORM_REJECTED", True
        case errors.ReauthRequired():
            return "ACCOUNT_NEEDS_REAUTH", True
        case errors.OutcomeUnknown():
            return "PUBLISH_OUTCOME_UNKNOWN", error.final or retry_safety == "at_most_once"
        case errors.RateLimited():
            return "PLATFORM_RATE_LIMITED", False
    return "PLATFORM_UNAVAILABLE", isinstance(error, errors.ConnectionUnavailable)


def _failed(state: TargetState, problem: TargetProblem) -> Finish:
    """Decide that publishing has failed, or is unconfirmed if the post may be published after all."""
    if state.published:
        return _published(replace(state.published, note=problem.message))
    if state.may_already_be_published:
        return finish_unconfirmed(state, f"{problem.message} An earlier attempt may have been published.")
    if state.segments:
        return finish_unconfirmed(state, problem.message, Certainty.SENT)
    return Finish(state.certainty, problem)


def finish_unconfirmed(state: TargetState, message: str, certainty: Certainty = Certainty.MAYBE_SENT) -> Finish:
    """Decide that publishing ends unconfirmed: whether the post was published is unknown, or only part of its thread was.

    `certainty` is `sent` for a thread whose next segment was certainly not published.
    """
    if state.published:
        return _published(replace(state.published, note=message))
    return Finish(certainty, unconfirmed_problem_with_segment_count(state.segments, certainty, message))


def unconfirmed_problem_with_segment_count(segments: int, certainty: Certainty, message: str) -> TargetProblem:
    """Return the error for a decision to end unconfirmed, which says how many segments of a thread are published."""
    resolve, message = "the post", _with_segment_count(segments, message, in_doubt=certainty is Certainty.MAYBE_SENT)
    retry = "otherwise retry with include_unconfirmed"
    if segments:
        resolve, retry = "the whole thread", f"{retry}, which continues at segment {segments + 1}"
    advice = f"Check the account. Resolve the target if {resolve} is there; {retry}."
    return TargetProblem("PUBLISH_OUTCOME_UNKNOWN", message, advice)


def _with_segment_count(count: int, message: str, *, in_doubt: bool) -> str:
    """Return an error message that begins with how many posts of a thread were published, and whether the next one was."""
    if not count:
        return message
    published = "Segment 1 was" if count == 1 else f"Segments 1 {'and' if count == 2 else 'to'} {count} were"
    following = f"it is not known whether segment {count + 1} was" if in_doubt else f"segment {count + 1} was not"
    return f"{published} published; {following}: {message}"
