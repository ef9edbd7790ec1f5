"""API views of stored plans: make a plan, read it, and commit it."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from rest_framework.response import Response

from config.api.models import IdempotencyRecord
from config.api.operation import Call, DryRunReply, Operation, Reply, dry_run_body, operation
from config.api.policies import Access, Body, Idempotency
from config.api.serializers import shared_serializer_instance
from config.api.views import OperationViewSet
from posts import selectors, services
from posts.errors import PlanChanged
from posts.models import StoredPlan
from posts.operations import PLANNED_OPERATIONS
from posts.plan import Plan
from posts.plan_replies import preview_reply
from posts.plan_serializers import (
    CommitPlanPreview,
    CommitPlanSerializer,
    CommittedPlanSerializer,
    CreatePlanSerializer,
    PlanEnvelope,
    StoredPlanSerializer,
    validated_request,
)
from posts.planning import WRITE_SCOPES
from posts.serializers.responses import PostGroupEnvelope
from posts.services.stored_plans import RequestToPlan
from posts.views import RELEASE_ERRORS, PostViewSet

OPERATIONS: Mapping[str, Operation] = {
    each.operation.name: each.operation for each in vars(PostViewSet).values() if hasattr(each, "operation")
}
OPERATION_ERRORS = ("CONTENT_INVALID", "INVALID_STATE", "CONFLICT", *RELEASE_ERRORS)


def _replay_plan(call: Call, record: IdempotencyRecord) -> dict[str, Any]:
    return {"plan": StoredPlan.objects.get(pk=record.resource_id)}  # plans are kept longer than answers are repeated


def _replay_commit(call: Call, record: IdempotencyRecord) -> dict[str, Any]:
    """Return the answer to a repeated commit; by then the plan itself may be deleted."""
    committed: dict[str, Any] = record.body or {}
    return _groups_as_answer(**committed)


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
        planned = _planned_request(
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
        responses={200: PostGroupEnvelope, 201: CommittedPlanSerializer},
        preview=CommitPlanPreview,
        idempotency=Idempotency("lease", replay=_replay_commit),
        errors=("NOT_FOUND", "FORBIDDEN", "PLAN_EXPIRED", *OPERATION_ERRORS),
    )
    def commit(self, call: Call, plan_id: str) -> Reply | DryRunReply:
        try:
            committed = services.commit_stored_plan(
                caller=call.caller,
                plan_id=plan_id,
                request_of=_request_of_plan,
                dry_run=call.dry_run,
                plan_hash=call.plan_hash,
            )
        except PlanChanged as error:
            if error.changed_plan:
                error.plan_body = dict(shared_serializer_instance(StoredPlanSerializer).to_representation(error.changed_plan))
            raise
        stored, plan = committed.stored, committed.plan
        declared = OPERATIONS[stored.operation]
        if call.dry_run and plan:
            preview = _request_of_plan(stored).preview(plan)
            return Reply(None, response=Response(preview, status=declared.preview_status))
        waits = call.data.get("wait") and stored.operation in ("posts.create", "posts.retry")
        return Reply(
            _result(stored),
            max(declared.responses),
            stored.id,
            replay_data={"operation": stored.operation, "ids": stored.result_ids},
            reload_after_commit=functools.partial(_finished, stored) if waits else None,
            headers={} if plan else {"Idempotency-Replayed": "true"},
        )


def _planned_request(
    name: str, post_group_id: str, request: Mapping[str, Any], fields: Mapping[str, Any], workspace_id: str | None
) -> RequestToPlan:
    """Return the request of a plan; `fields` are its validated body."""
    planned = PLANNED_OPERATIONS[name]
    if workspace_id and not planned.changes_group:
        fields = {**fields, "workspace_id": workspace_id}

    def preview(plan: Plan) -> dict[str, Any]:
        return dry_run_body(OPERATIONS[name], preview_reply(plan, fields))

    make_plan = functools.partial(planned.make_plan, post_group_id=post_group_id, fields=fields)
    return RequestToPlan(name, post_group_id, request, make_plan, preview, workspace_id)


def _request_of_plan(stored: StoredPlan) -> RequestToPlan:
    fields = validated_request(stored.operation, stored.request)
    return _planned_request(stored.operation, stored.post_group_id or "", stored.request, fields, stored.workspace_id)


def _result(stored: StoredPlan) -> dict[str, Any]:
    """Return the answer to the commit of a plan: its post groups as they are now."""
    return _groups_as_answer(stored.operation, stored.result_ids or [])


def _groups_as_answer(operation: str, ids: list[str]) -> dict[str, Any]:
    found = selectors.groups_with_targets().in_bulk(ids)
    groups = [found[group_id] for group_id in ids]
    return {"post_groups": groups} if operation == "posts.create_batch" else {"post_group": groups[0]}


def _finished(stored: StoredPlan) -> dict[str, Any]:
    [group_id] = stored.result_ids or [""]
    return {"post_group": services.wait_until_finished(group_id)}
