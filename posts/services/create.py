"""Creation of single post groups and of batches, with dry runs; and validation of content without creating a post."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.db import transaction

from auditlog.services import record_entries, record_entry
from billing import selectors as billing
from billing.caps import SpendCapStatus, utc_day_of
from billing.services import hold_costs
from config.api.caller import Caller, requested_or_own_workspace_id, require_access
from config.api.errors import ApiError, ValidationFailed
from config.api.scopes import any_of
from config.jobs.wake_up import wake_worker_loop_after_commit
from posts import selectors
from posts.attached_media import (
    attached_assets_by_id,
    attached_media_from_request,
    lock_media_of_groups,
    protect_group_media_from_deletion,
)
from posts.events import build_group_event
from posts.models import PostGroup, PostTarget
from posts.planning import WRITE_SCOPES, PostPlan, find_target_accounts, plan_post, resolve_targets
from posts.states import GroupStatus
from posts.validation import Validation, validate
from webhooks.services import store_events_with_deliveries

ANY_POSTS_SCOPE = any_of("posts.read", "posts.draft", "posts.schedule", "posts.publish")
_REPORTED_ON_CREATION = (GroupStatus.SCHEDULED, GroupStatus.PENDING_CONFIRMATION)


@dataclass(frozen=True)
class CreationPreview:
    """The result of a dry run of creating posts: the planned posts, and what they would leave of the spend cap."""

    plans: list[PostPlan]
    spend_cap: SpendCapStatus


def validate_post(
    *,
    caller: Caller,
    text: str,
    targets: Sequence[Mapping[str, Any]],
    media: Sequence[Mapping[str, Any]] = (),
    workspace_id: str | None = None,
    group: PostGroup | None = None,
) -> Validation:
    """Validate a post's content against the platforms of its targets, without creating the post.

    `group` is the stored group that the content will replace, if any. Invalid content is in the result and raises nothing.
    Raises ScopeMissing, ValidationFailed (workspace_id, media, targets), AccountNotAllowed.
    """
    chosen = requested_or_own_workspace_id(caller, workspace_id)
    require_access(caller, chosen, ANY_POSTS_SCOPE, write=False, body_field="workspace_id")
    attached = attached_media_from_request(media, attached_assets_by_id(chosen, media))
    sandbox, group_id = (group.sandbox, group.id) if group else (False, "")
    inputs = resolve_targets(caller, find_target_accounts(chosen, targets), text, targets, sandbox, attached)
    return validate(inputs, group_id=group_id)


def create_post(*, caller: Caller, dry_run: bool = False, **content: Any) -> PostGroup | CreationPreview:
    """Create a post group, or in a dry run only return a preview of the post and of the spend cap.

    `content` are the parameters of `plan_post`, such as text and targets. Holds the money and writes rows, event and audit
    entry in one transaction, then wakes the publisher. Raises the errors of `plan_post`, and SpendCapExceeded,
    SocialUrlPostCapExceeded, PostsPerDayCapExceeded.
    """
    plan = plan_post(caller=caller, dry_run=dry_run, **content)
    if dry_run:
        charges = plan.charges if plan.released else []
        spend_cap = billing.check_charges(
            workspace_id=plan.group.workspace_id, agent_id=caller.agent_id, charges=charges, due=plan.due
        )
        record_entry(
            caller=caller,
            operation="posts.create",
            workspace_id=plan.group.workspace_id,
            resource_type="post_group",
            dry_run=True,
            metadata=_audit_metadata(plan.group),
        )
        return CreationPreview([plan], spend_cap)
    with transaction.atomic():
        protect_group_media_from_deletion(plan.group)
        return _commit_plans(caller, [plan])[0]


def create_batch(
    *, caller: Caller, posts: Sequence[Mapping[str, Any]], workspace_id: str | None = None, dry_run: bool = False
) -> list[PostGroup] | CreationPreview:
    """Create a batch of post groups, either all or none.

    Error `details` name the post, such as `posts[2].targets[0].text`. Raises the errors of `create_post`.
    """
    chosen = requested_or_own_workspace_id(caller, workspace_id)
    require_access(caller, chosen, WRITE_SCOPES, body_field="workspace_id")
    assets = attached_assets_by_id(chosen, [each for post in posts for each in post.get("media", ())])
    plans = []
    for index, post in enumerate(posts):
        with _naming_post_in_errors(index):
            if post.get("workspace_id") not in (None, chosen):
                raise ValidationFailed.for_field(
                    "workspace_id", "All posts of a batch must belong to one workspace.", "mismatch"
                )
            fields = {**post, "workspace_id": chosen}
            plans.append(plan_post(caller=caller, dry_run=dry_run, assets=assets, **fields))
    # Checked here so that dry runs and real calls refuse alike; `_commit_plans` guards against races.
    parts = [(plan.due, plan.charges if plan.released else []) for plan in plans]
    spend_cap = billing.check_charges_by_due_time(workspace_id=chosen, agent_id=caller.agent_id, parts=parts)
    if dry_run:
        record_entry(
            caller=caller,
            operation="posts.create_batch",
            workspace_id=chosen,
            resource_type="post_group",
            dry_run=True,
            metadata={"posts": len(plans)},
        )
        return CreationPreview(plans, spend_cap)
    with transaction.atomic():
        lock_media_of_groups(plan.group for plan in plans)
        for index, plan in enumerate(plans):
            with _naming_post_in_errors(index):
                protect_group_media_from_deletion(plan.group)
        return _commit_plans(caller, plans, "posts.create_batch")


def _commit_plans(caller: Caller, plans: Sequence[PostPlan], operation: str = "posts.create") -> list[PostGroup]:
    """Create the planned post groups of one workspace in the caller's database transaction.

    The transaction has reserved the media.
    """
    groups = [plan.group for plan in plans]
    for group in groups:
        group.event_sequence = int(group.status in _REPORTED_ON_CREATION)  # its first event, if it has one
    PostGroup.objects.bulk_create(groups)
    PostTarget.objects.bulk_create([target for plan in plans for target in plan.targets])
    for plan in plans:
        selectors.set_prefetched_targets(plan.group, plan.targets)
    store_events_with_deliveries([build_group_event(group) for group in groups if group.event_sequence])
    record_entries(
        caller=caller,
        operation=operation,
        workspace_id=groups[0].workspace_id,
        resource_type="post_group",
        resources={group.id: _audit_metadata(group) for group in groups},
    )
    # Last, because concurrent posts of a workspace wait for the lock on its spend counters.
    _hold_money(plans)
    if any(group.status == GroupStatus.PUBLISHING for group in groups):
        wake_worker_loop_after_commit("publish")
    return groups


def _hold_money(plans: Sequence[PostPlan]) -> None:
    """Hold (reserve) the price of new posts against the spend caps, in the order of their publishing days.

    Concurrent batches then lock the spend counters in one order, so that they cannot deadlock.
    """
    paying = sorted((plan for plan in plans if plan.released and plan.charges), key=attrgetter("due"))
    for _, of_day in groupby(paying, key=lambda plan: utc_day_of(plan.due)):
        first, *others = of_day
        charges = [*first.charges, *(charge for plan in others for charge in plan.charges)]
        group = first.group
        hold_costs(workspace_id=group.workspace_id, agent_id=group.agent_id, charges=charges, due=first.due, new=True)


def _audit_metadata(group: PostGroup) -> dict[str, Any]:
    return {"status": group.status, "sandbox": group.sandbox}


@contextmanager
def _naming_post_in_errors(index: int) -> Iterator[None]:
    """Return a context manager that adds a post's index in the batch to API errors which are raised for the post."""
    try:
        yield
    except ApiError as error:
        if error.details:
            error.details = [_with_prefix(f"posts[{index}]", row) for row in error.details]
        raise


def _with_prefix(where: str, row: dict[str, Any]) -> dict[str, Any]:
    """Return an entry of an API error's `details` with a prefix, such as `posts[2]` in a batch, before its field names."""
    moved = {**row, "field": f"{where}.{row['field']}"}
    if hint := row.get("repair_hint"):
        moved["repair_hint"] = {**hint, "field": f"{where}.{hint['field']}"}
    return moved
