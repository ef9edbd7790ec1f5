"""Reads of users, workspaces and members."""

from __future__ import annotations

from django.db.models import QuerySet

from config.api.caller import Access, Caller, WorkspaceStatus
from config.api.paging import Page, paginate
from workspaces.models import Member, Workspace


def access_of(*, workspace_id: str, user_id: str) -> Access | None:
    """A user's place in a workspace (settings name this as the access resolver); None for a stranger."""
    member = Member.objects.select_related("workspace").filter(workspace_id=workspace_id, user_id=user_id).first()
    if member is None:
        return None
    return Access(member.role, member.workspace.status, member.workspace.retention_tier)


def live_workspaces() -> QuerySet[Workspace]:
    return Workspace.objects.exclude(status=WorkspaceStatus.DELETED)


def workspaces_of(*, caller: Caller, owner_user_id: str, limit: int, cursor: str | None = None) -> Page[Workspace]:
    """The workspaces that this owner has and the caller may see: a user all of their own, a key its own workspace."""
    owned = live_workspaces().filter(owner_user_id=owner_user_id)
    if caller.is_user:
        visible = owned if caller.actor_id == owner_user_id else owned.none()
    else:
        visible = owned.filter(pk=caller.workspace_id)
    return paginate(visible, limit=limit, cursor=cursor)
