"""Decides what the publisher does next with a post, from what it knew and a new fact, such as the platform's answer.

`decide(state, fact)` is a pure function: it uses no database, no clock and no platform names. engine.py collects the facts
and outcomes.py writes the decisions. "May be out" means that the post may be at the platform: the last attempt at the next
step is in doubt, an attempt of an earlier round may have published it, or the platform has accepted it.

| fact                   | decision                                                                                    |
|------------------------|---------------------------------------------------------------------------------------------|
| Published              | Finish published                                                                            |
| Progress               | TakeStep, or AwaitPlatform if the step has a time. A new segment ends earlier doubt           |
| PostNotFoundAtPlatform | TakeStep: send again, not `maybe_sent`; RetryUncounted while the request may still act     |
| the same, with `error` | the same with `maybe_sent` if a person has just asked to send again; else as OutcomeUnknown |
| TokenExpired           | RenewTokens, once per claim; after that as Transient                                        |
| TokensRenewed          | TakeStep: the same step                                                                     |
| TokensBeingRenewed     | RetryUncounted                                                                                |
| ContentRejected        | Finish failed if nothing can be out or the rejection proves it; else unconfirmed             |
| Transient, RateLimited | Retry while attempts are left; then Finish failed, or unconfirmed if the post may be out      |
| OutcomeUnknown         | Retry while attempts are left, unless nobody can find out; then Finish unconfirmed           |
| AccountDisconnected    | Finish failed, or unconfirmed if the post may be out                                         |
| AttemptBegins          | TakeStep; Finish if the step ends workers, has no attempts left or must not be repeated       |
| PublishingForbidden    | Finish failed, or unconfirmed if the post may be out                                         |
| PostOfOtherTarget      | Finish unconfirmed                                                                          |

Two rules hold for every Finish. A post that is certainly published stays published; its error says what is missing (but a
target whose post belongs to another one is unconfirmed). A thread of which some segments are published is never failed, since
a retry would start it from the beginning. A failed target is refunded, a published one is charged, and the money of an
unconfirmed one stays held.
"""

from __future__ import annotations

from dataclasses import replace

from accounts.platforms import errors
from accounts.platforms.types import Progress, Published, RetrySafety
from posts.publishing.decision_types import (
    AttemptBegins,
    AwaitPlatform,
    Decision,
    Fact,
    Finish,
    PostNotFoundAtPlatform,
    PostOfOtherTarget,
    PublishingForbidden,
    RenewTokens,
    Retry,
    RetryUncounted,
    TakeStep,
    TargetProblem,
    TargetState,
    TokensBeingRenewed,
    TokensRenewed,
)
from posts.publishing.segments import add_segment_count_to_message, unconfirmed_post_advice
from posts.states import TargetStatus

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
        case PostNotFoundAtPlatform():
            return _searched(state, fact)
        case TokensRenewed() | TokensBeingRenewed() | errors.TokenExpired():
            return _tokens(state, fact)
        case AttemptBegins():
            return _worker_died(state, fact)
        case PublishingForbidden():
            return _failed(state, fact.problem)
        case PostOfOtherTarget():
            message = "The platform has a matching post, but it belongs to another target."
            return unconfirmed(replace(state, published=None), message)
        case errors.PlatformError():
            return _step_failed(state, fact)


def _published(post: Published) -> Finish:
    action = "The post is published, so do not send it again. If needed, add what is missing at the platform."
    problem = TargetProblem("PUBLISHED_INCOMPLETE", post.note, action) if post.note else None
    return Finish(TargetStatus.PUBLISHED, False, problem, post)


def _step_done(state: TargetState, progress: Progress) -> Decision:
    # The doubt of an earlier round ends when the segment that it was about is published.
    maybe_sent = state.maybe_sent and len(progress.segments) <= state.segments
    return TakeStep(maybe_sent, progress) if progress.ready_at is None else AwaitPlatform(progress, maybe_sent)


def _searched(state: TargetState, fact: PostNotFoundAtPlatform) -> TakeStep | RetryUncounted | Retry | Finish:
    # A person who retries an unconfirmed target wants it sent again even if the search before that proves nothing.
    asked_by_person = state.maybe_sent and state.attempt == 1
    if fact.error and not asked_by_person:
        return _step_failed(state, fact.error)
    if not fact.settled:
        return RetryUncounted(fact.settled_at, unanswered=True)
    return TakeStep(maybe_sent=fact.error is not None, sends_again=True)


