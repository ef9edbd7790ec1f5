"""One claimed target through its platform's steps.

Before each step its phase is committed as begun; the step runs outside any transaction; its outcome is written together
with the money and the events, filtered by the fence of the claim. So a worker that dies leaves a row that says how far
it came, and one that lost its claim cannot write any more.
"""

from __future__ import annotations

import logging
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from accounts.models import ConnectedAccount
from accounts.platforms import errors
from accounts.platforms.base import START, Platform
from accounts.platforms.registry import publisher
from accounts.platforms.types import Content, Grant, Progress, Published
from accounts.services import mark_needs_reauth, refresh_grant
from config.api.caller import WorkspaceStatus
from config.api.trace import start_trace
from config.db.due import held
from config.db.encryption import SealedValueError
from posts.models import PostGroup, PostTarget
from posts.publishing import outcomes
from posts.publishing.outcomes import ClaimLost
from posts.states import GroupStatus, TargetStatus, before

logger = logging.getLogger(__name__)
LEASE = timedelta(seconds=20)  # the duty renews it while the target is in hand (posts/publishing/duty.py)
PAUSED_LOOK_AGAIN = timedelta(seconds=30)


def publish_target(claimed: PostTarget) -> None:
    """Take a claimed target as far as it goes now. Nothing is raised: every end is written to its row."""
    target = PostTarget.objects.select_related("group__workspace", "account").get(pk=claimed.pk)
    target.fence, target.lease_until = claimed.fence, claimed.lease_until
    start_trace(target.group.trace_id)
    try:
        if not _stopped_beforehand(target):
            _take_steps(target)
    except ClaimLost:
        logger.warning("%s is another worker's now.", target.id)


def _stopped_beforehand(target: PostTarget) -> bool:
    """Whether something that is known before the platform is asked ends or postpones the publication."""
    workspace = target.group.workspace
    if workspace.status == WorkspaceStatus.PAUSED:
        outcomes.postpone(target, timezone.now() + PAUSED_LOOK_AGAIN)
        return True
    worn_out = target.round_attempts > len(settings.PUBLISH_RETRY_SCHEDULE)
    if _may_be_out(target):
        if _is_idempotent(_adapter(target)) and not worn_out:
            return False  # brought to its end, whatever has changed since
        outcomes.unconfirmed(target, "The worker that was publishing this died, and the platform cannot be asked.")
        return True
    if target.step_begun and worn_out:
        message = "The worker that was preparing this died at every attempt."
        outcomes.failed(target, "PLATFORM_UNAVAILABLE", message, "Report the trace_id to the operator of the service.")
        return True
    if workspace.status == WorkspaceStatus.DELETED:
        outcomes.failed(target, "WORKSPACE_DELETED", "The workspace was deleted.", "Nothing: the post was stopped.")
        return True
    if target.account.status != ConnectedAccount.Status.ACTIVE:
        message = f"The account is {target.account.status}."
        outcomes.failed(target, "ACCOUNT_NEEDS_REAUTH", message, errors.AccountDisconnected.suggested_action)
        return True
    grace = timedelta(hours=settings.SCHEDULE_GRACE_HOURS)
    scheduled_at = target.group.scheduled_at
    if not target.round_attempts and scheduled_at and timezone.now() > scheduled_at + grace:
        message = f"It could not go out within {settings.SCHEDULE_GRACE_HOURS} hours of its time."
        outcomes.failed(target, "SCHEDULE_MISSED", message, "Retry the post if it should still go out.")
        return True
    return False


def _may_be_out(target: PostTarget) -> bool:
    """Whether an earlier try of the step to come may have published. `_begin_step` leaves the answer as it was."""
    return target.step_begun and target.phase in _adapter(target).irreversible


def _is_idempotent(adapter: Platform) -> bool:
    return adapter.capabilities.retry_safety == "idempotent"


def _adapter(target: PostTarget) -> Platform:
    return publisher(target.platform, sandbox=target.sandbox)


