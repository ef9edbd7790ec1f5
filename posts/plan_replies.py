"""How the API shows plans: the answer to a dry run, and the header by which a caller insists on a plan."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import OpenApiParameter

from config.api.errors import ValidationFailed
from config.api.operation import Call, DryRunReply
from posts.plan import GroupChange, Plan

_HASH = re.compile(r"sha256:[0-9a-f]{64}")
PLAN_HASH_HEADER = OpenApiParameter(
    "Plan-Hash",
    {"type": "string", "pattern": f"^{_HASH.pattern}$"},
    OpenApiParameter.HEADER,
    description="The `plan_hash` of a dry run. If the operation would now do anything else, nothing is changed "
    "and the answer is 409 PLAN_CHANGED.",
)


def plan_hash_header(call: Call) -> str | None:
    """Return the Plan-Hash header of a request, if it has one. Raises ValidationFailed for another form."""
    value: str | None = call.request.headers.get("Plan-Hash")
    if value is not None and not _HASH.fullmatch(value):
        raise ValidationFailed.for_field("Plan-Hash", "Must be `sha256:` and 64 hexadecimal digits.")
    return value


def preview_reply(plan: Plan, request: Mapping[str, Any]) -> DryRunReply:
    """Return the answer to a dry run with this request."""
    extra: dict[str, Any] = {"plan_hash": plan.hash}
    if plan.changes[0].before:
        return DryRunReply(request, plan.group, "would_update", extra=extra)
    extra["spend_cap"] = plan.spend_cap
    request = {**request, "workspace_id": plan.workspace_id}
    planned = [_planned(change) for change in plan.changes]
    if not plan.batch:
        extra["validation"] = plan.changes[0].validation
        return DryRunReply(request, planned[0], "would_create", extra=extra)
    extra["validations"] = [change.validation for change in plan.changes]
    would = {"post_groups": planned, "cost_cents": sum(each["cost_cents"] for each in planned)}
    return DryRunReply(request, would, "would_create", extra=extra)


def _planned(change: GroupChange) -> dict[str, Any]:
    cost = sum(target.price_cents for target in change.targets)
    return {"status": change.after.status, "targets": change.targets, "cost_cents": cost}
