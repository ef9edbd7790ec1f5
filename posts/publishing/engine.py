"""The engine that publishes a post to one account: it calls the platform step by step, and records the outcomes.

1. `claim_due` (config/jobs/due.py) leases due targets to this worker, called by the worker loop (worker_loop.py).
2. `preflight` (preconditions.py) ends or postpones those that must not be published now.
3. `begin_attempts` (attempts.py) commits that the first step begins; here the step runs at the platform, outside any
   transaction. Its result or error is a fact.
4. `decide` (decision.py) says what follows from the fact: the next step, a later attempt or the end.
5. `record_decision` (outcomes.py) writes the decision with the money and the events, guarded by the claim's fence.

So the row of a dead worker shows how far it came, and a worker that lost its claim cannot write. If the outcome of a step
that publishes is unknown, the step is repeated on idempotent platforms, searched for first on verifiable ones, and otherwise
never repeated. After a search it is sent again only if the platform proves the post absent, or if a person asks for it.
"""

from __future__ import annotations

import logging
import time
from datetime import timedelta

from django.db import IntegrityError
from django.db.models import QuerySet
from django.utils import timezone

from accounts.platforms import errors
from accounts.platforms.types import NotPublishedProof, Progress
from accounts.services import RenewalInProgress, mark_needs_reauth, pause_account, refresh_grant
from config.db.connection import release_connection
from config.db.outage import retry_while_database_down
from posts.models import PostTarget
from posts.publishing import outcomes
from posts.publishing.attempts import Attempt, begin_attempts, begin_step, log_errors
from posts.publishing.decision import decide
from posts.publishing.decision_types import (
    Decision,
    Fact,
    Finish,
    PostNotFoundAtPlatform,
    PostOfOtherTarget,
    RenewTokens,
    TakeStep,
    TargetState,
    TokensBeingRenewed,
    TokensRenewed,
)
from posts.publishing.outcomes import LEASE, ClaimLost
from posts.publishing.preconditions import stop_if_not_allowed
from posts.publishing.writer import run_on_writer

logger = logging.getLogger(__name__)


def publishable_targets() -> QuerySet[PostTarget]:
    """Return a queryset of post targets that also loads the related rows which the publishing engine needs."""
    return PostTarget.objects.select_related("group__workspace", "account")


def publish_target(target: PostTarget) -> None:
    """Publish a post target that this worker has claimed, until publishing ends or has to wait, for example for a retry."""
    for attempt in begin_attempts([target]):
        continue_attempt(attempt)


def continue_attempt(attempt: Attempt) -> None:
    """Continue an attempt to publish a post until publishing ends or has to wait; logs errors instead of raising them."""
    with log_errors(attempt.target):
        _record(attempt, attempt.stop or _take_steps(attempt))


def _take_steps(attempt: Attempt) -> Decision:
    """Take the steps of publishing a post until publishing ends or has to wait; returns that decision without saving it."""
    target, progress = attempt.target, attempt.target.publishing_progress
    while True:
        state = attempt.state(progress)
        fact = attempt.fault or (_search(attempt, progress) if state.must_search else _step(attempt, progress))
        decision = decide(state, fact)
        if isinstance(decision, RenewTokens):
            fact = _renew_tokens(attempt)
            decision = decide(attempt.state(progress), fact)
        if isinstance(fact, errors.PlatformError):
            _update_account(attempt, fact)
        if not isinstance(decision, TakeStep):
            return decision
        if decision.progress:
            progress, target.step_begun_at, target.worker_losses = decision.progress, None, 0
            target.phase, target.progress = progress.phase, dict(progress.state)
        attempt.unanswered, target.maybe_out = decision.unanswered, decision.maybe_sent
        if stop := _stop_before(attempt, decision, attempt.state(progress)):
            return stop
        begin_step(target, progress)


def _step(attempt: Attempt, progress: Progress) -> Fact:
    """Take one step of publishing a post at the platform; returns the platform's result or error.

    If it raises an unexpected error while publishing, the outcome is unknown.
    """
    try:
        return attempt.adapter.publish(attempt.grant, attempt.content, progress)
    except errors.PlatformError as error:
        return error
    except Exception:
        logger.exception("The %s adapter raised an unexpected error.", attempt.adapter.name)
        if progress.phase in attempt.adapter.irreversible:
            return errors.OutcomeUnknown("The service failed while it was publishing.")
        return errors.Transient("The service failed before it published anything.")


def _search(attempt: Attempt, progress: Progress) -> Fact:
    """Ask the platform whether the last attempt, which got no clear answer, has published the post."""
    now = timezone.now()
    settled_at = (attempt.target.step_begun_at or now) + timedelta(seconds=attempt.adapter.settles_seconds)
    try:
        found = attempt.adapter.find(attempt.grant, attempt.content, progress)
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
    """Renew the OAuth tokens of a post's account during publishing; returns TokensRenewed, or why this did not succeed."""
    attempt.tokens_renewed = True
    try:
        attempt.grant = refresh_grant(account_id=attempt.target.account_id, stale=attempt.grant)
    except RenewalInProgress as error:
        return TokensBeingRenewed(timezone.now() + timedelta(seconds=error.retry_after or 1.0))
    except errors.TokenExpired as error:
        return errors.AccountDisconnected(error.message, suggested_action=error.suggested_action)
    except errors.PlatformError as error:
        return error
    except Exception:
        logger.exception("The tokens of %s could not be renewed.", attempt.target.account_id)
        return errors.Transient("The service failed while it renewed the account's tokens.")
    finally:
        release_connection()
    return TokensRenewed()


def _update_account(attempt: Attempt, error: errors.PlatformError) -> None:
    """Mark an account as needing reconnection if the platform refused its tokens, or pause it after a rate limit."""
    if attempt.target.sandbox:
        return
    account_id = attempt.target.account_id
    if isinstance(error, errors.AccountDisconnected):
        retry_while_database_down(run_on_writer, mark_needs_reauth, account_id=account_id, stale=attempt.grant)
    if isinstance(error, errors.RateLimited) and error.retry_after:
        retry_while_database_down(run_on_writer, pause_account, account_id=account_id, seconds=error.retry_after)


def _stop_before(attempt: Attempt, step: TakeStep, state: TargetState) -> Decision | None:
    """Check before a publishing step whether the post may still be published; returns the decision to stop, or None.

    Workspace and account are checked before a post is sent again, and after a long preparation read again, too.
    """
    target = attempt.target
    long = time.monotonic() - attempt.began > LEASE.total_seconds()
    if not step.sends_again and (not long or state.in_doubt or not state.publishes or state.published):
        return None
    if long:
        run_on_writer(target.group.workspace.refresh_from_db, fields=["status"])
        run_on_writer(target.account.refresh_from_db, fields=["status"])
    return stop_if_not_allowed(target, state, untried=step.sends_again and state.attempt == 1)


def _record(attempt: Attempt, decision: Decision) -> None:
    """Save the publisher's decision about a post target, such as a retry or the final status.

    If the claim was lost or the post is another target's, store what is true instead.
    """
    target = attempt.target
    try:
        retry_while_database_down(outcomes.record_decision, target, decision)
    except ClaimLost:
        if not isinstance(decision, Finish) or not decision.published:
            raise
        retry_while_database_down(run_on_writer, outcomes.record_late_publication, target, decision)
    except IntegrityError:
        if not isinstance(decision, Finish) or not decision.published:
            raise
        decision = decide(attempt.state(target.publishing_progress), PostOfOtherTarget())
        retry_while_database_down(outcomes.record_decision, target, decision)
