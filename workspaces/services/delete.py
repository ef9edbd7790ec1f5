"""Delete workspaces: the row stays with status `deleted` until retention purges it."""

from __future__ import annotations

from dataclasses import replace

from django.db import transaction
from django.utils import timezone

from auditlog.services import record
from config.api.caller import Caller, WorkspaceStatus, not_found_error, require_recent_sign_in
from workspaces import selectors
from workspaces.models import Member, Workspace


def delete_workspace(*, caller: Caller, workspace_id: str, dry_run: bool = False) -> Workspace:
    """Mark a workspace as deleted. Its keys and agents stop at once, because authentication checks its status.

    Periodic tasks of the other apps then destroy its secrets, cancel its posts and release held money. Allowed for the
    owner and workspace keys. Raises ScopeMissing, NotFound (also if it is already deleted), Forbidden, WorkspacePaused,
    ReauthenticationRequired.
    """
    workspace = selectors.authorized_workspace(
        caller=caller, workspace_id=workspace_id, roles=(Member.Role.OWNER,), write=True
    )
    require_recent_sign_in(caller)
    with transaction.atomic():
        mark_deleted(caller=caller, workspace=workspace, dry_run=dry_run)
    return workspace


def mark_deleted(*, caller: Caller, workspace: Workspace, dry_run: bool = False) -> None:
    """Set the workspace's status to deleted and write the audit entry. Needs a transaction. Raises NotFound."""
    workspace.status, workspace.updated_at = WorkspaceStatus.DELETED, timezone.now()
    if not dry_run and not selectors.live_workspaces().filter(pk=workspace.pk).update(
        status=workspace.status, updated_at=workspace.updated_at
    ):
        raise not_found_error(None, "workspace")
    record(
        caller=replace(caller, retention_tier=workspace.retention_tier),
        operation="workspaces.delete",
        workspace_id=workspace.id,
        resource_type="workspace",
        resource_id=workspace.id,
        dry_run=dry_run,
    )
