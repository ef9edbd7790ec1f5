"""The API views of workspaces and users."""

from __future__ import annotations

from django.utils import timezone

from config.api.operation import Call, DryRunReply, Reply, operation
from config.api.paging import page_response_body
from config.api.policies import Access, Body, Idempotency
from config.api.views import OperationViewSet
from workspaces import selectors, services
from workspaces.serializers import (
    CreateWorkspacePreview,
    CreateWorkspaceSerializer,
    DeleteUserPreview,
    DeleteWorkspacePreview,
    ExportedWorkspaceSerializer,
    UpdateCapsPreview,
    UpdateCapsSerializer,
    UserDeletedSerializer,
    UserExportSerializer,
    WorkspaceEnvelope,
    WorkspaceListPage,
    WorkspacesQuery,
)


def _owner(call: Call) -> str:
    """Return the owner named in the body of POST /workspaces; each owner has a separate set of Idempotency-Keys."""
    owner_user_id = call.data.get("owner_user_id", "")  # missing in an invalid body
    services.require_may_create_workspace_for_owner(call.caller, owner_user_id)
    return f"owner:{owner_user_id}"


class WorkspaceViewSet(OperationViewSet):
    @operation(
        "workspaces.list",
        summary="List the workspaces of an owner",
        query=WorkspacesQuery,
        responses={200: WorkspaceListPage},
    )
    def list(self, call: Call) -> Reply:
        return Reply(
            page_response_body("workspaces", selectors.list_visible_workspaces_of_owner(caller=call.caller, **call.query))
        )

    @operation(
        "workspaces.create",
        summary="Create a workspace",
        access=Access("api_keys.write"),
        body=Body(CreateWorkspaceSerializer),
        responses={201: WorkspaceEnvelope},
        preview=CreateWorkspacePreview,
        idempotency=Idempotency("transaction", actor=_owner),
        errors=("FORBIDDEN", "WORKSPACE_PAUSED", "CONFLICT"),
    )
    def create(self, call: Call) -> Reply | DryRunReply:
        plan = services.create_workspace(caller=call.caller, dry_run=call.dry_run, **call.data)
        if call.dry_run:
            return DryRunReply(call.data, {"workspace": plan.workspace, **plan.provisions}, "would_create")
        return Reply({"workspace": plan.workspace}, 201, plan.workspace.id)

    @operation(
        "workspaces.update_caps",
        summary="Change a workspace's monthly caps",
        description="A cap may be lower than what is already spent; it then stops further spending.",
        access=Access("api_keys.write"),
        body=Body(UpdateCapsSerializer),
        responses={200: WorkspaceEnvelope},
        preview=UpdateCapsPreview,
        idempotency=Idempotency("transaction"),
        errors=("FORBIDDEN", "NOT_FOUND"),
    )
    def update_caps(self, call: Call, workspace_id: str) -> Reply | DryRunReply:
        workspace = services.update_caps(caller=call.caller, workspace_id=workspace_id, dry_run=call.dry_run, **call.data)
        if call.dry_run:
            return DryRunReply({"workspace_id": workspace.id, **call.data}, workspace, "would_update")
        return Reply({"workspace": workspace}, resource_id=workspace.id)

    @operation(
        "workspaces.delete",
        summary="Delete a workspace",
        description="Its keys and agents stop at once. Its tokens and secrets are destroyed and its unfinished posts "
        "cancelled within two minutes.",
        access=Access("api_keys.write"),
        responses={200: WorkspaceEnvelope},
        preview=DeleteWorkspacePreview,
        errors=("REAUTHENTICATION_REQUIRED", "FORBIDDEN", "NOT_FOUND"),
    )
    def destroy(self, call: Call, workspace_id: str) -> Reply | DryRunReply:
        workspace = services.delete_workspace(caller=call.caller, workspace_id=workspace_id, dry_run=call.dry_run)
        if call.dry_run:
            return DryRunReply({}, workspace, "would_delete")
        return Reply({"workspace": workspace})

    @operation(
        "workspaces.export",
        summary="Export a workspace",
        access=Access("api_keys.write"),
        responses={200: ExportedWorkspaceSerializer},
        audited_read=True,
        errors=("FORBIDDEN", "NOT_FOUND"),
    )
    def export(self, call: Call, workspace_id: str) -> Reply:
        workspace = services.load_workspace_and_audit_export(caller=call.caller, workspace_id=workspace_id)
        return Reply({"exported_at": timezone.now(), "workspace": workspace})


class UserViewSet(OperationViewSet):
    @operation(
        "users.delete",
        summary="Delete yourself",
        description="Your name, e-mail address and identity are erased, your sessions and tokens end, and the active "
        "workspaces that you own are deleted (the export lists them).",
        responses={200: UserDeletedSerializer},
        preview=DeleteUserPreview,
        errors=("REAUTHENTICATION_REQUIRED", "USER_SESSION_REQUIRED", "NOT_FOUND"),
    )
    def destroy(self, call: Call, user_id: str) -> Reply | DryRunReply:
        user, deleted = services.erase_user_and_delete_workspaces(caller=call.caller, user_id=user_id, dry_run=call.dry_run)
        if call.dry_run:
            return DryRunReply({}, user, "would_delete")
        return Reply({"user": user, "deleted_workspaces": deleted})

    @operation(
        "users.export",
        summary="Export your own data",
        responses={200: UserExportSerializer},
        audited_read=True,
        errors=("USER_SESSION_REQUIRED", "NOT_FOUND"),
    )
    def export(self, call: Call, user_id: str) -> Reply:
        user, owned = services.load_user_data_and_audit_export(caller=call.caller, user_id=user_id)
        return Reply({"exported_at": timezone.now(), "user": user, "owned_workspaces": owned})
