"""Creating several groups at once: all of them, or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from auditlog.services import record
from billing import selectors as billing
from billing.selectors import SpendCap
from config.api.caller import Caller, require
from config.api.errors import ApiError, ValidationFailed
from posts.models import PostGroup
from posts.planning import WRITE_SCOPES, PostPlan, plan_post, workspace_of
from posts.services.create import commit


@dataclass(frozen=True)
class BatchPreview:
    """A dry run's answer: the plans, and the spend cap as it would stand after all of them."""

    workspace_id: str
    plans: list[PostPlan]
    spend_cap: SpendCap


def create_batch(
    *, caller: Caller, posts: Sequence[Mapping[str, Any]], workspace_id: str | None = None, dry_run: bool = False
) -> list[PostGroup] | BatchPreview:
    """Create groups in one transaction; `details` of a refusal name the post, such as `posts[2].targets[0].text`.

    Raises what `create_post` raises.
    """
    chosen = workspace_of(caller, workspace_id)
    require(caller, chosen, WRITE_SCOPES, body_field="workspace_id")
    plans = [_plan(caller, chosen, index, post, dry_run) for index, post in enumerate(posts)]
    # The real call asks as well, so that it refuses in the dry run's words; `commit` holds against races.
    parts = [(plan.due, plan.charges if plan.released else []) for plan in plans]
    spend_cap = billing.check_all(workspace_id=chosen, agent_id=caller.agent_id, parts=parts)
    if dry_run:
        record(
            caller=caller,
            operation="posts.create_batch",
            workspace_id=chosen,
            resource_type="post_group",
            dry_run=True,
            metadata={"posts": len(plans)},
        )
        return BatchPreview(chosen, plans, spend_cap)
    with transaction.atomic():
        # In the order of their times, so that two batches lock the months' counters in one order.
        made = {plan.group.id: commit(caller, plan, "posts.create_batch") for plan in sorted(plans, key=_due)}
    return [made[plan.group.id] for plan in plans]


def _plan(caller: Caller, workspace_id: str, index: int, post: Mapping[str, Any], dry_run: bool) -> PostPlan:
    where = f"posts[{index}]"
    if post.get("workspace_id") not in (None, workspace_id):
        raise ValidationFailed.of(f"{where}.workspace_id", "All posts of a batch are of one workspace.", "mismatch")
    try:
        return plan_post(caller=caller, dry_run=dry_run, **{**post, "workspace_id": workspace_id})
    except ApiError as error:
        if error.details:
            error.details = [_under(where, row) for row in error.details]
        raise


def _under(where: str, row: dict[str, Any]) -> dict[str, Any]:
    """A row of `details` whose paths, the repair's as well, begin at the batch."""
    moved = {**row, "field": f"{where}.{row['field']}"}
    if hint := row.get("repair_hint"):
        moved["repair_hint"] = {**hint, "field": f"{where}.{hint['field']}"}
    return moved


def _due(plan: PostPlan) -> Any:
    return plan.due
