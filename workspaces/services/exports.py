"""Exports: what is held of a workspace or of a person. Each one leaves an audit entry."""

from __future__ import annotations

from dataclasses import dataclass

from auditlog.services import record
from config.api.caller import Caller
from workspaces import selectors
from workspaces.models import Member, User, Workspace


@dataclass(frozen=True)
class UserExport:
    """A person, and the active workspaces that they own."""

    user: User
    owned_workspaces: list[Workspace]


def export_workspace(*, caller: Caller, workspace_id: str) -> Workspace:
    """The workspace, for its owner and its keys. Raises ScopeMissing, NotFound, Forbidden."""
    workspace = selectors.workspace_of(
        caller=caller, workspace_id=workspace_id, roles=(Member.Role.OWNER,), write=False
    )
    record(caller=caller, operation="workspaces.export", resource_type="workspace", resource_id=workspace.id)
    return workspace


def export_user(*, caller: Caller, user_id: str) -> UserExport:
    """The signed-in user, for themselves alone. Raises NotFound, UserSessionRequired (a key)."""
    user = selectors.user_of(caller=caller, user_id=user_id)
    record(caller=caller, operation="users.export", resource_type="user", resource_id=user.id)
    return UserExport(user, list(selectors.active_workspaces_of(user=user)))
