"""Who belongs to a workspace: roles, leaving, and handing the workspace over."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from auditlog.services import record
from config.api.caller import Caller, absent, require_recent_sign_in, require_role
from config.api.errors import Forbidden, InvalidState, ValidationFailed
from workspaces import selectors
from workspaces.models import Member, Workspace
from workspaces.services.create import require_room

ADMINS = (Member.Role.OWNER, Member.Role.ADMIN)
GIVEN_ROLES = (Member.Role.ADMIN, Member.Role.MEMBER)  # the owner's is handed over


def change_role(*, caller: Caller, workspace_id: str, user_id: str, role: str) -> Member:
    """Make a member an admin, or an admin a member. Owners and admins may.

    Raises UserSessionRequired, NotFound, Forbidden, WorkspacePaused, ReauthenticationRequired, ValidationFailed,
    InvalidState (the owner).
    """
    require_role(caller, workspace_id, *ADMINS)
    require_recent_sign_in(caller)
    require_given_role(role)
    with transaction.atomic():
        member = _other_than_owner(workspace_id, user_id)
        member.role = role
        member.save(update_fields=["role", "updated_at"])
        _record(caller, "members.change_role", workspace_id, user_id, role)
    return member


def remove_member(*, caller: Caller, workspace_id: str, user_id: str) -> None:
    """End somebody's membership; what they made in the workspace stays. Owners and admins may. Raises as `change_role`."""
    require_role(caller, workspace_id, *ADMINS)
    require_recent_sign_in(caller)
    with transaction.atomic():
        _other_than_owner(workspace_id, user_id).delete()
        _record(caller, "members.remove", workspace_id, user_id)


def leave_workspace(*, caller: Caller, workspace_id: str) -> None:
    """End one's own membership, of a paused workspace too. Raises NotFound, InvalidState (the owner)."""
    require_role(caller, workspace_id, *Member.Role.values, write=False)
    with transaction.atomic():
        _other_than_owner(workspace_id, caller.actor_id).delete()
        _record(caller, "members.leave", workspace_id, caller.actor_id)


def hand_over_workspace(*, caller: Caller, workspace_id: str, user_id: str) -> Workspace:
    """Make another member the owner; who was it stays as an admin. Only the owner may.

    Raises UserSessionRequired, NotFound (no member), Forbidden, WorkspacePaused, ReauthenticationRequired,
    InvalidState (the owner already), Conflict (that member owns too many).
    """
    require_role(caller, workspace_id, Member.Role.OWNER)
    require_recent_sign_in(caller)
    with transaction.atomic():
        heir = _other_than_owner(workspace_id, user_id)
        workspace = Workspace.objects.get(pk=workspace_id)
        if workspace.owner_user_id != caller.actor_id:  # another request has handed it over meanwhile
            raise Forbidden("Only the owner of a workspace may hand it over.")
        require_room(user_id)
        Member.objects.filter(workspace=workspace, user_id=caller.actor_id).update(
            role=Member.Role.ADMIN, updated_at=timezone.now()
        )
        heir.role = Member.Role.OWNER
        heir.save(update_fields=["role", "updated_at"])
        workspace.owner_user_id = user_id
        workspace.save(update_fields=["owner_user", "updated_at"])
        _record(caller, "workspaces.hand_over", workspace_id, user_id)
    return workspace


def require_given_role(role: str) -> None:
    """Raise ValidationFailed unless the role is one that can be given."""
    if role not in GIVEN_ROLES:
        raise ValidationFailed.of("role", f"Choose one of {', '.join(GIVEN_ROLES)}.", "invalid_choice")


def lock_workspace(workspace_id: str) -> Workspace:
    """The row that all changes of members wait for, one after another. Raises NotFound when it was deleted meanwhile."""
    workspace = selectors.live_workspaces().select_for_update(no_key=True).filter(pk=workspace_id).first()
    if workspace is None:
        raise absent(None, "workspace")
    return workspace


def _other_than_owner(workspace_id: str, user_id: str) -> Member:
    lock_workspace(workspace_id)
    member = Member.objects.filter(workspace_id=workspace_id, user_id=user_id).first()
    if member is None:
        raise absent(None, "member")
    if member.role == Member.Role.OWNER:
        raise InvalidState(
            "This is the owner of the workspace.", suggested_action="Hand the workspace over to another member first."
        )
    return member


def _record(caller: Caller, operation: str, workspace_id: str, user_id: str, role: str = "") -> None:
    record(
        caller=caller,
        operation=operation,
        workspace_id=workspace_id,
        resource_type="user",
        resource_id=user_id,
        metadata={"role": role} if role else {},
    )
