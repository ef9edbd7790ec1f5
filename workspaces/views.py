"""Workspaces over the API."""

from __future__ import annotations

from config.api.operation import Call, Preview, Reply, operation
from config.api.paging import page_body
from config.api.views import OperationViewSet
from workspaces import selectors, services
from workspaces.serializers import (
    CreateWorkspacePreview,
    CreateWorkspaceSerializer,
    WorkspaceEnvelope,
    WorkspacePage,
    WorkspacesQuery,
)


def _owner(call: Call) -> str:
    """An owner and the keys of their workspaces share Idempotency-Keys; nobody else is to be shown a replay."""
    services.require_maker(call.caller, call.data["owner_user_id"])
    return f"owner:{call.data['owner_user_id']}"


class WorkspaceViewSet(OperationViewSet):
    @operation(
        "workspaces.list",
        summary="List the workspaces of an owner",
        query=WorkspacesQuery,
        responses={200: WorkspacePage},
    )
    def list(self, call: Call) -> Reply:
        return Reply(page_body("workspaces", selectors.workspaces_of(caller=call.caller, **call.query)))

    @operation(
        "workspaces.create",
        summary="Create a workspace",
        body=CreateWorkspaceSerializer,
        responses={201: WorkspaceEnvelope},
        preview=CreateWorkspacePreview,
        idempotent="transaction",
        idempotency_actor=_owner,
        errors=("FORBIDDEN", "SCOPE_MISSING", "WORKSPACE_PAUSED"),
    )
    def create(self, call: Call) -> Reply | Preview:
        plan = services.create_workspace(caller=call.caller, dry_run=call.dry_run, **call.data)
        if call.dry_run:
            return Preview(call.data, {"workspace": plan.workspace, **plan.provisions}, "would_create")
        return Reply({"workspace": plan.workspace}, 201, plan.workspace.id)
