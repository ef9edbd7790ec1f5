"""Planning of post groups before they are saved: the rows to create, their price, and the post's validation issues.

A dry run returns the plan and a real call commits the same plan, so previews are exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from accounts.models import ConnectedAccount
from accounts.platforms.text_check import CallCache
from agents.models import Agent
from billing.prices import PublishingCharge
from config.api.caller import (
    AgentMode,
    Caller,
    check_account_allowlist,
    requested_or_own_workspace_id,
    require_access,
    require_scope,
)
from config.api.errors import AgentModeForbids, ValidationFailed
from config.api.scopes import any_of
from config.api.trace import current_trace_id
from config.api.webhook_url import check_webhook_url_without_lookup
from config.db.ids import new_id
from media.models import MediaAsset
from posts.attached_media import AttachedMedia, attached_assets_by_id, attached_media_from_request
from posts.errors import ContentInvalid
from posts.models import PostGroup, PostTarget
from posts.states import GroupStatus
from posts.validation import TargetInput, Validation, validate

WRITE_SCOPES = any_of("posts.draft", "posts.schedule", "posts.publish")
PAST_TOLERANCE = timedelta(seconds=60)
MAX_SCHEDULE_AHEAD = timedelta(days=366)


@dataclass(frozen=True)
class PostPlan:
    """The plan of a post group that is not saved yet: its rows, validation result, charges, and the time of publishing."""

    group: PostGroup
    targets: list[PostTarget]
    validation: Validation
    charges: list[PublishingCharge]
    due: datetime

    @property
    def released(self) -> bool:
        """Return whether the planned post will be published without further approval.

        If so, the post's price is held when the post is saved.
        """
        return self.group.status in (GroupStatus.SCHEDULED, GroupStatus.PUBLISHING)


def plan_post(
    *,
    caller: Caller,
    workspace_id: str | None = None,
    text: str,
    targets: Sequence[Mapping[str, Any]],
    media: Sequence[Mapping[str, Any]] = (),
    scheduled_at: datetime | None = None,
    draft: bool = False,
    webhook_url: str | None = None,
    sandbox: bool = False,
    metadata: Mapping[str, str] | None = None,
    dry_run: bool = False,
    assets: Mapping[str, MediaAsset] | None = None,
) -> PostPlan:
    """Plan a new post group without saving it: check the caller's permissions, the accounts, the time and the content.

    The caller checks the spend limits. `assets` are preloaded media assets, for callers that plan several groups. Drafts may
    have invalid content. Raises ScopeMissing, AgentModeForbids, WorkspacePaused, ValidationFailed, WebhookUrlNotAllowed,
    AccountNotAllowed, ContentInvalid.
    """
    workspace_id = requested_or_own_workspace_id(caller, workspace_id)
    require_access(caller, workspace_id, WRITE_SCOPES, body_field="workspace_id")
    accounts = find_target_accounts(workspace_id, targets)
    if not (dry_run or sandbox or _only_sandbox(accounts, targets)):
        require_scope(caller, "posts.draft" if draft else "posts.schedule" if scheduled_at else "posts.publish")
    wanted = GroupStatus.DRAFT if draft else GroupStatus.SCHEDULED if scheduled_at else GroupStatus.PUBLISHING
    status = initial_status_for_caller(caller, wanted)
    check_schedule(scheduled_at)
    check_webhook_url_without_lookup(webhook_url)
    assets = attached_assets_by_id(workspace_id, media) if assets is None else assets
    attached = attached_media_from_request(media, assets)
    inputs = resolve_targets(caller, accounts, text, targets, sandbox, attached)
    validation = validate_content(inputs, draft=draft)
    group = PostGroup(
        workspace_id=workspace_id,
        status=status,
        text=text,
        media=list(media),
        scheduled_at=scheduled_at,
        sandbox=all(each.sandbox for each in inputs),
        webhook_url=webhook_url,
        event_url=webhook_url or _agent_url(caller),
        metadata=dict(metadata or {}),
        created_by_type=caller.actor_type,
        created_by_id=caller.actor_id,
        agent_id=caller.agent_id,
        trace_id=current_trace_id(),
    )
    return build_plan(group, inputs, validation)


def build_plan(
    group: PostGroup, inputs: Sequence[TargetInput], validation: Validation, existing_ids: Mapping[str, str] | None = None
) -> PostPlan:
    """Build the plan of a new or edited post group: its target rows, their charges, and when they are due.

    If the group is released, its targets are due at the group's time, or now. `existing_ids` are the ids of existing targets
    by account id, which an edit reuses.
    """
    due = group.scheduled_at or timezone.now()
    rows = [
        _target_row(group, position, each, (existing_ids or {}).get(each.account.id)) for position, each in enumerate(inputs)
    ]
    plan = PostPlan(group, rows, validation, charges_of_targets(rows), due)
    if plan.released:
        for row in rows:
            row.due_at = due
    return plan


def initial_status_for_caller(caller: Caller, wanted: GroupStatus) -> GroupStatus:
    """Return the status of a new post: the wanted status, or pending_confirmation if the agent needs a person's approval.

    Raises AgentModeForbids.
    """
    if wanted == GroupStatus.DRAFT:
        return wanted
    if caller.mode == AgentMode.DRAFT:
        raise AgentModeForbids("This agent may only create drafts. Send `draft: true`.")
    return GroupStatus.PENDING_CONFIRMATION if caller.mode == AgentMode.REQUIRES_CONFIRMATION else wanted


def check_schedule(scheduled_at: datetime | None) -> None:
    """Raise ValidationFailed if a publishing time is more than 60 seconds ago or more than 366 days ahead."""
    now = timezone.now()
    if scheduled_at and scheduled_at < now - PAST_TOLERANCE:
        raise ValidationFailed.for_field("scheduled_at", "Must not be more than 60 seconds in the past.", "past")
    if scheduled_at and scheduled_at > now + MAX_SCHEDULE_AHEAD:
        raise ValidationFailed.for_field("scheduled_at", "Must not be more than 366 days ahead.", "too_far")


def find_target_accounts(workspace_id: str, targets: Sequence[Mapping[str, Any]]) -> dict[str, ConnectedAccount]:
    """Return the workspace's accounts that a post request names as targets, in a dictionary by account id.

    Runs one query.
    """
    ids = [target["connected_account_id"] for target in targets]
    return ConnectedAccount.objects.filter(workspace_id=workspace_id).in_bulk(ids)


def resolve_targets(
    caller: Caller,
    accounts: Mapping[str, ConnectedAccount],
    text: str,
    targets: Sequence[Mapping[str, Any]],
    sandbox: bool,
    media: tuple[AttachedMedia, ...],
) -> list[TargetInput]:
    """Combine each target of a post request with its account, text, options and media for validation.

    Raises ValidationFailed, AccountNotAllowed.
    """
    problems, seen = [], set()
    for index, target in enumerate(targets):
        account = accounts.get(target["connected_account_id"])
        where = f"targets[{index}].connected_account_id"
        if account is None:
            problems.append({"field": where, "code": "not_found", "message": "This account does not exist."})
        elif account.platform != target["platform"]:
            message = f"This account is a {account.platform} account."
            problems.append({"field": f"targets[{index}].platform", "code": "mismatch", "message": message})
        elif account.id in seen:
            problems.append({"field": where, "code": "repeated", "message": "This account is already a target of the post."})
        seen.add(target["connected_account_id"])
    if problems:
        raise ValidationFailed(details=problems)
    check_account_allowlist(caller, seen)
    cached = CallCache()
    return [
        TargetInput(
            account=accounts[target["connected_account_id"]],
            text=target.get("text"),
            options=target.get("options", {}),
            shown_text=text if target.get("text") is None else target["text"],
            sandbox=sandbox or accounts[target["connected_account_id"]].sandbox,
            media=media,
            cached=cached,
        )
        for target in targets
    ]


def paying_agent_id(caller: Caller, group: PostGroup) -> str | None:
    """Return the agent whose spend caps limit a post's price: the calling agent, or else the agent that created the post."""
    return caller.agent_id or group.agent_id


