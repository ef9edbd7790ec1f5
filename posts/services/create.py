"""Creation of post groups: drafts, scheduled posts, posts to publish now, and previews of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.db import transaction

from auditlog.services import record, record_many
from billing import selectors as billing
from billing.caps import SpendCap, day_of
from billing.services import hold
from config.api.caller import Caller
from config.jobs.wake_up import wake
from posts import selectors
from posts.attached_media import reserve_group_media
from posts.events import creation_event
from posts.models import PostGroup, PostTarget
from posts.planning import PostPlan, plan_post
from posts.states import GroupStatus
from webhooks.services import emit_many

_REPORTED_ON_CREATION = (GroupStatus.SCHEDULED, GroupStatus.PENDING_CONFIRMATION)


@dataclass(frozen=True)
class PostPreview:
    """The result of a post's dry run: the plan, and the spend cap after it."""

    plan: PostPlan
    spend_cap: SpendCap


def create_post(*, caller: Caller, dry_run: bool = False, **content: Any) -> PostGroup | PostPreview:
    """Create a post group; `content` are the parameters of `plan_post`.

    Holds the money and writes rows, event and audit entry in one transaction, then wakes the publisher. Raises the errors of
    `plan_post`, and SpendCapExceeded, SocialUrlPostCapExceeded, PostsPerDayCapExceeded.
    """
    plan = plan_post(caller=caller, dry_run=dry_run, **content)
    if dry_run:
        charges = plan.charges if plan.released else []
        spend_cap = billing.check_charges(
            workspace_id=plan.group.workspace_id, agent_id=caller.agent_id, charges=charges, due=plan.due
        )
        record(
            caller=caller,
            operation="posts.create",
            workspace_id=plan.group.workspace_id,
            resource_type="post_group",
            dry_run=True,
            metadata=_facts(plan.group),
        )
        return PostPreview(plan, spend_cap)
    with transaction.atomic():
        reserve_group_media(plan.group)
        return commit_plans(caller, [plan])[0]


def commit_plans(caller: Caller, plans: Sequence[PostPlan], operation: str = "posts.create") -> list[PostGroup]:
    """Save the planned post groups of one workspace, in the caller's transaction, which has reserved the media."""
    groups = [plan.group for plan in plans]
    for group in groups:
        group.event_sequence = int(group.status in _REPORTED_ON_CREATION)
    PostGroup.objects.bulk_create(groups)
    PostTarget.objects.bulk_create([target for plan in plans for target in plan.targets])
    for plan in plans:
        selectors.set_prefetched_targets(plan.group, plan.targets)
    emit_many([creation_event(group) for group in groups if group.event_sequence])
    record_many(
        caller=caller,
        operation=operation,
        workspace_id=groups[0].workspace_id,
        resource_type="post_group",
        resources={group.id: _facts(group) for group in groups},
    )
    # Last, because concurrent posts of a workspace wait for the lock on its spend counters.
    _hold(plans)
    if any(group.status == GroupStatus.PUBLISHING for group in groups):
        wake("publish")
    return groups


def _hold(plans: Sequence[PostPlan]) -> None:
    """Hold the money of released plans, ordered by time so that concurrent batches lock the counters in the same order."""
    paying = sorted((plan for plan in plans if plan.released and plan.charges), key=attrgetter("due"))
    for _, of_day in groupby(paying, key=lambda plan: day_of(plan.due)):
        first, *others = of_day
        charges = [*first.charges, *(charge for plan in others for charge in plan.charges)]
        group = first.group
        hold(workspace_id=group.workspace_id, agent_id=group.agent_id, charges=charges, due=first.due, new=True)


def _facts(group: PostGroup) -> dict[str, Any]:
    return {"status": group.status, "sandbox": group.sandbox}
