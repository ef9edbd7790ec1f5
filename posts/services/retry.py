"""Retry of failed and unconfirmed post targets."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone

from accounts.platforms.registry import adapter_or_simulator
from config.api.caller import Caller, check_account_allowlist
from config.api.errors import InvalidState, missing_or_foreign_id_error
from config.api.webhook_url import check_webhook_url_without_lookup
from posts import selectors
from posts.attached_media import match_media_to_assets
from posts.content import media_inputs_of_group
from posts.models import PostGroup, PostTarget
from posts.plan import GroupChange, Plan, copy_of_group
from posts.plan_building import agent_id_for_caps, refuse_caller_needing_approval
from posts.services.changes import existing_assets_of_group, withdraw_unsaved_target_from_publisher
from posts.services.commit import plan_and_commit
from posts.states import GROUP_STATUSES_WITH_RETRIES, SCHEDULE_MISSED, GroupStatus, TargetStatus
from posts.target_times import refuse_past_or_too_late_times


def retry_post(
    *,
    caller: Caller,
    post_group_id: str,
    workspace_id: str | None = None,
    webhook_url: str | None = None,
    scheduled_at: datetime | None = None,
    due_at: datetime | None = None,
    include_unconfirmed: bool = False,
    only_missed: bool = False,
    dry_run: bool = False,
    plan_hash: str | None = None,
) -> Plan:
    """Retry a post group's failed targets, now or at `scheduled_at`, even if other targets are still to be published.

    `due_at` is when a retry without a time begins, if not at once: after the seconds in which a person can take it back.
    Unconfirmed targets are retried only with `include_unconfirmed`, and `only_missed` retries those whose times were missed.
    Failed targets are charged again; unconfirmed ones still
    hold their money. Raises NotFound, ScopeMissing, InvalidState (nothing to retry), AgentModeForbids, AccountNotAllowed,
    ValidationFailed, WebhookUrlNotAllowed, PlanChanged and the spend errors.
    """
    return plan_and_commit(
        lambda: plan_retry(
            caller,
            post_group_id,
            workspace_id=workspace_id,
            webhook_url=webhook_url,
            scheduled_at=scheduled_at,
            due_at=due_at,
            include_unconfirmed=include_unconfirmed,
            only_missed=only_missed,
        ),
        dry_run=dry_run,
        plan_hash=plan_hash,
    )


def plan_retry(
    caller: Caller,
    post_group_id: str,
    *,
    workspace_id: str | None = None,
    webhook_url: str | None = None,
    scheduled_at: datetime | None = None,
    due_at: datetime | None = None,
    include_unconfirmed: bool = False,
    only_missed: bool = False,
) -> Plan:
    """Plan the retry of a post group, with the errors of `retry_post`."""
    group = selectors.get_post_group(caller=caller, post_group_id=post_group_id, scope="posts.publish", write=True)
    if workspace_id not in (None, group.workspace_id):
        raise missing_or_foreign_id_error("workspace_id", "workspace")
    refuse_caller_needing_approval(caller)
    refuse_past_or_too_late_times(scheduled_at)
    check_webhook_url_without_lookup(webhook_url)
    after = copy_of_group(group)
    retried = _targets_to_retry(caller, after, include_unconfirmed, only_missed)
    failed = [target for target in retried if target.status == TargetStatus.FAILED]
    assets = existing_assets_of_group(group)
    match_media_to_assets(media_inputs_of_group(group), assets)
    due = scheduled_at or due_at or timezone.now()
    for target in retried:
        _reset(target, due)
        if scheduled_at or target.scheduled_at:
            target.scheduled_at, target.slot = due, False  # the publisher's grace period counts from here
    runs = group.status == GroupStatus.PUBLISHING
    after.status = GroupStatus.SCHEDULED if scheduled_at and not runs else GroupStatus.PUBLISHING
    after.finished_at = None
    if webhook_url:
        after.webhook_url = after.event_url = webhook_url
    change = GroupChange(
        before=group,
        after=after,
        moment=scheduled_at,
        due=due,
        assets=assets,
        holds=failed,
        agent_id_for_caps=agent_id_for_caps(caller, group),
        events=((f"post.{GroupStatus.SCHEDULED}", None),) if scheduled_at else (),
    )
    return Plan("posts.retry", caller, group.workspace_id, [change])


def _targets_to_retry(caller: Caller, group: PostGroup, include_unconfirmed: bool, only_missed: bool) -> list[PostTarget]:
    check_account_allowlist(caller, group.account_ids)
    wanted = {TargetStatus.FAILED} | ({TargetStatus.UNCONFIRMED} if include_unconfirmed else set())
    retried = [target for target in group.targets.all() if target.status in wanted]
    if only_missed:
        retried = [target for target in retried if (target.error or {}).get("code") == SCHEDULE_MISSED]
    if group.status not in GROUP_STATUSES_WITH_RETRIES or not retried:
        raise InvalidState(
            f"The group is {group.status} and has no targets to retry.",
            suggested_action="Check the platform, then retry unconfirmed targets with `include_unconfirmed: true`."
            if group.status == GroupStatus.UNCONFIRMED
            else "Only failed and unconfirmed targets can be retried.",
        )
    return retried


def _reset(target: PostTarget, due: datetime) -> None:
    """Reset a planned target for a retry by a person: it becomes pending and may be attempted as often as a new post.

    A failed target starts from the beginning. An unconfirmed one continues at the step that had begun, so that an idempotent
    platform ignores a repetition and a verifiable one is asked first. At other platforms that step is sent again as if it had
    not begun: the next segment of a thread, or the whole post. The certainty stays, so that an unconfirmed
    target does not fail by a retry. The fence is raised so that workers of the previous round can no longer write.
    """
    doubtful = target.status == TargetStatus.UNCONFIRMED
    is_searched = doubtful and not _is_at_most_once(target)
    if not (is_searched or (doubtful and target.stored_progress.segments)):
        target.phase, target.progress = "", {}
    withdraw_unsaved_target_from_publisher(target)
    target.status, target.due_at, target.error = TargetStatus.PENDING, due, None
    target.step_begun_at, target.round_attempts = target.updated_at if is_searched else None, 0


def _is_at_most_once(target: PostTarget) -> bool:
    return adapter_or_simulator(target.platform, sandbox=target.sandbox).capabilities.retry_safety == "at_most_once"
