"""Making and committing stored plans (POST /plans): the functions that the API and the MCP endpoint share."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from config.api.caller import Caller
from config.api.operation import Operation, dry_run_response_body
from config.api.serializers import shared_serializer_instance
from posts import selectors, services
from posts.dry_run_reply import dry_run_reply
from posts.errors import PlanChanged
from posts.models import PostGroup, StoredPlan
from posts.operations import PLANNED_OPERATIONS
from posts.plan import Plan
from posts.queue_views import QueueViewSet
from posts.series_views import SeriesViewSet
from posts.services.stored_plans import CommittedPlan, RequestToPlan
from posts.stored_plan_serializers import StoredPlanSerializer, validated_fields_of_request_to_plan
from posts.views import PostViewSet

OPERATIONS: Mapping[str, Operation] = {
    each.operation.name: each.operation
    for viewset in (PostViewSet, QueueViewSet, SeriesViewSet)
    for each in vars(viewset).values()
    if hasattr(each, "operation")
}


def request_to_plan_from_validated_fields(
    name: str, post_group_id: str, request: Mapping[str, Any], fields: Mapping[str, Any], workspace_id: str | None
) -> RequestToPlan:
    """Return the RequestToPlan for the operation `name`, from its request body and the validated `fields` of that body."""
    planned = PLANNED_OPERATIONS[name]
    if workspace_id and not planned.changes_group:
        fields = {**fields, "workspace_id": workspace_id}

    def preview(plan: Plan) -> dict[str, Any]:
        return dry_run_response_body(OPERATIONS[name], dry_run_reply(plan, fields))

    make_plan = functools.partial(planned.make_plan, post_group_id=post_group_id, fields=fields)
    return RequestToPlan(name, post_group_id, request, make_plan, preview, planned.plan_and_commit, workspace_id)


def make_and_store_plan_for_dashboard(
    *, caller: Caller, workspace_id: str, operation: str, request: Mapping[str, Any], dashboard_page: str, group_id: str = ""
) -> StoredPlan:
    """Validate a request of a dashboard page, then make and store its plan, which the page shows before a person confirms it.

    Raises ValidationError (of `request`), and the errors of `make_and_store_plan`.
    """
    planned = request_to_plan_from_validated_fields(
        operation, group_id, request, validated_fields_of_request_to_plan(operation, request), workspace_id
    )
    return services.make_and_store_plan(caller=caller, planned=planned, dashboard_page=dashboard_page)


def request_of_stored_plan(stored: StoredPlan) -> RequestToPlan:
    """Return the request of which a stored plan was made."""
    fields = validated_fields_of_request_to_plan(stored.operation, stored.request)
    return request_to_plan_from_validated_fields(
        stored.operation, stored.post_group_id or "", stored.request, fields, stored.workspace_id
    )


def stored_plan_json(stored: StoredPlan) -> dict[str, Any]:
    """Return a stored plan as JSON data, for answers to requests at the API and at the MCP endpoint."""
    return dict(shared_serializer_instance(StoredPlanSerializer).to_representation(stored))


def commit_plan_by_id(*, caller: Caller, plan_id: str, dry_run: bool = False, plan_hash: str | None = None) -> CommittedPlan:
    """Commit the stored plan with this id; if it has changed since, the error PlanChanged shows the new plan."""
    try:
        return services.commit_stored_plan(
            caller=caller, plan_id=plan_id, request_of=request_of_stored_plan, dry_run=dry_run, plan_hash=plan_hash
        )
    except PlanChanged as error:
        if error.changed_plan:
            error.plan_body = stored_plan_json(error.changed_plan)
        raise


def get_groups_changed_by_commit(result_ids: list[str]) -> list[PostGroup]:
    """Return the post groups that the commit of a stored plan changed, with targets, in the order of these ids."""
    found = selectors.groups_prefetching_targets().in_bulk(result_ids)
    return [found[group_id] for group_id in result_ids]


def commit_can_wait_for_publishing(stored: StoredPlan) -> bool:
    """Return whether the commit of a stored plan can wait until its post group is finished."""
    return stored.operation in ("posts.create", "posts.retry")


def wait_until_committed_group_is_finished(stored: StoredPlan) -> PostGroup:
    """Wait until the only post group of a committed stored plan is finished, at most WAIT_SECONDS; return it."""
    [group_id] = stored.result_ids or [""]
    return services.wait_until_finished(group_id)
