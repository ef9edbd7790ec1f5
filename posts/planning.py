"""The plan of a post group: what would be created, what it costs and what is wrong with it, before anything is written.

A dry run answers the plan and the real call commits that very plan, so a preview cannot lie.
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
from billing.prices import Charge
from config.api.caller import AgentMode, Caller, check_account_allowlist, require, require_scope, resolve_workspace_id
from config.api.errors import AgentModeForbids, ValidationFailed
from config.api.scopes import any_of
from config.api.trace import current_trace_id
from config.api.webhook_url import check_webhook_url
from config.db.ids import new_id
from media.models import MediaAsset
from posts.attached_media import AttachedMedia, find_attached_assets, resolve_media
from posts.errors import ContentInvalid
from posts.models import PostGroup, PostTarget
from posts.states import GroupStatus
from posts.validation import TargetInput, Validation, validate

WRITE_SCOPES = any_of("posts.draft", "posts.schedule", "posts.publish")
PAST_TOLERANCE = timedelta(seconds=60)
MAX_SCHEDULE_AHEAD = timedelta(days=366)


@dataclass(frozen=True)
class PostPlan:
    """Rows that are ready to be inserted, and what is known of them."""

    group: PostGroup
    targets: list[PostTarget]
    validation: Validation
    charges: list[Charge]
    due: datetime

    @property
    def released(self) -> bool:
        """Whether the group goes out without anybody's further word; money is held then."""
        return self.group.status in (GroupStatus.SCHEDULED, GroupStatus.PUBLISHING)


def plan_post(
    *,
    caller: Caller,
    workspace_id: str | None,
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
    """Plan a group: scopes, mode, times, accounts, content. Money is checked by who commits the plan.

    `assets` are those of the workspace that `media` may name, where the caller has read them for several groups at once.
    Raises ScopeMissing, AgentModeForbids, WorkspacePaused, ValidationFailed, WebhookUrlNotAllowed, AccountNotAllowed,
    ContentInvalid (a draft may hold invalid content, so that it can be repaired).
    """
    workspace_id = resolve_workspace_id(caller, workspace_id)
    require(caller, workspace_id, WRITE_SCOPES, body_field="workspace_id")
    accounts = find_target_accounts(workspace_id, targets)
    if not (dry_run or sandbox or _only_sandbox(accounts, targets)):
        require_scope(caller, "posts.draft" if draft else "posts.schedule" if scheduled_at else "posts.publish")
    status = allowed_status(caller, GroupStatus.DRAFT if draft else _wanted(scheduled_at))
    check_schedule(scheduled_at)
    check_webhook_url(webhook_url)
    attached = resolve_media(media, find_attached_assets(workspace_id, media) if assets is None else assets)
    inputs = resolve_targets(caller, accounts, text, targets, sandbox, attached)
    validation = validate(inputs)
    if not draft and not validation.valid:
        raise content_invalid_error(validation)
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
    group: PostGroup, inputs: Sequence[TargetInput], validation: Validation, kept: Mapping[str, str] | None = None
) -> PostPlan:
    """The plan with its rows: those of a group that is released are due at its time, or now.

    `kept` are the ids of targets that are there already, by their account; their charges must bear the same ids.
    """
    due = group.scheduled_at or timezone.now()
    rows = [
        _target_row(group, position, each, (kept or {}).get(each.account.id)) for position, each in enumerate(inputs)
    ]
    plan = PostPlan(group, rows, validation, charges_of(rows), due)
    if plan.released:
        for row in rows:
            row.due_at = due
    return plan


def allowed_status(caller: Caller, wanted: GroupStatus) -> GroupStatus:
    """What the group becomes under the agent's mode: as wanted, or waiting for a person. Raises AgentModeForbids."""
    if wanted == GroupStatus.DRAFT:
        return wanted
    if caller.mode == AgentMode.DRAFT:
        raise AgentModeForbids("The owner lets this agent make drafts only: send `draft: true`.")
    return GroupStatus.PENDING_CONFIRMATION if caller.mode == AgentMode.REQUIRES_CONFIRMATION else wanted