def targets_as_request_data(group: PostGroup) -> list[dict[str, Any]]:
    """Return the targets of a stored post group in the format of a POST /posts request."""
    return [
        {
            "platform": target.platform,
            "connected_account_id": target.account_id,
            "text": target.text,
            "options": target.options,
        }
        for target in group.targets.all()
    ]


def stored_target_inputs(group: PostGroup) -> list[TargetInput]:
    """Return a stored post group's targets with current accounts and media, so that the content can be validated again.

    Raises ValidationFailed for a deleted asset.
    """
    accounts = ConnectedAccount.objects.in_bulk([target.account_id for target in group.targets.all()])
    media = attached_media_from_request(group.media, attached_assets_by_id(group.workspace_id, group.media))
    cached = CallCache()
    return [
        TargetInput(accounts[each.account_id], each.text, each.options, each.shown_text, each.sandbox, media, cached)
        for each in group.targets.all()
    ]


def refuse_agent_needing_approval(caller: Caller) -> None:
    """Raise AgentModeForbids if a calling agent needs a person's approval to publish; an agent in dry_run mode passes."""
    if caller.agent_id and caller.mode not in (AgentMode.ALLOW_PUBLISH, AgentMode.DRY_RUN):
        raise AgentModeForbids(
            "This agent may not publish without a person's approval.",
            suggested_action="Ask a member of the workspace to do it.",
        )


def validate_content(inputs: Sequence[TargetInput], *, draft: bool = False, group_id: str = "") -> Validation:
    """Validate the content of a planned post group. Raises ContentInvalid for errors; a draft may have errors.

    `group_id` is the id of a stored group, which is not reported as a duplicate of itself.
    """
    validation = validate(inputs, group_id=group_id)
    if not draft and not validation.valid:
        raise ContentInvalid(details=[issue.body() for issue in validation.errors])
    return validation


def charges_of_targets(targets: Sequence[PostTarget]) -> list[PublishingCharge]:
    """Return the charges for publishing these post targets; targets in the sandbox cost nothing."""
    return [
        PublishingCharge(target.id, target.platform, target.price_cents, target.url_posts)
        for target in targets
        if not target.sandbox
    ]


def _only_sandbox(accounts: Mapping[str, ConnectedAccount], targets: Sequence[Mapping[str, Any]]) -> bool:
    named = [accounts.get(target["connected_account_id"]) for target in targets]
    return all(account is not None and account.sandbox for account in named)


def _agent_url(caller: Caller) -> str | None:
    """Return the webhook URL of the calling agent, which receives events of posts that have no webhook URL."""
    if caller.agent_id is None:
        return None
    return Agent.objects.filter(pk=caller.agent_id).values_list("webhook_url", flat=True).first()


def _target_row(group: PostGroup, position: int, each: TargetInput, target_id: str | None) -> PostTarget:
    return PostTarget(
        id=target_id or new_id("tgt"),
        group=group,
        account=each.account,
        platform=each.account.platform,
        position=position,
        sandbox=each.sandbox,
        text=each.text,
        options=dict(each.options),
        content_sha256=each.duplicate_sha256,
        price_cents=each.price_cents,
        url_posts=each.billed_posts_with_url,
    )
