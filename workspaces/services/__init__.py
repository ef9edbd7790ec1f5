"""What is done with users and workspaces."""

from __future__ import annotations

from workspaces.services.caps import update_caps
from workspaces.services.create import WorkspacePlan, create_workspace, require_maker
from workspaces.services.delete import delete_workspace
from workspaces.services.users import UserDeleted, create_user, delete_user

__all__ = [
    "UserDeleted",
    "WorkspacePlan",
    "create_user",
    "create_workspace",
    "delete_user",
    "delete_workspace",
    "require_maker",
    "update_caps",
]
