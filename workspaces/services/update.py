"""Change a workspace's name and time zone."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from auditlog.services import record
from config.api.caller import Caller, not_found_error
from workspaces import selectors
from workspaces.models import Member, Workspace


def update_workspace(*, caller: Caller, workspace_id: str, name: str, default_timezone: str) -> Workspace:
    """Set the workspace's name and IANA time zone. The slug and the times of scheduled posts do not change.

    Allowed for the owner, admins and workspace keys. Raises ScopeMissing, NotFound, Forbidden, WorkspacePaused.
    """
    workspace = selectors.authorized_workspace(
        caller=caller, workspace_id=workspace_id, roles=(Member.Role.OWNER, Member.Role.ADMIN), write=True
    )
    fields = {"name": name, "default_timezone": default_timezone}
    changed = [field for field, value in fields.items() if getattr(workspace, field) != value]
    with transaction.atomic():
        if not selectors.live_workspaces().filter(pk=workspace.pk).update(**fields, updated_at=timezone.now()):
            raise not_found_error(None, "workspace")
        record(
            caller=caller,
            operation="workspaces.update",
            workspace_id=workspace.id,
            resource_type="workspace",
            resource_id=workspace.id,
            metadata={"changed": changed},
        )
    workspace.refresh_from_db()
    return workspace
