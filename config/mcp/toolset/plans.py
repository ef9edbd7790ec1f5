"""The MCP tools plan_post, plan_change, commit_plan: posts go out only when a plan is committed, exactly as planned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from rest_framework import serializers

from accounts.selectors import platform_by_account_id
from config.api import fields
from config.api.caller import AgentMode, Caller
from config.api.error_handlers import log_and_convert_to_api_error
from config.api.errors import ApiError, ValidationFailed
from config.api.serializers import StrictSerializer
from config.mcp.answers import OUTSIDE_TEXT_NOTE, format_local_time, price_in_words
from config.mcp.declaration import Tool, copy_of_serializer_field, only_workspace_id_of_caller
from config.mcp.json_schema import IdOrObjectField
from config.mcp.toolset.posts import GROUP_OUTPUT_SCHEMA, post_group_answer, workspace_zone
from posts.models import StoredPlan
from posts.plan_building import WRITE_SCOPES
from posts.post_group_json import format_timestamp, post_group_json
from posts.serializers.requests import (
    MAX_TARGETS,
    CreatePostSerializer,
    RetryPostSerializer,
    TargetInputSerializer,
    UpdatePostSerializer,
)
from posts.services import make_and_store_plan
from posts.states import GroupStatus
from posts.stored_plan_requests import (
    commit_can_wait_for_publishing,
    commit_plan_by_id,
    get_groups_changed_by_commit,
    request_to_plan_from_validated_fields,
    stored_plan_json,
    wait_until_committed_group_is_finished,
)
from posts.stored_plan_serializers import CommitPlanSerializer, validated_fields_of_request_to_plan

OPERATIONS = {"update": "posts.update", "reschedule": "posts.update", "cancel": "posts.cancel", "retry": "posts.retry"}
FIELDS_OF_CHANGE = {
    "update": {"text", "targets", "media", "scheduled_at"},
    "reschedule": {"scheduled_at"},
    "cancel": set[str](),
    "retry": {"scheduled_at", "include_unconfirmed"},
}
SUGGESTED_ACTIONS = {
    "CONTENT_INVALID": "Apply the repair_hint of each issue, or change the content. Then plan again.",
    "PLAN_CHANGED": "Check the new plan in `plan`. Call commit_plan with its id if this is still wanted.",
    "PLAN_EXPIRED": "Make a new plan with plan_post or plan_change.",
}
WOULD_PHRASES = {
    GroupStatus.DRAFT: "save a draft",
    GroupStatus.PENDING_CONFIRMATION: "ask a person to approve the post",
    GroupStatus.SCHEDULED: "schedule the post",
    GroupStatus.PUBLISHING: "publish the post at once",
    GroupStatus.CANCELLED: "cancel the post",
}


class TargetArguments(TargetInputSerializer):
    """A target in the arguments of plan_post and plan_change: as in the API, but the platform follows from the account."""

    platform = connected_account_id = None  # type: ignore[assignment]
    account_id = fields.Identifier("acc")


def _targets(**kwargs: Any) -> fields.StrictList:
    return fields.StrictList(
        child=IdOrObjectField(TargetArguments(), "account_id"), min_length=1, max_length=MAX_TARGETS, **kwargs
    )


class PlanPostArguments(StrictSerializer):
    """The arguments of the MCP tool plan_post."""

    text = copy_of_serializer_field(CreatePostSerializer, "text")
    targets = _targets(help_text="Accounts, by the ids of context; an object gives one its own text, options or time.")
    scheduled_at = copy_of_serializer_field(CreatePostSerializer, "scheduled_at")
    draft = copy_of_serializer_field(CreatePostSerializer, "draft")
    media = copy_of_serializer_field(CreatePostSerializer, "media")


class PlanChangeArguments(StrictSerializer):
    """The arguments of the MCP tool plan_change."""

    post_group_id = fields.Identifier("pgr")
    change = fields.Choice(choices=list(OPERATIONS))
    text = copy_of_serializer_field(UpdatePostSerializer, "text")
    targets = _targets(required=False, help_text="update: all targets that the post shall have.")
    media = copy_of_serializer_field(UpdatePostSerializer, "media")
    scheduled_at = copy_of_serializer_field(UpdatePostSerializer, "scheduled_at")
    include_unconfirmed = copy_of_serializer_field(RetryPostSerializer, "include_unconfirmed")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        wanted, given = attrs["change"], attrs.keys() - {"post_group_id", "change"}
        if others := given - FIELDS_OF_CHANGE[wanted]:
            message = f"The change {wanted} does not take this."
            raise serializers.ValidationError({name: serializers.ErrorDetail(message, "not_allowed") for name in others})
        if wanted == "reschedule" and "scheduled_at" not in attrs:
            raise serializers.ValidationError({"scheduled_at": serializers.ErrorDetail("Give the new time.", "required")})
        return attrs


class CommitPlanArguments(StrictSerializer):
    """The arguments of the MCP tool commit_plan."""

    plan_id = fields.Identifier("pln")
    wait = copy_of_serializer_field(CommitPlanSerializer, "wait")


def plan_post(caller: Caller, **arguments: Any) -> dict[str, Any]:
    """Run the MCP tool plan_post: store the plan of a new post and return it; nothing is published or reserved."""
    return _plan(caller, "posts.create", arguments, workspace_id=only_workspace_id_of_caller(caller))


def plan_change(caller: Caller, post_group_id: str, change: str, **arguments: Any) -> dict[str, Any]:
    """Run the MCP tool plan_change: store the plan of a change to a post and return it; nothing is changed yet."""
    return _plan(caller, OPERATIONS[change], arguments, post_group_id=post_group_id)


def commit_plan(caller: Caller, plan_id: str, wait: bool = False) -> dict[str, Any]:
    """Run the MCP tool commit_plan and return the post group; an agent in dry_run mode only learns that it could commit."""
    dry_run = caller.mode == AgentMode.DRY_RUN
    with _errors_in_terms_of_tools():
        committed = commit_plan_by_id(caller=caller, plan_id=plan_id, dry_run=dry_run)
    stored = committed.stored
    if dry_run and committed.plan:
        done = "Nothing was done, because this agent may only try things. The plan could be committed as it is."
        return {**_plan_answer(stored), "dry_run": True, "next": done}
    if wait and commit_can_wait_for_publishing(stored):
        wait_until_committed_group_is_finished(stored)
    if stored.operation == "series.create":
        return {"series_id": (stored.result_ids or [None])[0], "plan_id": stored.id, "next": "Its posts are scheduled soon."}
    groups = get_groups_changed_by_commit(stored.result_ids or [])
    if len(groups) == 1:
        return {**post_group_answer(groups[0], groups[0].targets.all()), "plan_id": stored.id}
    shown = [post_group_json(group, group.targets.all()) for group in groups]
    return {"note": OUTSIDE_TEXT_NOTE, "post_groups": shown, "plan_id": stored.id, "next": "get_post shows how each goes on."}


def _plan(
    caller: Caller, operation: str, arguments: dict[str, Any], *, post_group_id: str = "", workspace_id: str | None = None
) -> dict[str, Any]:
    with _errors_in_terms_of_tools():
        request = _as_json(arguments)
        if "targets" in request:
            request["targets"] = _targets_with_platforms(
                workspace_id or only_workspace_id_of_caller(caller), request["targets"]
            )
        checked = validated_fields_of_request_to_plan(operation, request)
        planned = request_to_plan_from_validated_fields(operation, post_group_id, request, checked, workspace_id)
        return _plan_answer(make_and_store_plan(caller=caller, planned=planned))


def _targets_with_platforms(workspace_id: str, targets: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return an MCP tool's targets as the API takes them, with platforms. Raises ValidationFailed for unknown accounts."""
    platforms = platform_by_account_id(workspace_id=workspace_id, account_ids=[target["account_id"] for target in targets])
    unknown = [
        {"field": f"targets[{index}].account_id", "code": "not_found", "message": "This account does not exist."}
        for index, target in enumerate(targets)
        if target["account_id"] not in platforms
    ]
    if unknown:
        raise ValidationFailed(details=unknown)
    return [
        {"platform": platforms[account_id], "connected_account_id": account_id, **others}
        for account_id, others in ((target.pop("account_id"), target) for target in targets)
    ]


