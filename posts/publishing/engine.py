"""The engine that publishes claimed posts: it calls the platform step by step, and records the outcomes.

1. `claim_targets` (attempts.py) leases due post targets to this worker, called by the worker loop (worker_loop.py).
2. `preflight_decision` and `reserve_times_or_postpone` (preconditions.py) end or postpone those not to be published now.
3. `begin_attempts` commits that the first step of each begins; `_take_steps` runs the steps at the platform, outside any
   transaction. The result of a step, or its error, is a fact.
4. `decide` (decision.py) says what follows from the fact: the next step, a later attempt or the end.
5. `record_decision` (outcomes.py) writes the decision with the money and the events, guarded by the claim's fence.

So the row of a dead worker shows how far it came, and a worker that lost its claim cannot write. If the outcome of a step
that publishes is unknown, the step is repeated on idempotent platforms, searched for first on verifiable ones, and otherwise
never repeated. After a search it is sent again only if the platform proves the post absent, or if a person asks for it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

from django.db import Error, IntegrityError
from django.utils import timezone

from accounts.platforms import errors
from accounts.platforms.types import NotPublishedProof
from accounts.services import (
    RenewalInProgress,
    delay_posts_to_account,
    mark_needs_reauth_unless_renewed,
    renew_or_await_tokens,
)
from config.api.caller import system_caller
from config.api.trace import set_trace_actor, start_or_continue_trace
from config.db.connection import close_connection_before_waiting
from config.db.encryption import SealedValueError
from config.db.outage import DATABASE_ERRORS, retry_while_database_down
from config.jobs.database_writer import DatabaseWriter
from posts.attached_media import AttachedMediaDeleted, media_files_for_adapter
from posts.models import PostTarget
from posts.publishing.attempts import LEASE, Attempt
from posts.publishing.decision import decide, finish_unconfirmed
from posts.publishing.decision_types import Decision, Fact, Finish, PostNotFoundInSearch, TakeStep, TokensRenewed
from posts.publishing.outcomes import (
    ClaimLost,
    mark_unconfirmed_as_published,
    postpone,
    record_decision,
    write_step_beginnings_if_claims_valid,
)
from posts.publishing.preconditions import preflight_decision, reserve_times_or_postpone, stop_decision_if_forbidden

logger = logging.getLogger(__name__)
UNEXPECTED_ERROR_PAUSE = timedelta(minutes=5)
Answer = TypeVar("Answer")


def begin_attempts(targets: Sequence[PostTarget], writer: DatabaseWriter) -> list[Attempt]:
    """Start the publishing engine on post targets that this worker has claimed; returns the attempts to continue.

    For those that nothing stops, credentials and media are prepared and the first steps committed. Raises OperationalError,
    InterfaceError if the database is down; no attempt has begun then.
    """
    checked, ready = list[Attempt](), list[Attempt]()
    for target in targets:
        with _logged_errors(target, writer):
            attempt = Attempt.for_claimed_target(target, writer)
            attempt.stop = preflight_decision(attempt)
            checked.append(attempt)
    reserve_times_or_postpone([attempt for attempt in checked if not attempt.stop])
    for attempt in checked:
        if not attempt.stop:
            with _logged_errors(attempt.target, writer):
                _prepare(attempt)
                ready.append(attempt)
    return [attempt for attempt in checked if attempt.stop] + _commit_first_steps(ready, writer)


def continue_attempt(attempt: Attempt) -> None:
    """Continue an attempt of the publishing engine until it is finished or has to wait; errors are logged, not raised."""
    with _logged_errors(attempt.target, attempt.writer):
        _save_decision(attempt, attempt.stop or _take_steps(attempt))


@contextmanager
def _logged_errors(target: PostTarget, writer: DatabaseWriter) -> Iterator[None]:
    """Return a context manager of the publishing engine that logs exceptions of publishing a post, and postpones the post.

    When the database fails, the claim's lease expires and another worker continues.
    """
    start_or_continue_trace(target.group.trace_id)
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
            postpone(target, writer, until=timezone.now() + UNEXPECTED_ERROR_PAUSE)


def _prepare(attempt: Attempt) -> None:
    """Prepare an attempt of the publishing engine: decrypt the credentials, find the media; set its `fault` on failure."""
    attempt.count_attempt_unless_continued()
    try:
        attempt.grant = attempt.target.account.decrypted_grant()
        attempt.media = media_files_for_adapter(attempt.target.group)
        if not attempt.target.phase:
            with suppress(Exception):  # the step START raises it again, as a fact
                attempt.progress = attempt.adapter.initial_progress(attempt.grant, attempt.content)
    except SealedValueError as fault:
        logger.error("The credentials for %s cannot be decrypted.", attempt.target.id, exc_info=fault)
        attempt.fault = errors.Transient("The service cannot read the account's credentials at the moment.")
    except AttachedMediaDeleted as fault:
        state = attempt.state
        unknown = f"An earlier attempt may have been published and cannot be repeated: {fault}"
        sent = state.in_doubt or state.may_already_be_published
        attempt.fault = errors.OutcomeUnknown(unknown, final=True) if sent else errors.ContentRejected(str(fault))


def _commit_first_steps(attempts: Sequence[Attempt], writer: DatabaseWriter) -> list[Attempt]:
    results = retry_while_database_down(writer.write_in_this_thread, write_step_beginnings_if_claims_valid, attempts)
    begun = []
    for attempt, result in zip(attempts, results, strict=True):
        with _logged_errors(attempt.target, writer):
            if isinstance(result, Exception):
                raise result
            if not result:
                raise ClaimLost
            begun.append(attempt)
    return begun


def _take_steps(attempt: Attempt) -> Decision:
    """Take the publishing engine's steps with a post until a decision ends or postpones it; return that decision."""
    while True:
        state = attempt.state
        fact = attempt.fault or (_search(attempt) if state.must_search else _step(attempt))
        if isinstance(fact, errors.TokenExpired) and not attempt.tokens_renewed:
            fact = _renew_tokens(attempt)
        decision = decide(state, fact)
        if isinstance(fact, errors.PlatformError):
            _update_account(attempt, fact)
        if not isinstance(decision, TakeStep):
            return decision
        if decision.progress:
            attempt.progress, attempt.worker_losses = decision.progress, 0
        attempt.certainty = decision.certainty
        if not decision.unanswered:
            attempt.last_try_at = None
        if stop := _stop_before(attempt, decision):
            return stop
        if not retry_while_database_down(attempt.writer.write, write_step_beginnings_if_claims_valid, attempt):
            raise ClaimLost


