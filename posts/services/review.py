"""Review of post groups by owners and admins, who approve or reject them; agents and editors can do neither."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext_noop

from accounts.models import ConnectedAccount
from config.api.caller import Caller, require_access
from config.api.errors import Conflict, Forbidden, InvalidState
from config.api.scopes import any_scope_of
from posts import selectors
from posts.content import own_scheduled_at
from posts.models import PostGroup
from posts.plan import GroupChange, Plan, copy_of_group
from posts.plan_building import (
    build_targets_to_validate_of_stored_group,
    refuse_caller_needing_approval,
    validate_content_or_raise,
)
from posts.services.changes import (
    existing_assets_of_group,
    mark_cancelled_or_unconfirmed_unsaved,
    unfinished_targets_or_raise_if_begun,
)
from posts.services.commit import plan_and_commit
from posts.slot_choice import FreeSlots
from posts.states import GroupStatus
from posts.target_times import refuse_past_or_too_late_times, scopes_required_by_times, status_when_released

REVIEW_SCOPES = any_scope_of("posts.publish", "posts.schedule")
CONFIRMABLE_GROUP_STATUSES = (GroupStatus.DRAFT, GroupStatus.PENDING_CONFIRMATION)


def confirm_post(
    *,
    caller: Caller,
    post_group_id: str,
    content_version: int,
    scheduled_at: datetime | None = None,
    dry_run: bool = False,
    plan_hash: str | None = None,
) -> Plan:
    """Approve, in a review, a draft or a post awaiting approval, which is then published at its time, or now.

    A target with a time of its own that is still to come is published then.
    `content_version` is the version that the person has read. Validates the content again and holds the money. Raises
    Forbidden (an agent), ScopeMissing, NotFound, InvalidState, Conflict (another version is current), ValidationFailed,
    ContentInvalid, PlanChanged and the spend errors.
    """
    return plan_and_commit(
        lambda: plan_confirm(caller, post_group_id, content_version=content_version, scheduled_at=scheduled_at),
        dry_run=dry_run,
        plan_hash=plan_hash,
    )


def plan_confirm(caller: Caller, post_group_id: str, *, content_version: int, scheduled_at: datetime | None = None) -> Plan:
    """Return the plan that approves a post in a review, so that it can be published. Raises the errors of `confirm_post`."""
    group = _reviewable_group(caller, post_group_id)
    change = _released(caller, group, content_version, scheduled_at)
    after = change.after
    after.status = status_when_released([target.scheduled_at is not None for target in after.targets.all()])
    change = replace(
        change,
        holds=list(after.targets.all()),
        agent_id_for_caps=group.agent_id,
        events=(
            ("post.confirmed", None),
            *(((f"post.{after.status}", None),) if after.status == GroupStatus.SCHEDULED else ()),
        ),
    )
    return Plan("posts.confirm", caller, group.workspace_id, [change])


def request_approval(
    *, caller: Caller, post_group_id: str, content_version: int, scheduled_at: datetime | None = None
) -> Plan:
    """Submit a draft for review: once approved, it is published at `scheduled_at`, at its own set time, or at once.

    For editors whose posts need approval. Raises the errors of `confirm_post` except the spend errors.
    """
    return plan_and_commit(lambda: _plan_request(caller, post_group_id, content_version, scheduled_at))


def _plan_request(caller: Caller, post_group_id: str, content_version: int, scheduled_at: datetime | None) -> Plan:
    group = selectors.get_post_group(caller=caller, post_group_id=post_group_id, scope=REVIEW_SCOPES, write=True)
    if group.status != GroupStatus.DRAFT:
        raise InvalidState(f"The group is {group.status}. Only a draft can be put up for approval.")
    change = _released(caller, group, content_version, scheduled_at)
    change.after.status = GroupStatus.PENDING_CONFIRMATION
    for target in change.after.targets.all():
        target.due_at = None
    status = GroupStatus.PENDING_CONFIRMATION
    change = replace(change, events=((f"post.{status}", None),), audit={"fields": ["status"], "status": status})
    return Plan("posts.update", caller, group.workspace_id, [change])


def _released(caller: Caller, group: PostGroup, content_version: int, scheduled_at: datetime | None) -> GroupChange:
    """Check that a reviewed post group may be approved; return the change that sets its times but not its status."""
    refuse_past_or_too_late_times(scheduled_at)
    now = timezone.now()
    when = scheduled_at or (group.scheduled_at if group.scheduled_at and group.scheduled_at > now else None)
    after = copy_of_group(group)
    after.scheduled_at = when
    _set_times(group, after, scheduled_at, when)
    for scope in scopes_required_by_times([target.scheduled_at is not None for target in after.targets.all()]):
        require_access(caller, group.workspace_id, scope)
    _check_version(group, content_version)
    assets = existing_assets_of_group(group)
    validate_content_or_raise(build_targets_to_validate_of_stored_group(group, assets), group_id=group.id)
    return GroupChange(before=group, after=after, moment=when, due=when or now, assets=assets)


def _set_times(group: PostGroup, after: PostGroup, scheduled_at: datetime | None, when: datetime | None) -> None:
    """Set the times of a reviewed post group's targets for its approval; targets without a time of their own get `when`.

    A target that has no slot yet, or whose slot has passed, takes the next free one of its account.
    """
    now, free = timezone.now(), FreeSlots()
    waiting = [each for each in after.targets.all() if each.slot and not (each.scheduled_at and each.scheduled_at > now)]
    accounts = ConnectedAccount.objects.in_bulk([each.account_id for each in waiting]) if waiting else {}
    for index, target in enumerate(after.targets.all()):
        own = own_scheduled_at(group, target)
        target.scheduled_at = own if own and own > now else scheduled_at if own else when
        if target in waiting:
            target.scheduled_at = free.choose_next_or_raise(accounts[target.account_id], f"targets[{index}].slot")
        target.due_at = target.scheduled_at or now


def reject_post(
    *, caller: Caller, post_group_id: str, reason: str | None = None, dry_run: bool = False, plan_hash: str | None = None
) -> Plan:
    """Reject, in a review, a post group awaiting approval.

    Raises Forbidden (an agent), ScopeMissing, NotFound, InvalidState, PlanChanged.
    """
    return plan_and_commit(lambda: plan_reject(caller, post_group_id, reason=reason), dry_run=dry_run, plan_hash=plan_hash)


def plan_reject(caller: Caller, post_group_id: str, *, reason: str | None = None) -> Plan:
    """Plan the rejection of a reviewed post group, with the errors of `reject_post`."""
    group = _reviewable_group(caller, post_group_id)
    if group.status != GroupStatus.PENDING_CONFIRMATION:
        raise InvalidState(f"The group is {group.status}. Only groups awaiting confirmation can be rejected.")
    after = copy_of_group(group)
    for target in unfinished_targets_or_raise_if_begun(after):
        mark_cancelled_or_unconfirmed_unsaved(target)
    after.status, after.rejection_reason, after.finished_at = GroupStatus.REJECTED, reason, timezone.now()
    change = GroupChange(
        before=group,
        after=after,
        moment=group.scheduled_at,
        due=after.finished_at,
        assets=existing_assets_of_group(group),
        events=((f"post.{GroupStatus.REJECTED}", None),),
    )
    return Plan("posts.reject", caller, group.workspace_id, [change])


def require_approver(caller: Caller, status: str) -> None:
    """Raise Forbidden unless the caller may review a post group with this status, or take its approval back.

    Agents may not. Editors may publish drafts, unless their posts need approval, but do not approve what others ask for.
    """
    if caller.agent_id:
        raise Forbidden("Agents cannot confirm or reject posts. Use a person's session or a workspace key.")
    if status != GroupStatus.DRAFT and not caller.may_approve:
        raise Forbidden(
            gettext_noop("Editors cannot confirm or reject posts."),
            suggested_action=gettext_noop("Ask an owner or admin to do it."),
        )
    refuse_caller_needing_approval(caller)


def _reviewable_group(caller: Caller, post_group_id: str) -> PostGroup:
    group = selectors.get_post_group(caller=caller, post_group_id=post_group_id, scope=REVIEW_SCOPES, write=True)
    require_approver(caller, group.status)
    return group


def _check_version(group: PostGroup, content_version: int) -> None:
    if group.status not in CONFIRMABLE_GROUP_STATUSES:
        raise InvalidState(f"The group is {group.status}. Only drafts and groups awaiting confirmation can be confirmed.")
    if group.content_version != content_version:
        raise Conflict(
            f"The current content version is {group.content_version}, not {content_version}.",
            suggested_action="Read the group again, then confirm the version you read.",
        )
