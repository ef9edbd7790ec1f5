"""Pause and resume a workspace, by its owner or by an operator of the service.

The two pauses are independent: each side lifts its own, and the workspace is active when neither is set. A paused
workspace can be read, refuses writes and does not publish its scheduled posts.
"""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from auditlog.services import record
from config.api.caller import Caller, WorkspaceStatus, not_found_error, require_role
from config.api.errors import WorkspacePaused
from workspaces import selectors
from workspaces.models import Member, Workspace


def pause_workspace(*, caller: Caller, workspace_id: str, dry_run: bool = False) -> Workspace:
    """Pause the workspace; if the caller's side has already paused it, nothing changes.

    Allowed for operators and the signed-in owner. Raises NotFound, UserSessionRequired (a key), Forbidden.
    """
    return _change(caller, workspace_id, pausing=True, dry_run=dry_run)


def resume_workspace(*, caller: Caller, workspace_id: str, dry_run: bool = False) -> Workspace:
    """Lift the pause of the caller's side; the workspace stays paused while the other side has paused it.

    Raises the errors of `pause_workspace`, and WorkspacePaused for an owner if only an operator has paused it.
    """
    return _change(caller, workspace_id, pausing=False, dry_run=dry_run)


def _change(caller: Caller, workspace_id: str, *, pausing: bool, dry_run: bool) -> Workspace:
    if not caller.is_operator:
        require_role(caller, workspace_id, Member.Role.OWNER, write=False)
    with transaction.atomic():
        rows = selectors.live_workspaces().select_related("owner_user").select_for_update(of=("self",), no_key=True)
        workspace = rows.filter(pk=workspace_id).first()
        if workspace is None:
            raise not_found_error(None, "workspace")
        _set_pause(caller, workspace, pausing=pausing)
        if not dry_run:
            workspace.save(update_fields=["owner_paused_at", "operator_paused_at", "status", "updated_at"])
        verb = "pause" if pausing else "resume"
        record(
            caller=caller,
            operation=f"ops.{verb}_workspace" if caller.is_operator else f"workspaces.{verb}",
            workspace_id=workspace.id,
            resource_type="workspace",
            resource_id=workspace.id,
            dry_run=dry_run,
        )
    return workspace


def _set_pause(caller: Caller, workspace: Workspace, *, pausing: bool) -> None:
    now = timezone.now()
    if caller.is_operator:
        workspace.operator_paused_at = (workspace.operator_paused_at or now) if pausing else None
    elif not pausing and workspace.operator_paused_at and not workspace.owner_paused_at:
        raise WorkspacePaused(
            "An operator of the service has paused this workspace, so its owner cannot resume it.",
            suggested_action="Ask the operator of the service.",
        )
    else:
        workspace.owner_paused_at = (workspace.owner_paused_at or now) if pausing else None
    workspace.status = WorkspaceStatus.PAUSED if workspace.paused_by else WorkspaceStatus.ACTIVE
    workspace.updated_at = now
