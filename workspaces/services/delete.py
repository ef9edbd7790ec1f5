"""Deleting workspaces, softly."""

from __future__ import annotations

from dataclasses import replace

from django.db import transaction
from django.utils import timezone

from auditlog.services import record
from config.api.caller import Caller, WorkspaceStatus, absent, require_recent_sign_in
from workspaces import selectors
from workspaces.models import Member, Workspace


def delete_workspace(*, caller: Caller, workspace_id: str, dry_run: bool = False) -> Workspace:
    """Delete a workspace: its keys and agents stop at once, since authentication asks for its status.

    Its secrets, posts and holds are seen to by the sweeps of the apps that own them; the rows are kept. The owner or a
    workspace key may do it. Raises ScopeMissing, NotFound (also when it is deleted already), Forbidden, WorkspacePaused,
    ReauthenticationRequired.
    """
    workspace = selectors.workspace_of(caller=caller, workspace_id=workspace_id, roles=(Member.Role.OWNER,), write=True)
    require_recent_sign_in(caller)
    with transaction.atomic():
        mark_deleted(caller=caller, workspace=workspace, dry_run=dry_run)
    return workspace


def mark_deleted(*, caller: Caller, workspace: Workspace, dry_run: bool = False) -> None:
    """Write the deletion and its audit entry; the caller's transaction is open. Raises NotFound when it came too late."""
    workspace.status, workspace.updated_at = WorkspaceStatus.DELETED, timezone.now()
    if not dry_run and not selectors.live_workspaces().filter(pk=workspace.pk).update(
        status=workspace.status, updated_at=workspace.updated_at
    ):
        raise absent(None, "workspace")
    record(
        caller=replace(caller, retention_tier=workspace.retention_tier),
        operation="workspaces.delete",
        workspace_id=workspace.id,
        resource_type="workspace",
        resource_id=workspace.id,
        dry_run=dry_run,
    )