def check_schedule(scheduled_at: datetime | None) -> None:
    """Up to 60 s in the past counts as now; more than 366 days ahead is refused."""
    now = timezone.now()
    if scheduled_at and scheduled_at < now - PAST_TOLERANCE:
        raise ValidationFailed.of("scheduled_at", "Lies more than 60 seconds in the past.", "past")
    if scheduled_at and scheduled_at > now + MAX_SCHEDULE_AHEAD:
        raise ValidationFailed.of("scheduled_at", "Lies more than 366 days ahead.", "too_far")


def find_target_accounts(workspace_id: str, targets: Sequence[Mapping[str, Any]]) -> dict[str, ConnectedAccount]:
    """The accounts of the workspace that the targets name, by id: one query."""
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
    """The targets with their accounts, out of `accounts_in`. Raises ValidationFailed naming the field, AccountNotAllowed."""
    problems, seen = [], set()
    for index, target in enumerate(targets):
        account = accounts.get(target["connected_account_id"])
        where = f"targets[{index}].connected_account_id"
        if account is None:
            problems.append({"field": where, "code": "not_found", "message": "There is no such account."})
        elif account.platform != target["platform"]:
            message = f"This account is a {account.platform} account."
            problems.append({"field": f"targets[{index}].platform", "code": "mismatch", "message": message})
        elif account.id in seen:
            problems.append({"field": where, "code": "repeated", "message": "The account is a target already."})
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
    """Whose caps a new hold stands under: those of the agent that asks, else those of the agent that posted."""
    return caller.agent_id or group.agent_id


def targets_as_request_data(group: PostGroup) -> list[dict[str, Any]]:
    """The group's targets as a caller would write them."""
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
    """The group's targets with their accounts and media as they stand now, for checking the content again.

    One query, and one for media. Raises ValidationFailed for an asset that is gone.
    """
    accounts = ConnectedAccount.objects.in_bulk([target.account_id for target in group.targets.all()])
    media = resolve_media(group.media, find_attached_assets(group.workspace_id, group.media))
    cached = CallCache()
    return [
        TargetInput(accounts[each.account_id], each.text, each.options, each.shown_text, each.sandbox, media, cached)
        for each in group.targets.all()
    ]


def require_publishing_mode(caller: Caller) -> None:
    """Raises AgentModeForbids for an agent that may publish nothing without a person (dry runs it may make)."""
    if caller.agent_id and caller.mode not in (AgentMode.ALLOW_PUBLISH, AgentMode.DRY_RUN):
        raise AgentModeForbids(
            "The owner lets this agent publish nothing without a person.",
            suggested_action="Ask a person of the workspace to do it.",
        )


def content_invalid_error(validation: Validation) -> ContentInvalid:
    """The refusal of content that the validation calls invalid."""
    return ContentInvalid(details=[issue.body() for issue in validation.errors])


def charges_of(targets: Sequence[PostTarget]) -> list[Charge]:
    """What these targets cost when they are published; the simulator's cost nothing and count for nothing."""
    return [
        Charge(target.id, target.platform, target.price_cents, target.url_posts)
        for target in targets
        if not target.sandbox
    ]


def _only_sandbox(accounts: Mapping[str, ConnectedAccount], targets: Sequence[Mapping[str, Any]]) -> bool:
    named = [accounts.get(target["connected_account_id"]) for target in targets]
    return all(account is not None and account.sandbox for account in named)


def _wanted(scheduled_at: datetime | None) -> GroupStatus:
    return GroupStatus.SCHEDULED if scheduled_at else GroupStatus.PUBLISHING


def _agent_url(caller: Caller) -> str | None:
    """Where an agent's posts send their events when they name no address."""
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
        content_sha256=each.content_sha256,
        price_cents=each.price_cents,
        url_posts=each.url_posts,
    )
