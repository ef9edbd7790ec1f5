"""Builds the plans of new post groups, with checks and parts that the plans of other operations on posts use, too."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext_noop

from accounts.models import ConnectedAccount
from accounts.platforms.text_check import TextCheckCache
from agents.models import Agent
from config.api.caller import (
    AgentMode,
    Caller,
    check_account_allowlist,
    requested_or_own_workspace_id,
    require_access,
    require_scope,
)
from config.api.errors import AgentModeForbids, Forbidden, ValidationFailed
from config.api.scopes import any_scope_of
from config.api.trace import current_trace_id
from config.api.webhook_url import check_webhook_url_without_lookup
from media.models import MediaAsset
from posts import selectors
from posts.attached_media import AttachedMedia, existing_workspace_assets_by_id, match_media_to_assets
from posts.content import PostInput, TargetInput, media_inputs_of_group
from posts.duplicates import ContentKey, content_hashes, find_accounts_and_duplicates
from posts.errors import ContentInvalid
from posts.models import PostGroup, PostTarget
from posts.plan import GroupChange
from posts.slot_choice import FreeSlots, choose_times_of_targets
from posts.states import GroupStatus
from posts.target_times import (
    refuse_past_or_too_late_times,
    scopes_required_by_times,
    status_when_released,
    whether_targets_have_times,
)
from posts.validation import TargetToValidate, Validation, validate_targets

WRITE_SCOPES = any_scope_of("posts.draft", "posts.schedule", "posts.publish")
APPROVAL_MESSAGE = gettext_noop("In this workspace, posts by editors need the approval of an owner or admin.")
STATUSES_WITH_EVENT_ON_CREATION = (GroupStatus.SCHEDULED, GroupStatus.PENDING_CONFIRMATION)


@dataclass(frozen=True)
class RowsForPlans:
    """The rows needed to build a plan of posts, read at once: accounts and media by id, and duplicates of the content."""

    accounts: Mapping[str, ConnectedAccount]
    assets: Mapping[str, MediaAsset]
    duplicates: Mapping[ContentKey, str]
    free_slots: FreeSlots = field(default_factory=FreeSlots)

    @classmethod
    def read(
        cls, workspace_id: str, posts: Sequence[PostInput], *, group_id: str = "", other_media: Iterable[str] = ()
    ) -> RowsForPlans:
        """Read the rows that plans of these posts need: accounts and duplicates in one query, media in another.

        `group_id` is the stored group that the content is for, which is no duplicate of it. `other_media` are read as well.
        """
        accounts = {target.connected_account_id for post in posts for target in post.targets}
        hashes = {content_hash for post in posts for content_hash in content_hashes(post)}
        found, duplicates = find_accounts_and_duplicates(workspace_id, accounts, hashes, ignored_group_id=group_id)
        media_ids = [*(each.media_id for post in posts for each in post.media), *other_media]
        return cls(found, existing_workspace_assets_by_id(workspace_id, media_ids), duplicates)


def new_group_change(
    caller: Caller, post: PostInput, *, dry_run: bool = False, rows: RowsForPlans | None = None
) -> GroupChange:
    """Return the change of a plan that creates a post group, after checks of permissions, accounts, time and content.

    The caller of this function checks the spend limits. `rows` is what was read for several groups at once. Drafts may have
    invalid content. Raises ScopeMissing, AgentModeForbids, WorkspacePaused, ValidationFailed, WebhookUrlNotAllowed,
    AccountNotAllowed, ContentInvalid.
    """
    workspace_id = requested_or_own_workspace_id(caller, post.workspace_id)
    require_access(caller, workspace_id, WRITE_SCOPES, body_field="workspace_id")
    rows = rows or RowsForPlans.read(workspace_id, [post])
    accounts, assets, free = rows.accounts, rows.assets, rows.free_slots
    scheduled = whether_targets_have_times(post.scheduled_at, post.targets)
    if not (dry_run or post.sandbox or _only_sandbox(accounts, post.targets)):
        for scope in ["posts.draft"] if post.draft else scopes_required_by_times(scheduled):
            require_scope(caller, scope)
    status = initial_status_for_caller(caller, GroupStatus.DRAFT if post.draft else status_when_released(scheduled))
    refuse_past_or_too_late_times(post.scheduled_at, post.targets)
    check_webhook_url_without_lookup(post.webhook_url)
    inputs = build_targets_to_validate(
        caller, accounts, post.text, post.targets, post.sandbox, match_media_to_assets(post.media, assets)
    )
    validation = validate_content_or_raise(inputs, draft=post.draft, duplicates=rows.duplicates)
    group = _build_group(caller, workspace_id, post, status)
    group.sandbox = all(each.sandbox for each in inputs)
    now = timezone.now()
    times = choose_times_of_targets(post.scheduled_at, post.targets, accounts, draft=post.draft, free=free)
    targets = [
        build_post_target(group, position, each, at, now, slot=bool(given.slot))
        for position, (each, at, given) in enumerate(zip(inputs, times, post.targets, strict=True))
    ]
    selectors.set_prefetched_targets(group, targets)
    return GroupChange(
        before=None,
        after=group,
        moment=post.scheduled_at,
        due=post.scheduled_at or now,
        assets=assets,
        validation=validation,
        holds=targets if is_scheduled_or_publishing(group) else (),
        agent_id_for_caps=caller.agent_id,
        workspace=next(iter(accounts.values())).workspace,
        events=((f"post.{status}", None),) if status in STATUSES_WITH_EVENT_ON_CREATION else (),
        audit={"status": status, "sandbox": group.sandbox},
    )


def _build_group(caller: Caller, workspace_id: str, post: PostInput, status: GroupStatus) -> PostGroup:
    return PostGroup(
        workspace_id=workspace_id,
        status=status,
        text=post.text,
        media=[each.as_stored_json() for each in post.media],
        scheduled_at=post.scheduled_at,
        webhook_url=post.webhook_url,
        event_url=post.webhook_url or _agent_url(caller),
        metadata=dict(post.metadata),
        created_by_type=caller.actor_type,
        created_by_id=caller.actor_id,
        agent_id=caller.agent_id,
        trace_id=current_trace_id(),
    )


def is_scheduled_or_publishing(group: PostGroup) -> bool:
    """Return whether a planned post group is scheduled or publishing: it needs no approval, and its price is reserved."""
    return group.status in (GroupStatus.SCHEDULED, GroupStatus.PUBLISHING)


def build_post_target(
    group: PostGroup, position: int, given: TargetToValidate, at: datetime | None, now: datetime, *, slot: bool
) -> PostTarget:
    """Build the unsaved target of a new or edited post group; if the group is released, it is due at `at` or else now."""
    return PostTarget(
        group=group,
        account=given.account,
        platform=given.account.platform,
        position=position,
        sandbox=given.sandbox,
        text=given.text,
        options=dict(given.options),
        content_sha256=given.duplicate_sha256,
        price_cents=given.price_cents,
        url_posts=given.billed_posts_with_url_count,
        scheduled_at=at,
        slot=slot,
        due_at=(at or now) if is_scheduled_or_publishing(group) else None,
    )


def initial_status_for_caller(caller: Caller, wanted: GroupStatus) -> GroupStatus:
    """Return the status of a planned new post: the wanted one, or pending_confirmation if the caller needs approval.

    Raises AgentModeForbids.
    """
    if wanted == GroupStatus.DRAFT:
        return wanted
    if caller.mode == AgentMode.DRAFT:
        raise AgentModeForbids("This agent may only create drafts. Send `draft: true`.")
    return GroupStatus.PENDING_CONFIRMATION if caller.needs_approval else wanted


def build_targets_to_validate(
    caller: Caller,
    accounts: Mapping[str, ConnectedAccount],
    text: str,
    targets: Sequence[TargetInput],
    sandbox: bool,
    media: tuple[AttachedMedia, ...],
) -> list[TargetToValidate]:
    """For plans and validation of a post, build its TargetToValidate objects, with account, text, options and media.

    Raises ValidationFailed, AccountNotAllowed.
    """
    problems, seen = [], set()
    for index, target in enumerate(targets):
        account = accounts.get(target.connected_account_id)
        where = f"targets[{index}].connected_account_id"
        if account is None:
            problems.append({"field": where, "code": "not_found", "message": "This account does not exist."})
        elif account.platform != target.platform:
            message = f"This account is a {account.platform} account."
            problems.append({"field": f"targets[{index}].platform", "code": "mismatch", "message": message})
        elif account.id in seen:
            problems.append({"field": where, "code": "repeated", "message": "This account is already a target of the post."})
        seen.add(target.connected_account_id)
    if problems:
        raise ValidationFailed(details=problems)
    check_account_allowlist(caller, seen)
    cached = TextCheckCache()
    return [
        TargetToValidate(
            account=accounts[target.connected_account_id],
            text=target.text,
            options=target.options,
            shown_text=text if target.text is None else target.text,
            sandbox=sandbox or accounts[target.connected_account_id].sandbox,
            media=media,
            cached=cached,
        )
        for target in targets
    ]


def agent_id_for_caps(caller: Caller, group: PostGroup) -> str | None:
    """Return the agent whose spend caps a post's plan counts against: the calling agent, or else the post's creator."""
    return caller.agent_id or group.agent_id


def build_targets_to_validate_of_stored_group(group: PostGroup, assets: Mapping[str, MediaAsset]) -> list[TargetToValidate]:
    """For the plan of a stored post group, build its TargetToValidate objects, with the current accounts and media.

    Raises ValidationFailed for a deleted asset.
    """
    accounts = ConnectedAccount.objects.in_bulk([target.account_id for target in group.targets.all()])
    media = match_media_to_assets(media_inputs_of_group(group), assets)
    cached = TextCheckCache()
    return [
        TargetToValidate(accounts[each.account_id], each.text, each.options, each.shown_text, each.sandbox, media, cached)
        for each in group.targets.all()
    ]


def refuse_caller_needing_approval(caller: Caller) -> None:
    """Refuse to build a plan that publishes without approval if the caller, an agent or an editor, needs approval."""
    if caller.needs_approval and caller.is_user:
        raise Forbidden(APPROVAL_MESSAGE, suggested_action=gettext_noop("Ask an owner or admin to do it."))
    if caller.needs_approval:
        raise AgentModeForbids(
            "This agent may not publish without a person's approval.",
            suggested_action="Ask a member of the workspace to do it.",
        )


def validate_content_or_raise(
    inputs: Sequence[TargetToValidate],
    *,
    draft: bool = False,
    group_id: str = "",
    duplicates: Mapping[ContentKey, str] | None = None,
    ignored: Container[str] = (),
) -> Validation:
    """Validate the content of a post group whose plan is built. Raises ContentInvalid; a draft may have errors.

    `group_id` is the id of a stored group, which is not reported as a duplicate of itself. `duplicates` are given if found.
    The targets with the `ignored` account ids are not changed, so their content need not be valid any more.
    """
    found = validate_targets(inputs, group_id=group_id, duplicates=duplicates)
    validation = Validation([each for each in found.targets if each.target.account.id not in ignored], found.issues)
    if not draft and not validation.valid:
        raise ContentInvalid(details=[issue.as_json() for issue in validation.errors])
    return validation


def _only_sandbox(accounts: Mapping[str, ConnectedAccount], targets: Sequence[TargetInput]) -> bool:
    named = [accounts.get(target.connected_account_id) for target in targets]
    return all(account is not None and account.sandbox for account in named)


def _agent_url(caller: Caller) -> str | None:
    """Return the webhook URL of the calling agent, which a planned post gets if the request names none."""
    if caller.agent_id is None:
        return None
    return Agent.objects.filter(pk=caller.agent_id).values_list("webhook_url", flat=True).first()
