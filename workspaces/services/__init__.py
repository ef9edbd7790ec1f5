"""Business operations on users, workspaces, members and invitations."""

from __future__ import annotations

from workspaces.services.caps import update_caps
from workspaces.services.create import WorkspacePlan, create_workspace, require_workspace_creator
from workspaces.services.delete import delete_workspace
from workspaces.services.exports import UserExport, export_user, export_workspace
from workspaces.services.invitations import (
    CreatedInvitation,
    accept_invitation,
    get_open_invitation,
    invite_member,
    withdraw_invitation,
)
from workspaces.services.mail import queue_mail
from workspaces.services.members import change_role, hand_over_workspace, leave_workspace, lock_workspace, remove_member
from workspaces.services.pause import pause_workspace, resume_workspace
from workspaces.services.provider_users import sign_in_user, user_for_token
from workspaces.services.sessions import end_every_session, end_other_sessions, end_session, sign_out_everywhere
from workspaces.services.update import update_workspace
from workspaces.services.users import UserDeletion, create_user, delete_user

__all__ = [
    "CreatedInvitation",
    "UserDeletion",
    "UserExport",
    "WorkspacePlan",
    "accept_invitation",
    "change_role",
    "create_user",
    "create_workspace",
    "delete_user",
    "delete_workspace",
    "end_every_session",
    "end_other_sessions",
    "end_session",
    "export_user",
    "export_workspace",
    "get_open_invitation",
    "hand_over_workspace",
    "invite_member",
    "leave_workspace",
    "lock_workspace",
    "pause_workspace",
    "queue_mail",
    "remove_member",
    "require_workspace_creator",
    "resume_workspace",
    "sign_in_user",
    "sign_out_everywhere",
    "update_caps",
    "update_workspace",
    "user_for_token",
    "withdraw_invitation",
]
