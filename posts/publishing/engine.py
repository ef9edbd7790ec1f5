"""The engine that publishes claimed posts: it calls the platform step by step, and records the outcomes.

1. `claim_targets` (attempts.py) leases due post targets to this worker, called by the worker loop (worker_loop.py).
2. `preflight` (preconditions.py) ends or postpones those that must not be published now.
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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta

from django.db import Error, IntegrityError
from django.utils import timezone

from accounts.platforms import errors
from accounts.platforms.base import START
from accounts.platforms.types import NotPublishedProof, Progress
from accounts.services import (
    RenewalInProgress,
    delay_posts_to_account,
    mark_needs_reauth_unless_renewed,
    renew_or_await_tokens,
)
from config.api.caller import system_caller
from config.api.trace import set_trace_actor, start_trace
from config.db.connection import close_connection_before_waiting
from config.db.encryption import SealedValueError
from config.db.outage import DATABASE_ERRORS, retry_while_database_down
from config.jobs.database_writer import DatabaseWriter
from posts.attached_media import MediaGone, adapter_media_files
from posts.models import PostTarget
from posts.publishing.attempts import LEASE, Attempt
from posts.publishing.decision import decide
from posts.publishing.decision_types import (
    Decision,
    Fact,
    Finish,
    PostNotFoundAtPlatform,
    PostOfOtherTarget,
    TakeStep,
    TokensBeingRenewed,
    TokensRenewed,
)
from posts.publishing.outcomes import (
    ClaimLost,
    mark_unconfirmed_as_published,
    postpone,
    postpone_to_turns,
    record_decision,
    write_step_beginnings,
)
from posts.publishing.preconditions import preflight, reserve_turns, stop_decision_if_forbidden

logger = logging.getLogger(__name__)
UNEXPECTED_ERROR_PAUSE = timedelta(minutes=5)


def begin_attempts(targets: Sequence[PostTarget], writer: DatabaseWriter) -> list[Attempt]:
    """Start the publishing engine on post targets that this worker has claimed; returns the attempts to continue.

    Posts that have to wait for their account's turn are postponed. For the others, credentials and media are prepared and
    the first steps committed. Raises OperationalError, InterfaceError if the database is down; no attempt has begun then.
    """
    checked = []
    for target in targets:
        with _logged_errors(target, writer):
            attempt = Attempt.of_claimed(target, writer)
            attempt.stop = preflight(attempt)
            checked.append(attempt)
    allowed = [attempt for attempt in checked if not attempt.stop]
    waiting = reserve_turns(allowed)
    postpone_to_turns(waiting)
    ready = []
    for attempt in allowed:
        if attempt not in waiting:
            with _logged_errors(attempt.target, writer):
                _prepare(attempt)
                ready.append(attempt)
    return [attempt for attempt in checked if attempt.stop] + _commit_first_steps(ready, writer)


def continue_attempt(attempt: Attempt) -> None:
    """Publish a post until it is finished or has to wait; errors are logged, not raised."""
    with _logged_errors(attempt.target, attempt.writer):
        _save_decision(attempt, attempt.stop or _take_steps(attempt))


@contextmanager
def _logged_errors(target: PostTarget, writer: DatabaseWriter) -> Iterator[None]:
    """Return a context manager for a part of publishing a post, which logs exceptions and then postpones the post.

    It does not postpone a post whose claim was lost. When the database fails, the claim's lease expires and another worker
    continues.
    """
    start_trace(target.group.trace_id)
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
    """Prepare an attempt for the publishing engine: decrypt the credentials and find the media; set `fault` on failure."""
    state = attempt.state
    attempt.count()
    try:
        attempt.grant = attempt.target.account.decrypted_grant()
        attempt.media = adapter_media_files(attempt.target.group)
        if not attempt.target.phase:
            attempt.progress = _first_step(attempt)
    except SealedValueError as fault:
        logger.error("The credentials for %s cannot be decrypted.", attempt.target.id, exc_info=fault)
        attempt.fault = errors.Transient("The service cannot read the account's credentials at the moment.")
    except MediaGone as fault:
        unknown = f"An earlier attempt may have been published and cannot be repeated: {fault}"
        sent = state.in_doubt or state.may_already_be_published
        attempt.fault = errors.OutcomeUnknown(unknown, final=True) if sent else errors.ContentRejected(str(fault))


def _first_step(attempt: Attempt) -> Progress:
    try:
        return attempt.adapter.first_step(attempt.grant, attempt.content)
    except Exception:  # the step START raises it again, as a fact
        return START


def _commit_first_steps(attempts: Sequence[Attempt], writer: DatabaseWriter) -> list[Attempt]:
    results = retry_while_database_down(writer.write_many, write_step_beginnings, attempts)
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
    """Publish a post at its platform step by step until it is finished or has to wait; returns that decision."""
    while True:
        fact = attempt.fault or (_search(attempt) if attempt.state.must_search else _step(attempt))
        if isinstance(fact, errors.TokenExpired) and not attempt.tokens_renewed:
            fact = _renew_tokens(attempt)
        decision = decide(attempt.state, fact)
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
        if not retry_while_database_down(attempt.writer.write, write_step_beginnings, attempt):
            raise ClaimLost


def _step(attempt: Attempt) -> Fact:
    """Take one step of publishing a post at the platform, and return the result or the error as a fact."""
    try:
        return attempt.adapter.publish_step(attempt.grant, attempt.content, attempt.progress)
    except errors.PlatformError as error:
        return error
    except Exception:
        logger.exception("The %s adapter raised an unexpected error.", attempt.adapter.name)
        if attempt.state.publishes:
            return errors.OutcomeUnknown("The service failed while it was publishing.")
        return errors.Transient("The service failed before it published anything.")


def _search(attempt: Attempt) -> Fact:
    """Step of the publishing engine: ask the platform if the last attempt, which got no clear answer, published the post."""
    settled_at = (attempt.last_try_at or timezone.now()) + timedelta(seconds=attempt.adapter.settles_seconds)
    try:
        found = attempt.adapter.find_possibly_published_post(attempt.grant, attempt.content, attempt.progress)
    except errors.OutcomeUnknown as error:
        return PostNotFoundAtPlatform(settled_at, settled_at <= timezone.now(), error)
    except errors.PlatformError as error:
        return error
    except Exception:
        logger.exception("The %s adapter raised an unexpected error.", attempt.adapter.name)
        return errors.Transient("The service failed while it searched for the post.")
    if isinstance(found, NotPublishedProof):
        logger.info("%s is not at %s: %s", attempt.target.id, attempt.adapter.name, found.proof)
        return PostNotFoundAtPlatform(settled_at, settled_at <= timezone.now())
    return found


def _renew_tokens(attempt: Attempt) -> Fact:
    """Step of the publishing engine: renew the account's OAuth tokens, and return the result as a fact."""
    attempt.tokens_renewed = True
    try:
        attempt.grant = renew_or_await_tokens(account_id=attempt.target.account_id, stale=attempt.grant)
    except RenewalInProgress as error:
        return TokensBeingRenewed(timezone.now() + timedelta(seconds=error.retry_after or 1.0))
    except errors.TokenExpired as error:
        return errors.ReauthRequired(error.message, suggested_action=error.suggested_action)
    except errors.PlatformError as error:
        return error
    except Exception:
        logger.exception("The tokens of %s could not be renewed.", attempt.target.account_id)
        return errors.Transient("The service failed while it renewed the account's tokens.")
    finally:
        close_connection_before_waiting()
    return TokensRenewed()


