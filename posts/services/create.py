"""Creating a group: a draft, scheduled, to be published now, or previewed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import transaction

from auditlog.services import record
from billing import selectors as billing
from billing.selectors import SpendCap
from billing.services import hold
from config.api.caller import Caller
from config.db.bell import ring
from posts import selectors
from posts.events import first_event
from posts.media import keep_media
from posts.models import PostGroup, PostTarget
from posts.planning import PostPlan, plan_post
from posts.states import GroupStatus
from webhooks.services import emit_many


@dataclass(frozen=True)
class PostPreview:
    """A dry run's answer: the plan, and the spend cap as it would stand afterwards."""

    plan: PostPlan
    spend_cap: SpendCap


def create_post(*, caller: Caller, dry_run: bool = False, **content: Any) -> PostGroup | PostPreview:
    """Create a post group from the post write fields (posts/planning.py names them).

    Money is held, rows, event and audit entry are written in one transaction; then the publisher's bell rings.
    Raises what `plan_post` raises, and SpendCapExceeded, SocialUrlPostCapExceeded, PostsPerDayCapExceeded.
    """
    plan = plan_post(caller=caller, dry_run=dry_run, **content)
    if dry_run:
        charges = plan.charges if plan.released else []
        spend_cap = billing.check(
            workspace_id=plan.group.workspace_id, agent_id=caller.agent_id, charges=charges, due=plan.due
        )
        _record(caller, plan.group, "posts.create", dry_run=True)
        return PostPreview(plan, spend_cap)
    with transaction.atomic():
        keep_media(plan.group)
        return commit(caller, plan)


def commit(caller: Caller, plan: PostPlan, operation: str = "posts.create") -> PostGroup:
    """Write a plan; the caller's transaction is open, and keeps the group's media."""
    group = plan.group
    if plan.released and plan.charges:
        hold(workspace_id=group.workspace_id, agent_id=group.agent_id, charges=plan.charges, due=plan.due, new=True)
    tells = group.status in (GroupStatus.SCHEDULED, GroupStatus.PENDING_CONFIRMATION)
    group.event_sequence = int(tells)
    group.save(force_insert=True)
    PostTarget.objects.bulk_create(plan.targets)
    selectors.keep_targets(group, plan.targets)
    if tells:
        emit_many([first_event(group)])
    _record(caller, group, operation)
    if group.status == GroupStatus.PUBLISHING:
        ring("publish")
    return group


def _record(caller: Caller, group: PostGroup, operation: str, *, dry_run: bool = False) -> None:
    record(
        caller=caller,
        operation=operation,
        workspace_id=group.workspace_id,
        resource_type="post_group",
        resource_id="" if dry_run else group.id,
        dry_run=dry_run,
        metadata={"status": group.status, "sandbox": group.sandbox},
    )
