"""Export the stored data of a workspace or a user. Each export writes an audit entry."""

from __future__ import annotations

from dataclasses import dataclass

from auditlog.services import record
from config.api.caller import Caller
from workspaces import selectors
from workspaces.models import Member, User, Workspace


@dataclass(frozen=True)
class UserExport:
    """An exported user and the active workspaces that they own."""

    user: User
    owned_workspaces: list[Workspace]


def export_workspace(*, caller: Caller, workspace_id: str) -> Workspace:
    """Return the workspace for export by its owner or its keys. Raises ScopeMissing, NotFound, Forbidden."""
    workspace = selectors.authorized_workspace(
        caller=caller, workspace_id=workspace_id, roles=(Member.Role.OWNER,), write=False
    )
    record(caller=caller, operation="workspaces.export", resource_type="workspace", resource_id=workspace.id)
    return workspace


def export_user(*, caller: Caller, user_id: str) -> UserExport:
    """Return the signed-in user's own data for export. Raises NotFound, UserSessionRequired (a key)."""
    user = selectors.signed_in_user(caller=caller, user_id=user_id)
    record(caller=caller, operation="users.export", resource_type="user", resource_id=user.id)
    return UserExport(user, list(selectors.active_workspaces_of(user=user)))