def _take_steps(target: PostTarget) -> None:
    adapter = _adapter(target)
    try:
        grant = target.account.grant()
    except SealedValueError:
        logger.exception("The account of %s cannot be opened.", target.id)
        _begin_step(target, target.phase or START.phase, first=True)
        fault = errors.Transient("The service cannot open the account's credentials at the moment.")
        return _record_fault(target, adapter, Grant(), fault)
    first, renewed = True, False
    while True:
        progress = Progress(target.phase or START.phase, target.progress)
        _begin_step(target, progress.phase, first=first)
        content = Content(target.id, target.shown_text, target.options, target.round_attempts)
        try:
            result = _step(adapter, grant, content, progress)
        except errors.TokenExpired as error:
            if renewed:
                return _record_fault(target, adapter, grant, errors.AccountDisconnected(error.message))
            try:
                grant, renewed = refresh_grant(account_id=target.account_id, stale=grant), True
            except errors.PlatformError as fault:
                return _record_fault(target, adapter, grant, fault)
        except errors.PlatformError as error:
            return _record_fault(target, adapter, grant, error)
        else:
            if isinstance(result, Published):
                return outcomes.published(target, result)
            outcomes.advance(target, result)
            if result.ready_at is not None:
                return None
        first = False


def _step(adapter: Platform, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
    """One step; a fault that the adapter did not foresee counts as unknown where the step may have published."""
    try:
        return adapter.publish(grant, content, progress)
    except errors.PlatformError:
        raise
    except Exception as fault:
        logger.exception("The %s adapter met a fault that it does not know.", adapter.name)
        if progress.phase in adapter.irreversible:
            raise errors.OutcomeUnknown("The service met a fault while it was publishing.") from fault
        raise errors.Transient("The service met a fault before it published anything.") from fault


def _begin_step(target: PostTarget, phase: str, *, first: bool) -> None:
    """Commit that this step begins, and extend the lease; the first step of a claim is an attempt."""
    now = timezone.now()
    spent = int(first and target.status != TargetStatus.PROCESSING)
    target.attempts, target.round_attempts = target.attempts + spent, target.round_attempts + spent
    if not held(PostTarget.objects.filter(status__in=before(TargetStatus.PUBLISHING)), target).update(
        status=TargetStatus.PUBLISHING,
        phase=phase,
        step_begun=True,
        attempts=target.attempts,
        round_attempts=target.round_attempts,
        lease_until=now + LEASE,
        updated_at=now,
    ):
        raise ClaimLost
    target.status, target.phase = TargetStatus.PUBLISHING, phase
    if first and target.group.status == GroupStatus.SCHEDULED:
        PostGroup.objects.filter(pk=target.group_id, status=GroupStatus.SCHEDULED).update(
            status=GroupStatus.PUBLISHING, updated_at=now
        )


def _record_fault(target: PostTarget, adapter: Platform, grant: Grant, error: errors.PlatformError) -> None:
    """Write what a fault means for the target: failed, tried again later, or unconfirmed.

    What may be out from an earlier try is not called failed, since a retry would then send it anew; only the platform's
    rejection of its repetition proves that it is not there.
    """
    if isinstance(error, errors.AccountDisconnected | errors.TokenExpired) and not target.sandbox:
        mark_needs_reauth(account_id=target.account_id, stale=grant)
    code, lasting = _meaning(error, adapter)
    may_be_out = isinstance(error, errors.OutcomeUnknown) or (
        _may_be_out(target) and not isinstance(error, errors.ContentRejected)
    )
    if not lasting and outcomes.retry(target, code, error, may_be_out=may_be_out):
        return None
    if may_be_out:
        return outcomes.unconfirmed(target, error.message)
    gave_up = "The service gave up after its last attempt; retry the post later."
    return outcomes.failed(target, code, error.message, error.suggested_action if lasting else gave_up)


def _meaning(error: errors.PlatformError, adapter: Platform) -> tuple[str, bool]:
    """The code that callers see, and whether another attempt would be pointless."""
    if isinstance(error, errors.ContentRejected):
        return "PLATFORM_REJECTED", True
    if isinstance(error, errors.AccountDisconnected | errors.TokenExpired):
        return "ACCOUNT_NEEDS_REAUTH", True
    if isinstance(error, errors.OutcomeUnknown):
        return "PUBLISH_OUTCOME_UNKNOWN", error.final or not _is_idempotent(adapter)
    if isinstance(error, errors.RateLimited):
        return "PLATFORM_RATE_LIMITED", False
    return "PLATFORM_UNAVAILABLE", isinstance(error, errors.ConnectionUnavailable)
