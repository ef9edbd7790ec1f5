"""What is done with users and workspaces."""

from __future__ import annotations

from workspaces.services.caps import update_caps
from workspaces.services.create import WorkspacePlan, create_workspace, require_maker
from workspaces.services.delete import delete_workspace
from workspaces.services.exports import UserExport, export_user, export_workspace
from workspaces.services.invitations import (
    Invited,
    accept_invitation,
    invite_member,
    look_at_invitation,
    withdraw_invitation,
)
from workspaces.services.mail import queue_mail
from workspaces.services.members import change_role, hand_over_workspace, leave_workspace, lock_workspace, remove_member
from workspaces.services.pause import pause_workspace, resume_workspace
from workspaces.services.people import person_of_token, sign_in_person
from workspaces.services.sessions import end_every_session, end_other_sessions, end_session, sign_out_everywhere
from workspaces.services.update import update_workspace
from workspaces.services.users import UserDeleted, create_user, delete_user

__all__ = [
    "Invited",
    "UserDeleted",
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
    "hand_over_workspace",
    "invite_member",
    "leave_workspace",
    "lock_workspace",
    "look_at_invitation",
    "pause_workspace",
    "person_of_token",
    "queue_mail",
    "remove_member",
    "require_maker",
    "resume_workspace",
    "sign_in_person",
    "sign_out_everywhere",
    "update_caps",
    "update_workspace",
    "withdraw_invitation",
]