def _as_json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _as_json(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_as_json(each) for each in value]
    return format_timestamp(value) if isinstance(value, datetime) else value


@contextmanager
def _errors_in_terms_of_tools() -> Iterator[None]:
    """Return a context manager that rewords API errors for MCP tools: they name tool arguments, and the tool to call next."""
    try:
        yield
    except (ApiError, serializers.ValidationError) as caught:
        error = log_and_convert_to_api_error(caught)
        error.suggested_action = SUGGESTED_ACTIONS.get(error.code, error.suggested_action)
        if error.details is not None:
            error.details = [_with_argument_name(detail) for detail in error.details]
        raise error from caught


def _with_argument_name(detail: dict[str, Any]) -> dict[str, Any]:
    named = {**detail, "field": detail["field"].removeprefix("request.").replace("connected_account_id", "account_id")}
    return {**named, "repair_hint": _with_argument_name(hint)} if (hint := detail.get("repair_hint")) else named


def _plan_answer(stored: StoredPlan) -> dict[str, Any]:
    """Return the answer of the MCP tools plan_post and plan_change: the plan, a summary, its issues, and the next step."""
    zone, plan = workspace_zone(stored.workspace_id), stored_plan_json(stored)
    issues = plan["preview"].get("validation", {}).get("issues", [])
    expires = format_local_time(stored.expires_at, zone)
    warned = " Read issues first." if issues else ""
    return {
        "note": OUTSIDE_TEXT_NOTE,
        "plan": plan,
        "summary": _summary(plan["preview"], zone),
        "issues": issues,
        "expires_local": expires,
        "next": f"Nothing has happened yet.{warned} commit_plan with plan_id {stored.id} does exactly this, until {expires}.",
    }


