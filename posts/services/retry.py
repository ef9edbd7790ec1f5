"""Retry of failed and unconfirmed post targets."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from accounts.platforms.registry import adapter_or_simulator
from billing import selectors as billing
from billing.services import hold_costs
from config.api.caller import Caller, check_account_allowlist, missing_or_foreign_id_error
from config.api.errors import InvalidState
from config.api.webhook_url import check_webhook_url_without_lookup
from config.jobs.wake_up import wake_worker_loop_after_commit
from posts import selectors
from posts.attached_media import attached_assets_by_id, attached_media_from_request, protect_group_media_from_deletion
from posts.events import emit_group_event
from posts.models import PostGroup, PostTarget
from posts.planning import charges_of_targets, check_schedule, paying_agent_id, refuse_agent_needing_approval
from posts.services.changes import audit_group_operation
from posts.states import RETRYABLE, GroupStatus, TargetStatus


def retry_post(
    *,
    caller: Caller,
    post_group_id: str,
    workspace_id: str | None = None,
    webhook_url: str | None = None,
    scheduled_at: datetime | None = None,
    include_unconfirmed: bool = False,
    dry_run: bool = False,
) -> PostGroup:
    """Retry a post group's failed targets, now or at `scheduled_at`.

    Unconfirmed targets are retried only with `include_unconfirmed`. Failed targets are charged again; unconfirmed ones still
    hold their money. Raises NotFound, ScopeMissing, InvalidState (nothing to retry), AgentModeForbids, AccountNotAllowed,
    ValidationFailed, WebhookUrlNotAllowed and the spend errors.
    """
    group = selectors.get_post_group(caller=caller, post_group_id=post_group_id, scope="posts.publish", write=True)
    if workspace_id not in (None, group.workspace_id):
        raise missing_or_foreign_id_error("workspace_id", "workspace")
    refuse_agent_needing_approval(caller)
    check_schedule(scheduled_at)
    check_webhook_url_without_lookup(webhook_url)
    retried = _targets_to_retry(caller, group, include_unconfirmed)
    due = scheduled_at or timezone.now()
    attached_media_from_request(group.media, attached_assets_by_id(group.workspace_id, group.media))
    if dry_run:
        charges = charges_of_targets([target for target in retried if target.status == TargetStatus.FAILED])
        billing.check_charges(
            workspace_id=group.workspace_id, agent_id=paying_agent_id(caller, group), charges=charges, due=due
        )
        _preview(group, retried, webhook_url, scheduled_at, due)
        audit_group_operation(caller, group, "posts.retry", dry_run=True)
        return group
    with transaction.atomic():
        return _retry(caller, group, include_unconfirmed, scheduled_at, webhook_url, due)


def _targets_to_retry(caller: Caller, group: PostGroup, include_unconfirmed: bool) -> list[PostTarget]:
    check_account_allowlist(caller, group.account_ids)
    wanted = {TargetStatus.FAILED} | ({TargetStatus.UNCONFIRMED} if include_unconfirmed else set())
    retried = [target for target in group.targets.all() if target.status in wanted]
    if group.status not in RETRYABLE or not retried:
        raise InvalidState(
            f"The group is {group.status} and has no targets to retry.",
            suggested_action="Check the platform, then retry unconfirmed targets with `include_unconfirmed: true`."
            if group.status == GroupStatus.UNCONFIRMED
            else "Only failed, partial and unconfirmed groups can be retried.",
        )
    return retried


def _retry(
    caller: Caller,
    group: PostGroup,
    include_unconfirmed: bool,
    scheduled_at: datetime | None,
    webhook_url: str | None,
    due: datetime,
) -> PostGroup:
    PostGroup.objects.select_for_update().get(pk=group.pk)
    group = selectors.groups_with_targets().get(pk=group.pk)
    retried = _targets_to_retry(caller, group, include_unconfirmed)
    protect_group_media_from_deletion(group)
    failed = [target for target in retried if target.status == TargetStatus.FAILED]
    charges = charges_of_targets(failed)
    if charges:
        hold_costs(workspace_id=group.workspace_id, agent_id=paying_agent_id(caller, group), charges=charges, due=due)
    for target in retried:
        _reset(target, due)
    status = GroupStatus.SCHEDULED if scheduled_at else GroupStatus.PUBLISHING
    changes: dict[str, object] = {"status": status, "finished_at": None, "updated_at": timezone.now()}
    if scheduled_at or group.scheduled_at:
        changes["scheduled_at"] = due  # the publisher's grace period counts from here
    if webhook_url:
        changes |= {"webhook_url": webhook_url, "event_url": webhook_url}
    PostGroup.objects.filter(pk=group.pk).update(**changes)
    written = selectors.groups_with_targets().get(pk=group.pk)
    if scheduled_at:
        emit_group_event(written)
    audit_group_operation(caller, group, "posts.retry")
    wake_worker_loop_after_commit("publish")
    return written


def _reset(target: PostTarget, due: datetime) -> None:
    """Reset a post target for a retry by a person: it becomes pending and may be attempted as often as a new post.

    A failed target starts from the beginning. An unconfirmed one continues at the step that had begun, so that an idempotent
    platform ignores a repetition and a verifiable one is asked first. At other platforms that step is sent again as if it had
    not begun: the next segment of a thread, or the whole post. The fence is raised so that workers of the previous round can
    no longer write.
    """
    doubtful = target.status == TargetStatus.UNCONFIRMED
    is_searched = doubtful and not _is_at_most_once(target)
    continues = is_searched or (doubtful and target.publishing_progress.segments)
    fresh = {} if continues else {"phase": "", "progress": {}}
    PostTarget.objects.filter(pk=target.pk, status=target.status).update(
        status=TargetStatus.PENDING,
        due_at=due,
        lease_until=None,
        step_begun_at=target.updated_at if is_searched else None,
        maybe_out=doubtful,
        turn_at=None,
        fence=F("fence") + 1,
        round_attempts=0,
        error=None,
        updated_at=timezone.now(),
        **fresh,
    )


def _is_at_most_once(target: PostTarget) -> bool:
    return adapter_or_simulator(target.platform, sandbox=target.sandbox).capabilities.retry_safety == "at_most_once"


def _preview(
    group: PostGroup, retried: list[PostTarget], webhook_url: str | None, scheduled_at: datetime | None, due: datetime
) -> None:
    group.status = GroupStatus.SCHEDULED if scheduled_at else GroupStatus.PUBLISHING
    group.scheduled_at = due if scheduled_at or group.scheduled_at else None
    group.webhook_url, group.finished_at = webhook_url or group.webhook_url, None
    for target in retried:
        target.status, target.due_at, target.error = TargetStatus.PENDING, due, None
