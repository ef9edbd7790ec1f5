"""The API response to a dry run of an operation on posts or series, made from the plan of the operation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from config.api.dry_run import DryRunReply
from posts.plan import GroupChange, Plan
from posts.series_plan import NewSeriesPlan


def dry_run_reply(plan: Plan, request: Mapping[str, Any]) -> DryRunReply:
    """Return the API response to a dry run of an operation on posts or series, which shows the request and its plan."""
    if isinstance(plan, NewSeriesPlan):
        request = {**request, "workspace_id": plan.workspace_id}
        return DryRunReply(request, plan.series, "would_create", plan_hash=plan.hash)
    if plan.operation == "posts.update_queue":
        return DryRunReply(request, {"moves": _moves(plan)}, "would_update", plan_hash=plan.hash)
    if plan.changes[0].before and plan.batch:
        groups = [change.after for change in plan.changes]
        return DryRunReply(request, {"post_groups": groups}, "would_update", plan_hash=plan.hash)
    if plan.changes[0].before:
        return DryRunReply(request, plan.group, "would_update", plan_hash=plan.hash)
    extra: dict[str, Any] = {"spend_cap": plan.spend_cap}
    request = {**request, "workspace_id": plan.workspace_id}
    planned = [_planned(change) for change in plan.changes]
    if not plan.batch:
        extra["validation"] = plan.changes[0].validation
        return DryRunReply(request, planned[0], "would_create", extra=extra, plan_hash=plan.hash)
    extra["validations"] = [change.validation for change in plan.changes]
    would = {"post_groups": planned, "cost_cents": sum(each["cost_cents"] for each in planned)}
    return DryRunReply(request, would, "would_create", extra=extra, plan_hash=plan.hash)


def _moves(plan: Plan) -> list[dict[str, Any]]:
    """Return, for the API response to a dry run of a queue change, the moved targets with their times before and after."""
    pairs = [(before, after) for each in plan.changes for before in each.targets_before for after in each.targets]
    return [
        {
            "post_group_id": before.group_id,
            "scheduled_at_before": before.scheduled_at,
            "slot_before": before.slot,
            "scheduled_at": after.scheduled_at,
            "slot": after.slot,
        }
        for before, after in pairs
        if before.id == after.id and (before.scheduled_at, before.slot) != (after.scheduled_at, after.slot)
    ]


def _planned(change: GroupChange) -> dict[str, Any]:
    cost = sum(target.price_cents for target in change.targets)
    return {"status": change.after.status, "targets": change.targets, "cost_cents": cost}
