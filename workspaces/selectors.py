"""Database queries of users, workspaces, members, invitations and snippets."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from config.api.caller import Caller, MemberAccess, WorkspaceStatus, require_access, require_operator
from config.api.errors import Forbidden, UserSessionRequired, missing_or_foreign_id_error
from config.api.paging import Page, paginate_newest_first
from config.db.ids import is_id
from workspaces.models import Invitation, Member, Snippet, User, Workspace


def member_access_or_none(*, workspace_id: str, user_id: str) -> MemberAccess | None:
    """Workspace query: return a user's role and the workspace's status; None for a user who is not a member.

    Used as WORKSPACE_ACCESS_RESOLVER.
    """
    member = Member.objects.select_related("workspace").filter(workspace_id=workspace_id, user_id=user_id).first()
    if member is None:
        return None
    needs_approval = member.role == Member.Role.EDITOR and member.workspace.editors_need_approval
    return MemberAccess(member.role, member.workspace.status, member.workspace.retention_tier, needs_approval)


def undeleted_workspaces() -> QuerySet[Workspace]:
    """Workspace query: return all workspaces that are not deleted, paused ones included."""
    return Workspace.objects.exclude(status=WorkspaceStatus.DELETED)


def list_visible_workspaces_of_owner(
    *, caller: Caller, owner_user_id: str, limit: int, cursor: str | None = None
) -> Page[Workspace]:
    """Query a page of the workspaces that a user owns; with an API key, the caller sees only the key's own workspace."""
    owned = undeleted_workspaces().filter(owner_user_id=owner_user_id)
    if caller.is_user:
        visible = owned if caller.actor_id == owner_user_id else owned.none()
    else:
        visible = owned.filter(pk=caller.workspace_id)
    return paginate_newest_first(visible, limit=limit, cursor=cursor)


def get_workspace_for_role_or_key(*, caller: Caller, workspace_id: str, roles: tuple[str, ...], write: bool) -> Workspace:
    """Query a workspace for a caller who is a member with one of `roles`, or an API key with the scope api_keys.write.

    Raises ScopeMissing, NotFound, Forbidden, WorkspacePaused.
    """
    require_access(caller, workspace_id, "api_keys.write", write=write)
    if caller.agent_id or (caller.is_user and caller.role not in roles):
        raise Forbidden(f"Only the workspace's {' or '.join(roles)} or a workspace key may do this.")
    workspace = undeleted_workspaces().filter(pk=workspace_id).first()
    if workspace is None:  # deleted a moment ago
        raise missing_or_foreign_id_error(None, "workspace")
    return workspace


def get_own_user(*, caller: Caller, user_id: str) -> User:
    """User query: return the user with this id, who must be the caller. Raises NotFound, UserSessionRequired."""
    if not is_id(user_id, "usr"):
        raise missing_or_foreign_id_error(None, "user")
    if not caller.is_user:
        raise UserSessionRequired()
    user = User.objects.filter(pk=user_id).first() if caller.actor_id == user_id else None
    if user is None:
        raise missing_or_foreign_id_error(None, "user")
    return user


def active_workspaces_owned_by(*, user: User) -> QuerySet[Workspace]:
    """Workspace query: return the active workspaces that a user owns, newest first."""
    return Workspace.objects.filter(owner_user=user, status=WorkspaceStatus.ACTIVE).order_by("-pk")


def search_workspaces_as_operator(*, caller: Caller, query: str, limit: int, cursor: str | None = None) -> Page[Workspace]:
    """Workspace query for operators: search all workspaces, deleted ones included, newest first. Raises Forbidden.

    `query` is the id of a workspace or its owner, the owner's e-mail address, or part of the name or slug; "" means all.
    """
    require_operator(caller)
    rows = Workspace.objects.select_related("owner_user")
    if query:
        exact = Q(pk=query) | Q(owner_user_id=query) | Q(owner_user__email__iexact=query)
        rows = rows.filter(exact | Q(name__icontains=query) | Q(slug__icontains=query))
    return paginate_newest_first(rows, limit=limit, cursor=cursor)


def user_of_identity(*, issuer: str, subject: str) -> User | None:
    """User query: return the user with this issuer and subject at the identity provider; None if there is none."""
    users = User.objects.exclude(identity_subject="")  # SQLite needs this to use the partial index
    return users.filter(identity_issuer=issuer, identity_subject=subject).first()


def user_who_signs_in_by_email(*, email: str) -> User | None:
    """User query: return the user whom a link in an e-mail to this address signs in; None if there is none.

    The address must be verified, and operators are excluded. Of several users with the address, which different identity
    providers may have verified, it is the one who signed in last.
    """
    users = User.objects.filter(email=email, email_verified=True, is_active=True, is_staff=False)
    return users.order_by(F("last_login").desc(nulls_last=True), "pk").first()


def open_invitations_of_address(*, email: str) -> QuerySet[Invitation]:
    """Invitation query: return the invitations of an e-mail address that can still be accepted."""
    return _open_invitations().filter(email=email)


def user_name_by_id(*, user_ids: Iterable[str]) -> dict[str, str]:
    """User query: return the names of the users with these ids; of those without a name but operators, the e-mail address."""
    return {user.pk: _name_or_email(user) for user in User.objects.filter(pk__in=set(user_ids))}


def _name_or_email(user: User) -> str:
    """Return a user's name; the e-mail address of a user who has only a generated user name (the id) and is no operator."""
    shows_address = user.email and user.is_active and not user.is_staff
    return user.email if shows_address and str(user) == user.pk else str(user)


def members_of_workspace(*, workspace_id: str) -> QuerySet[Member]:
    """Workspace query: return the members with their users, in the order in which they joined."""
    return Member.objects.filter(workspace_id=workspace_id).select_related("user").order_by("pk")


def open_and_expired_invitations(*, workspace_id: str) -> QuerySet[Invitation]:
    """Workspace query: return the open and expired invitations with their e-mails, newest first."""
    return Invitation.objects.filter(workspace_id=workspace_id).select_related("invited_by", "mail").order_by("-pk")


def find_open_invitation_by_token_hash(*, token_sha256: str) -> Invitation | None:
    """Query the workspace invitation whose link token has the given hash, if it can still be accepted."""
    return _open_invitations().select_related("workspace", "invited_by").filter(token_sha256=token_sha256).first()


def _open_invitations() -> QuerySet[Invitation]:
    """Query the workspace invitations that are not expired and whose senders may still invite people."""
    inviter_may_invite = Member.objects.filter(
        workspace=OuterRef("workspace"), user=OuterRef("invited_by"), role__in=(Member.Role.OWNER, Member.Role.ADMIN)
    )
    current = Invitation.objects.filter(Exists(inviter_may_invite), expires_at__gt=timezone.now())
    return current.exclude(workspace__status=WorkspaceStatus.DELETED)


def snippets_of_workspace(*, workspace_id: str) -> QuerySet[Snippet]:
    """Query a workspace's snippets, sorted by kind and name."""
    return Snippet.objects.filter(workspace_id=workspace_id).order_by("kind", "name")


def get_snippet(*, workspace_id: str, snippet_id: int) -> Snippet:
    """Workspace query: return the snippet with this id. Raises NotFound."""
    snippet = snippets_of_workspace(workspace_id=workspace_id).filter(pk=snippet_id).first()
    if snippet is None:
        raise missing_or_foreign_id_error(None, "snippet")
    return snippet