def _tokens(state: TargetState, fact: TokensRenewed | TokensBeingRenewed | errors.TokenExpired) -> Decision:
    if isinstance(fact, TokensRenewed):
        return TakeStep(state.maybe_sent, unanswered=state.unanswered)
    if isinstance(fact, TokensBeingRenewed):
        return RetryUncounted(fact.until, state.in_doubt)
    if not state.tokens_renewed:
        return RenewTokens()
    message = f"The platform refuses tokens that it has just issued: {fact.message}"
    return _step_failed(state, errors.Transient(message))


def _worker_died(state: TargetState, fact: AttemptBegins) -> Decision:
    ends_workers = fact.losses >= MAX_WORKER_LOSSES
    exhausted = state.unanswered and not state.attempts_left
    if state.in_doubt and (ends_workers or exhausted or state.retry_safety == "at_most_once"):
        return unconfirmed(state, "The post may be published: the worker that sent it did not learn the outcome.")
    if ends_workers or exhausted:
        message = "The worker died in every attempt to prepare this post."
        action = "Report the trace_id to the operator of the service."
        return _failed(state, TargetProblem("PLATFORM_UNAVAILABLE", message, action))
    return TakeStep(state.maybe_sent, unanswered=state.unanswered)


def _step_failed(state: TargetState, error: errors.PlatformError) -> Retry | Finish:
    """Decide whether to retry or to end publishing a post, after the platform refused a step or the step failed otherwise.

    A rejection is an answer about the post itself, so it ends the doubt about the attempt before it.
    """
    code, final = _error_code(error, state.retry_safety)
    rejected = isinstance(error, errors.ContentRejected)
    in_doubt = isinstance(error, errors.OutcomeUnknown) or (state.in_doubt and not rejected)
    if not final and state.attempts_left:
        message = add_segment_count_to_message(state.segments, error.message, in_doubt=in_doubt)
        retry_after = getattr(error, "retry_after", None) or 0.0
        return Retry(TargetProblem(code, message, error.suggested_action), retry_after, in_doubt)
    if in_doubt:
        return unconfirmed(state, error.message)
    action = error.suggested_action if final else "The service gave up after its last attempt; retry the post later."
    return _failed(
        state, TargetProblem(code, error.message, action), disproves=rejected and _applies_to_earlier_attempts(state)
    )


def _applies_to_earlier_attempts(state: TargetState) -> bool:
    """Return whether a platform's rejection of the last attempt proves that no earlier attempt has published the post."""
    searched_or_preparing = state.in_doubt or not state.publishes
    return state.retry_safety == "idempotent" or (state.retry_safety == "verifiable" and searched_or_preparing)


def _error_code(error: errors.PlatformError, retry_safety: RetrySafety) -> tuple[str, bool]:
    """Decide which API error code a platform's error in publishing has, and whether a retry would be pointless."""
    match error:
        case errors.ContentRejected():
            return "PLATFORM_REJECTED", True
        case errors.AccountDisconnected():
            return "ACCOUNT_NEEDS_REAUTH", True
        case errors.OutcomeUnknown():
            return "PUBLISH_OUTCOME_UNKNOWN", error.final or retry_safety == "at_most_once"
        case errors.RateLimited():
            return "PLATFORM_RATE_LIMITED", False
    return "PLATFORM_UNAVAILABLE", isinstance(error, errors.ConnectionUnavailable)


def _failed(state: TargetState, problem: TargetProblem, *, disproves: bool = False) -> Finish:
    """Decide that publishing a post has failed, or that its outcome is unconfirmed if the post may be published after all.

    `disproves`: the problem rules out that the post is published.
    """
    if state.published:
        return _published(replace(state.published, note=problem.message))
    if state.may_already_be_published and not disproves:
        return unconfirmed(state, f"{problem.message} An earlier attempt may have been published.")
    if state.segments:
        return unconfirmed(state, problem.message, in_doubt=False)
    return Finish(TargetStatus.FAILED, False, problem)


def unconfirmed(state: TargetState, message: str, *, in_doubt: bool = True) -> Finish:
    """Decide that publishing ends unconfirmed: whether the post was published is unknown, or only part of its thread was.

    `in_doubt` is False for a thread whose next segment was certainly not published.
    """
    if state.published:
        return _published(replace(state.published, note=message))
    return Finish(TargetStatus.UNCONFIRMED, in_doubt, unconfirmed_problem(state.segments, message, in_doubt=in_doubt))


def unconfirmed_problem(segments: int, message: str, *, in_doubt: bool = True) -> TargetProblem:
    """Return the error that a decision gives an unconfirmed post target; `segments` counts a thread's published posts."""
    message = add_segment_count_to_message(segments, message, in_doubt=in_doubt)
    return TargetProblem("PUBLISH_OUTCOME_UNKNOWN", message, unconfirmed_post_advice(segments))