def _summary(preview: Mapping[str, Any], zone: ZoneInfo) -> str:
    would = preview.get("would_create") or preview["would_update"]
    if "status" not in would:  # a batch
        return f"Would create {len(would['post_groups'])} posts. Cost: {price_in_words(would['cost_cents'])}."
    what = WOULD_PHRASES.get(would["status"], f"leave the post {would['status']}")
    moments = sorted(target["scheduled_at"] for target in would["targets"] if target["scheduled_at"])
    ends = [str(format_local_time(moment, zone)) for moment in dict.fromkeys([*moments[:1], *moments[-1:]])]
    when = f" for {' to '.join(ends)}" if would["status"] == GroupStatus.SCHEDULED else ""
    accounts = f"{len(would['targets'])} account{'' if len(would['targets']) == 1 else 's'}"
    return f"Would {what}{when}: {accounts}. Cost: {price_in_words(would['cost_cents'])}."


_TEXT = {"type": "string"}
_PLAN_OUTPUT = {
    "plan": {
        "type": "object",
        "properties": {
            "id": {**_TEXT, "description": "For commit_plan."},
            "status": {"type": "string", "enum": ["open", "committed", "expired"]},
            "hash": _TEXT,
            "expires_at": _TEXT,
            "preview": {"type": "object", "description": "What would happen, and its cost."},
        },
    },
    "summary": _TEXT,
    "issues": {"type": "array", "items": {"type": "object"}, "description": "Warnings, with repair hints."},
    "next": _TEXT,
}
PLAN_POST = Tool(
    name="plan_post",
    title="Plan a post",
    description="Check a new post and see what would happen and what it would cost. Nothing is sent, held or charged before "
    "commit_plan. Without scheduled_at it would go out at once. Content that a platform refuses is an error with repair "
    "hints.",
    output=_PLAN_OUTPUT,
    run=plan_post,
    arguments=PlanPostArguments,
    operation="plans.create",
    scope=WRITE_SCOPES,
)
PLAN_CHANGE = Tool(
    name="plan_change",
    title="Plan a change of a post",
    description="Plan to update (text, targets, media, scheduled_at; what is left out stays), reschedule (scheduled_at), "
    "cancel, or retry (scheduled_at, include_unconfirmed) a post. Nothing changes before commit_plan.",
    output=_PLAN_OUTPUT,
    run=plan_change,
    arguments=PlanChangeArguments,
    operation="plans.create",
    scope=WRITE_SCOPES,
)
COMMIT_PLAN = Tool(
    name="commit_plan",
    title="Do what a plan says",
    description="Do exactly what a plan shows, or nothing: if anything is different by now, the answer is PLAN_CHANGED with "
    "a new plan. Repeating the call is harmless. If a person must approve the post, approval_url says where they do it; "
    "nothing else counts.",
    output={**GROUP_OUTPUT_SCHEMA, "plan_id": _TEXT},
    run=commit_plan,
    arguments=CommitPlanArguments,
    operation="plans.commit",
    scope=WRITE_SCOPES,
    hints={"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True, "openWorldHint": True},
    asks_for_approval=True,
)
