"""API views of stored plans: POST /plans, GET /plans/{id} and POST /plans/{id}/commit."""

from __future__ import annotations

import functools
from typing import Any

from rest_framework.response import Response

from config.api.models import IdempotencyRecord
from config.api.operation import Call, DryRunReply, Reply, operation
from config.api.policies import Access, Body, Idempotency
from config.api.views import OperationViewSet
from posts import services
from posts.models import Series, StoredPlan
from posts.operations import PLANNED_OPERATIONS
from posts.plan_building import WRITE_SCOPES
from posts.stored_plan_requests import (
    OPERATIONS,
    commit_can_wait_for_publishing,
    commit_plan_by_id,
    get_groups_changed_by_commit,
    request_of_stored_plan,
    request_to_plan_from_validated_fields,
    wait_until_committed_group_is_finished,
)
from posts.stored_plan_serializers import (
    ChangedByPlanSerializer,
    CommitPlanPreview,
    CommitPlanSerializer,
    CreatePlanSerializer,
    PlanCommitResponseSerializer,
    PlanEnvelope,
)
from posts.views import RELEASE_ERRORS

OPERATION_ERRORS = ("CONTENT_INVALID", "INVALID_STATE", "CONFLICT", *RELEASE_ERRORS)


def _replay_plan(call: Call, record: IdempotencyRecord) -> dict[str, Any]:
    return {"plan": StoredPlan.objects.get(pk=record.resource_id)}  # plans are kept longer than answers are repeated


def _replay_commit(call: Call, record: IdempotencyRecord) -> dict[str, Any]:
    """Return the API response to a repeated commit of a stored plan, which may be deleted by then."""
    committed: dict[str, Any] = record.body or {}
    return _answer(**committed)


class PlanViewSet(OperationViewSet):
    @operation(
        "plans.create",
        summary="Plan an operation on posts, to commit it later",
        description="Nothing is reserved, charged or published. The plan can be committed within an hour, by its maker or by "
        "a person who may confirm posts.",
        access=Access(WRITE_SCOPES),
        body=Body(CreatePlanSerializer),
        responses={201: PlanEnvelope},
        idempotency=Idempotency("transaction", replay=_replay_plan),
        errors=("NOT_FOUND", *OPERATION_ERRORS),
    )
    def create(self, call: Call) -> Reply:
        data = call.data
        planned = request_to_plan_from_validated_fields(
            data["operation"], data.get("post_group_id", ""), data["request"], data["fields"], data.get("workspace_id")
        )
        plan = services.make_and_store_plan(caller=call.caller, planned=planned)
        return Reply({"plan": plan}, 201, plan.id)

    @operation("plans.get", summary="Read a plan", access=Access("posts.read"), responses={200: PlanEnvelope})
    def retrieve(self, call: Call, plan_id: str) -> Reply:
        return Reply({"plan": services.get_stored_plan(caller=call.caller, plan_id=plan_id)})

    @operation(
        "plans.commit",
        summary="Do what a plan says, or nothing",
        description="The answer is that of the operation. If it would now do anything else than the plan says, the answer is "
        "409 PLAN_CHANGED with a new plan. A person's commit of an agent's plan approves it.",
        access=Access(WRITE_SCOPES),
        body=Body(CommitPlanSerializer),
        responses={200: ChangedByPlanSerializer, 201: PlanCommitResponseSerializer},
        preview=CommitPlanPreview,
        idempotency=Idempotency("lease", replay=_replay_commit),
        errors=("NOT_FOUND", "FORBIDDEN", "PLAN_EXPIRED", *OPERATION_ERRORS),
    )
    def commit(self, call: Call, plan_id: str) -> Reply | DryRunReply:
        committed = commit_plan_by_id(caller=call.caller, plan_id=plan_id, dry_run=call.dry_run, plan_hash=call.plan_hash)
        stored, plan = committed.stored, committed.plan
        declared = OPERATIONS[stored.operation]
        if call.dry_run and plan:
            preview = request_of_stored_plan(stored).preview(plan)
            return Reply(None, response=Response(preview, status=declared.preview_status))
        waits = call.data.get("wait") and commit_can_wait_for_publishing(stored)
        return Reply(
            _result(stored),
            max(declared.responses),
            stored.id,
            replay_data={"operation": stored.operation, "ids": stored.result_ids},
            reload_after_commit=functools.partial(_finished, stored) if waits else None,
            headers={} if plan else {"Idempotency-Replayed": "true"},
        )


def _result(stored: StoredPlan) -> dict[str, Any]:
    """Return the API view's response to the commit of a stored plan: what it made or changed, as it is now."""
    return _answer(stored.operation, stored.result_ids or [])


def _answer(operation: str, ids: list[str]) -> dict[str, Any]:
    if operation == "series.create":
        return {"series": Series.objects.get(pk=ids[0])}
    groups = get_groups_changed_by_commit(ids)
    return {"post_groups": groups} if PLANNED_OPERATIONS[operation].several_groups else {"post_group": groups[0]}


def _finished(stored: StoredPlan) -> dict[str, Any]:
    return {"post_group": wait_until_committed_group_is_finished(stored)}
