"""Services that change the members of a workspace: roles, removal, leaving, and the handover to a new owner."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from auditlog.services import record_entry
from config.api.caller import Caller, require_recent_sign_in, require_role
from config.api.errors import Forbidden, InvalidState, ValidationFailed, missing_or_foreign_id_error
from workspaces.models import Member, Workspace
from workspaces.services.workspaces import lock_owner_and_check_workspace_limit, lock_workspace

ADMIN_ROLES = (Member.Role.OWNER, Member.Role.ADMIN)
ASSIGNABLE_ROLES = (Member.Role.ADMIN, Member.Role.EDITOR, Member.Role.MEMBER)  # the owner role can only be handed over


def change_role(*, caller: Caller, workspace_id: str, user_id: str, role: str) -> Member:
    """Change a member's role in the workspace to one of ASSIGNABLE_ROLES. Only owners and admins may do this.

    Raises UserSessionRequired, NotFound, Forbidden, WorkspacePaused, ReauthenticationRequired, ValidationFailed,
    InvalidState (the owner).
    """
    require_role(caller, workspace_id, *ADMIN_ROLES)
    require_recent_sign_in(caller)
    validate_assignable_role(role)
    with transaction.atomic():
        member = _get_non_owner(workspace_id, user_id)
        member.role = role
        member.save(update_fields=["role", "updated_at"])
        _record(caller, "members.change_role", workspace_id, user_id, role)
    return member


def remove_member(*, caller: Caller, workspace_id: str, user_id: str) -> None:
    """Remove a member, who must not be the owner, from the workspace. What the member created stays.

    Raises the errors of `change_role`.
    """
    require_role(caller, workspace_id, *ADMIN_ROLES)
    require_recent_sign_in(caller)
    with transaction.atomic():
        _get_non_owner(workspace_id, user_id).delete()
        _record(caller, "members.remove", workspace_id, user_id)


def leave_workspace(*, caller: Caller, workspace_id: str) -> None:
    """End the caller's own membership in the workspace. Raises InvalidState for the workspace's owner, who cannot leave.

    This is allowed in a paused workspace too. Raises NotFound.
    """
    require_role(caller, workspace_id, *Member.Role.values, write=False)
    with transaction.atomic():
        _get_non_owner(workspace_id, caller.actor_id).delete()
        _record(caller, "members.leave", workspace_id, caller.actor_id)


def hand_over_workspace(*, caller: Caller, workspace_id: str, user_id: str) -> Workspace:
    """Make another member the owner of the workspace. The caller, who was the owner, becomes an admin.

    Raises UserSessionRequired, NotFound (no member), Forbidden, WorkspacePaused, ReauthenticationRequired,
    InvalidState (already the owner), Conflict (the member owns too many workspaces).
    """
    require_role(caller, workspace_id, Member.Role.OWNER)
    require_recent_sign_in(caller)
    with transaction.atomic():
        new_owner = _get_non_owner(workspace_id, user_id)
        workspace = Workspace.objects.get(pk=workspace_id)
        if workspace.owner_user_id != caller.actor_id:  # another request was faster
            raise Forbidden(gettext_noop("Only the owner of a workspace may hand it over."))
        lock_owner_and_check_workspace_limit(user_id)
        Member.objects.filter(workspace=workspace, user_id=caller.actor_id).update(
            role=Member.Role.ADMIN, updated_at=timezone.now()
        )
        new_owner.role = Member.Role.OWNER
        new_owner.save(update_fields=["role", "updated_at"])
        workspace.owner_user_id = user_id
        workspace.save(update_fields=["owner_user", "updated_at"])
        _record(caller, "workspaces.hand_over", workspace_id, user_id)
    return workspace


def set_editors_need_approval(*, caller: Caller, workspace_id: str, needed: bool) -> None:
    """Decide whether posts by members with the role editor wait for approval. Posts already scheduled stay.

    Only owners and admins may do this. Raises UserSessionRequired, NotFound, Forbidden, WorkspacePaused.
    """
    require_role(caller, workspace_id, *ADMIN_ROLES)
    with transaction.atomic():
        lock_workspace(workspace_id)
        Workspace.objects.filter(pk=workspace_id).update(editors_need_approval=needed, updated_at=timezone.now())
        record_entry(
            caller=caller,
            operation="workspaces.update",
            workspace_id=workspace_id,
            resource_type="workspace",
            resource_id=workspace_id,
            metadata={"changed": ["editors_need_approval"], "editors_need_approval": needed},
        )


def validate_assignable_role(role: str) -> None:
    """Raise ValidationFailed unless the role is one that members may be given."""
    if role not in ASSIGNABLE_ROLES:
        raise ValidationFailed.for_field("role", f"Choose one of {', '.join(ASSIGNABLE_ROLES)}.", "invalid_choice")


def _get_non_owner(workspace_id: str, user_id: str) -> Member:
    lock_workspace(workspace_id)
    member = Member.objects.filter(workspace_id=workspace_id, user_id=user_id).first()
    if member is None:
        raise missing_or_foreign_id_error(None, "member")
    if member.role == Member.Role.OWNER:
        raise InvalidState(
            gettext_noop("This is the owner of the workspace."),
            suggested_action=gettext_noop("Hand the workspace over to another member first."),
        )
    return member


def _record(caller: Caller, operation: str, workspace_id: str, user_id: str, role: str = "") -> None:
    record_entry(
        caller=caller,
        operation=operation,
        workspace_id=workspace_id,
        resource_type="user",
        resource_id=user_id,
        metadata={"role": role} if role else {},
    )