def _update_account(attempt: Attempt, error: errors.PlatformError) -> None:
    """After the publishing engine got an error about the whole account (refused tokens, a rate limit), mark the account."""
    if attempt.target.sandbox:
        return
    account_id, run = attempt.target.account_id, attempt.writer.call
    if isinstance(error, errors.ReauthRequired):
        retry_while_database_down(run, mark_needs_reauth_unless_renewed, account_id=account_id, stale=attempt.grant)
    if isinstance(error, errors.RateLimited) and error.retry_after:
        retry_while_database_down(run, delay_posts_to_account, account_id=account_id, seconds=error.retry_after)


def _stop_before(attempt: Attempt, step: TakeStep) -> Decision | None:
    """Before the publishing engine takes its next step, return the decision that stops it; None if the step may begin.

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
    """Save the decision that ends or continues a publishing attempt; retry while the database is down.

    If the claim was lost or the post is another target's, store what is true instead.
    """
    try:
        retry_while_database_down(record_decision, attempt, decision)
    except ClaimLost:
        if not isinstance(decision, Finish) or not decision.published:
            raise
        retry_while_database_down(attempt.writer.call, mark_unconfirmed_as_published, attempt.target, decision)
    except IntegrityError:
        if not isinstance(decision, Finish) or not decision.published:
            raise
        decision = decide(attempt.state, PostOfOtherTarget())
        retry_while_database_down(record_decision, attempt, decision)
