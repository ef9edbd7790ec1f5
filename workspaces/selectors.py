"""Reads of users, workspaces and members."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from config.api.caller import Access, Caller, WorkspaceStatus, absent, require, require_operator
from config.api.errors import Forbidden, UserSessionRequired
from config.api.paging import Page, paginate
from config.db.ids import is_id
from workspaces.models import Invitation, Member, User, Workspace


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


def workspace_of(*, caller: Caller, workspace_id: str, roles: tuple[str, ...], write: bool) -> Workspace:
    """The workspace, for what only people of these roles and workspace keys with api_keys.write may do.

    Raises ScopeMissing, NotFound, Forbidden, WorkspacePaused.
    """
    require(caller, workspace_id, "api_keys.write", write=write)
    if caller.agent_id or (caller.is_user and caller.role not in roles):
        raise Forbidden(f"Only the workspace's {' or '.join(roles)} or a workspace key may do this.")
    workspace = live_workspaces().filter(pk=workspace_id).first()
    if workspace is None:  # deleted a moment ago
        raise absent(None, "workspace")
    return workspace


def user_of(*, caller: Caller, user_id: str) -> User:
    """The signed-in user, under their own id alone. Raises NotFound, UserSessionRequired (a key)."""
    if not is_id(user_id, "usr"):
        raise absent(None, "user")
    if not caller.is_user:
        raise UserSessionRequired()
    user = User.objects.filter(pk=user_id).first() if caller.actor_id == user_id else None
    if user is None:
        raise absent(None, "user")
    return user


def active_workspaces_of(*, user: User) -> QuerySet[Workspace]:
    """The active workspaces that a user owns, newest first."""
    return Workspace.objects.filter(owner_user=user, status=WorkspaceStatus.ACTIVE).order_by("-pk")


def every_workspace(*, caller: Caller, query: str, limit: int, cursor: str | None = None) -> Page[Workspace]:
    """For operators: all workspaces, the deleted ones too, newest first. Raises Forbidden for everybody else.

    `query` is the id of a workspace or of its owner, the owner's e-mail address, or a part of the name or slug; "": all.
    """
    require_operator(caller)
    rows = Workspace.objects.select_related("owner_user")
    if query:
        exactly = Q(pk=query) | Q(owner_user_id=query) | Q(owner_user__email__iexact=query)
        rows = rows.filter(exactly | Q(name__icontains=query) | Q(slug__icontains=query))
    return paginate(rows, limit=limit, cursor=cursor)


def person_of(*, issuer: str, subject: str) -> User | None:
    """The person whom a provider knows by this subject. The exclusion is what SQLite needs to use the partial index."""
    known = User.objects.exclude(identity_subject="")
    return known.filter(identity_issuer=issuer, identity_subject=subject).first()


def names_of(*, user_ids: Iterable[str]) -> dict[str, str]:
    """What these people are called, by their ids."""
    return {user.pk: str(user) for user in User.objects.filter(pk__in=set(user_ids))}


def members_of(*, workspace_id: str) -> QuerySet[Member]:
    """The members of a workspace with their users, in order of joining."""
    return Member.objects.filter(workspace_id=workspace_id).select_related("user").order_by("pk")


def invitations_of(*, workspace_id: str) -> QuerySet[Invitation]:
    """The invitations to a workspace that are open or have expired, with their mail, newest first."""
    return Invitation.objects.filter(workspace_id=workspace_id).select_related("invited_by", "mail").order_by("-pk")


def open_invitation(*, token_sha256: str) -> Invitation | None:
    """The invitation that may be accepted by this token: not expired, and its maker may still invite into that workspace."""
    inviting = Member.objects.filter(
        workspace=OuterRef("workspace"),
        user=OuterRef("invited_by"),
        role__in=(Member.Role.OWNER, Member.Role.ADMIN),
    )
    invitations = Invitation.objects.select_related("workspace", "invited_by").filter(Exists(inviting))
    current = invitations.exclude(workspace__status=WorkspaceStatus.DELETED)
    return current.filter(token_sha256=token_sha256, expires_at__gt=timezone.now()).first()