def _answer_or_error(ask: Callable[[], Answer], unexpected: errors.PlatformError) -> Answer | errors.PlatformError:
    """Return a platform's answer, or the error that it gave; an error that no adapter should raise becomes `unexpected`."""
    try:
        return ask()
    except errors.PlatformError as error:
        return error
    except Exception:
        logger.exception("An adapter raised an unexpected error.")
        return unexpected


def _step(attempt: Attempt) -> Fact:
    """Take the next step of publishing a post at the platform, for the publishing engine; return the answer or error."""
    unexpected: errors.PlatformError = errors.Transient("The service failed before it published anything.")
    if attempt.state.publishes:
        unexpected = errors.OutcomeUnknown("The service failed while it was publishing.")
    step = attempt.grant, attempt.content, attempt.progress
    return _answer_or_error(lambda: attempt.adapter.publish_step(*step), unexpected)


def _search(attempt: Attempt) -> Fact:
    """Step of the publishing engine: search the platform for the post, if the last attempt got no clear answer."""
    now = timezone.now()
    settled_at = (attempt.last_try_at or now) + timedelta(seconds=attempt.adapter.settles_seconds)
    unsettled_until = settled_at if settled_at > now else None
    unexpected = errors.Transient("The service failed while it searched for the post.")
    step = attempt.grant, attempt.content, attempt.progress
    found = _answer_or_error(lambda: attempt.adapter.find_or_rule_out_published_post(*step), unexpected)
    if isinstance(found, errors.OutcomeUnknown):
        return PostNotFoundInSearch(unsettled_until, found)
    if isinstance(found, NotPublishedProof):
        logger.info("%s is not at %s: %s", attempt.target.id, attempt.adapter.name, found.proof)
        return PostNotFoundInSearch(unsettled_until)
    return found


def _renew_tokens(attempt: Attempt) -> Fact:
    """Renew the account's OAuth tokens for the attempt that the publishing engine makes."""
    attempt.tokens_renewed = True
    account_id, stale = attempt.target.account_id, attempt.grant
    unexpected = errors.Transient("The service failed while it renewed the account's tokens.")
    renewed = _answer_or_error(lambda: renew_or_await_tokens(account_id=account_id, stale=stale), unexpected)
    close_connection_before_waiting()
    if isinstance(renewed, RenewalInProgress):
        return TokensRenewed(timezone.now() + timedelta(seconds=renewed.retry_after or 1.0))
    if isinstance(renewed, errors.TokenExpired):
        return errors.ReauthRequired(renewed.message, suggested_action=renewed.suggested_action)
    if isinstance(renewed, errors.PlatformError):
        return renewed
    attempt.grant = renewed
    return TokensRenewed()


def _update_account(attempt: Attempt, error: errors.PlatformError) -> None:
    """Mark an account after the engine got an error about the whole account: refused tokens or a rate limit."""
    if attempt.target.sandbox:
        return
    account_id, run = attempt.target.account_id, attempt.writer.call
    if isinstance(error, errors.ReauthRequired):
        retry_while_database_down(run, mark_needs_reauth_unless_renewed, account_id=account_id, stale=attempt.grant)
    if isinstance(error, errors.RateLimited) and error.retry_after:
        retry_while_database_down(run, delay_posts_to_account, account_id=account_id, seconds=error.retry_after)


def _stop_before(attempt: Attempt, step: TakeStep) -> Decision | None:
    """Return the decision by which the engine stops an attempt before its next step; None if the step may begin.

    Workspace and account are checked before a post is sent again, and after a long preparation read again, too.
    """
    target, state = attempt.target, attempt.state
    long = time.monotonic() - attempt.began > LEASE.total_seconds()
    if not step.sends_again and (not long or state.in_doubt or not state.publishes or state.published):
        return None
    if long:
        attempt.writer.call(target.group.workspace.refresh_from_db, fields=["status"])
        attempt.writer.call(target.account.refresh_from_db, fields=["status"])
    return stop_decision_if_forbidden(attempt, untried=step.sends_again and state.attempt == 1)


def _save_decision(attempt: Attempt, decision: Decision) -> None:
    """Save the decision about an attempt of the publishing engine; retry while the database is down.

    If the claim was lost or the post is another target's, store what is true instead.
    """
    try:
        retry_while_database_down(record_decision, attempt, decision)
    except (ClaimLost, IntegrityError) as error:
        if not isinstance(decision, Finish) or not decision.published:
            raise
        if isinstance(error, ClaimLost):
            retry_while_database_down(attempt.writer.call, mark_unconfirmed_as_published, attempt.target, decision)
        else:
            message = "The platform has a matching post, but it belongs to another target."
            decision = finish_unconfirmed(replace(attempt.state, published=None), message)
            retry_while_database_down(record_decision, attempt, decision)
