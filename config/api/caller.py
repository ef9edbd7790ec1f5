"""The Caller of a request or job (a person, API key, agent, operator or the system), and the checks of what it may do.

Authentication (the agents app) builds a Caller. Every service starts with `require_access(caller, workspace_id, scope)`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from django.conf import settings
from django.db.models import TextChoices
from django.utils import timezone
from django.utils.module_loading import import_string

from config.api import errors
from config.api.scopes import ALL_SCOPES, EDITOR, SCOPES_OF_ROLES, AlternativeScopes

OPERATOR = "operator"
OPERATOR_REQUESTS_PER_MINUTE = 600  # higher than for customers, so that operators can act in an incident


class AgentMode(TextChoices):
    """The modes of a caller that is an agent: how much it may do without a person, in rising order.

    It may only preview calls, only write drafts, plan posts that a person must approve, or publish.
    """

    DRY_RUN = "dry_run"
    DRAFT = "draft"
    REQUIRES_CONFIRMATION = "requires_confirmation"
    ALLOW_PUBLISH = "allow_publish"


class WorkspaceStatus(TextChoices):
    """The status of a caller's workspace: while it is paused, nothing is changed or published; a deleted one is purged."""

    ACTIVE = "active"
    PAUSED = "paused"
    DELETED = "deleted"


@dataclass(frozen=True)
class MemberAccess:
    """A user's access to a workspace: the user's role there, and the status and retention tier of the workspace."""

    role: str  # owner, admin, editor or member
    workspace_status: str
    retention_tier: str
    needs_approval: bool = False  # an editor, where the workspace wants to approve the posts of editors


@dataclass
class Caller:
    """The authenticated caller of one API request or job.

    An API key has a fixed `workspace_id`. A user has none until `require_access` grants access to a workspace.
    """

    kind: Literal["user", "api_key", "agent", "claim", "system", "nobody"]
    actor_id: str
    workspace_id: str | None = None
    scopes: frozenset[str] = frozenset()
    key_id: str | None = None
    workspace_owner_id: str | None = None
    workspace_status: str = WorkspaceStatus.ACTIVE
    retention_tier: str = "free"
    mode: str = AgentMode.ALLOW_PUBLISH
    account_allowlist: tuple[str, ...] | None = None
    rate_limit_per_minute: int | None = None
    role: str | None = None
    via: str | None = None
    client: str | None = None  # the program: of its OAuth grant, or as a client of the MCP endpoint names itself
    ip: str | None = None
    authenticated_at: datetime | None = None  # when a person last signed in; None skips the check for a recent sign-in

    @property
    def is_user(self) -> bool:
        return self.kind == "user"

    @property
    def is_operator(self) -> bool:
        return self.kind == "system" and self.via == OPERATOR

    @property
    def agent_id(self) -> str | None:
        return self.actor_id if self.kind == "agent" else None

    @property
    def actor_type(self) -> str:
        """Return the kind of this Caller, such as user, agent or API client, as audit entries store it."""
        if self.kind == "claim":  # the holder of a claim token acts as the agent
            return "agent"
        return self.via if self.kind == "api_key" and self.via else self.kind

    @property
    def needs_approval(self) -> bool:
        """Return whether this Caller's posts need a person's approval, as for some agents and, by a setting, editors."""
        return self.mode not in (AgentMode.ALLOW_PUBLISH, AgentMode.DRY_RUN)

    @property
    def may_approve(self) -> bool:
        """Return whether this Caller may approve or reject the posts that wait for it; agents and editors may not."""
        return not self.agent_id and self.role != EDITOR

    @property
    def idempotency_key_owner(self) -> str:
        """Return this Caller as the owner of Idempotency-Keys, such as `agent:agt_…`; all keys of one agent are one owner."""
        return f"{self.kind}:{self.actor_id}"

    def has_scope(self, scope: str | AlternativeScopes) -> bool:
        wanted = scope if isinstance(scope, AlternativeScopes) else (scope,)
        return any(one in self.scopes for one in wanted)


def system_caller(workspace_id: str | None = None, *, retention_tier: str = "free") -> Caller:
    """Return the Caller object for work that the service does itself, in workers and commands."""
    return Caller("system", "system", workspace_id, ALL_SCOPES, retention_tier=retention_tier)


def operator_caller(ip: str | None = None) -> Caller:
    """Return the Caller object for an operator, who acts with ADMIN_TOKEN, in the console or by a command.

    It has no workspace and no scopes, so it may call only services for operators; the console adds both where it needs them.
    Its audit entries are stored for the longest retention period.
    """
    return Caller(
        "system",
        OPERATOR,
        via=OPERATOR,
        ip=ip,
        rate_limit_per_minute=OPERATOR_REQUESTS_PER_MINUTE,
        retention_tier="enterprise",
    )


def require_operator(caller: Caller) -> None:
    """Raise Forbidden unless the caller of the request is an operator."""
    if not caller.is_operator:
        raise errors.Forbidden("Only an operator of the service may do this.")


def require_access(
    caller: Caller,
    workspace_id: str,
    scope: str | AlternativeScopes | None,
    *,
    write: bool = True,
    body_field: str | None = None,
    noun: str = "workspace",
) -> None:
    """Raise an ApiError unless the caller may access this workspace with this scope; fill in the Caller's workspace and role.

    Without a `scope`, none is needed. For a user, this sets the Caller's workspace, role, scopes, mode and retention tier.
    Raises, in this order: ScopeMissing; NotFound for a workspace that does not exist, was deleted or belongs to others
    (ValidationFailed on `body_field` when its id came in a body); WorkspacePaused for a write to a paused workspace.
    `noun` names the requested resource in the message, which is the same for missing and foreign resources.
    """
    if not caller.is_user:
        require_scope(caller, scope)
    if not _enter(caller, workspace_id):
        raise errors.missing_or_foreign_id_error(body_field, noun)
    require_scope(caller, scope)
    if write and caller.workspace_status == WorkspaceStatus.PAUSED:
        raise errors.WorkspacePaused()


def require_recent_sign_in(caller: Caller) -> None:
    """Check the caller: raise ReauthenticationRequired if it is a person whose last sign-in is too long ago."""
    if caller.is_user and caller.authenticated_at and not is_recent_sign_in(caller.authenticated_at):
        raise errors.ReauthenticationRequired(max_age=settings.REAUTHENTICATE_MINUTES * 60)


def is_recent_sign_in(at: datetime) -> bool:
    """Return whether a caller's sign-in at time `at` is recent enough; always True if REAUTHENTICATE_MINUTES is 0."""
    longest = timedelta(minutes=settings.REAUTHENTICATE_MINUTES)
    return not longest or timezone.now() - at <= longest


def requested_or_own_workspace_id(caller: Caller, workspace_id: str | None) -> str:
    """Return the workspace id in a request body, or else the workspace to which the caller's API key belongs."""
    chosen = workspace_id or caller.workspace_id
    if chosen is None:
        raise errors.ValidationFailed.for_field("workspace_id", "A signed-in user must name the workspace.", "required")
    return chosen


def require_scope(caller: Caller, scope: str | AlternativeScopes | None) -> None:
    """Raise ScopeMissing (Forbidden for a user) if the caller lacks this scope, or all scopes of an AlternativeScopes."""
    if scope is None or caller.has_scope(scope):
        return
    wanted = " or ".join(scope) if isinstance(scope, AlternativeScopes) else scope
    if caller.is_user:
        allowed = "an owner, admin or editor" if _is_allowed_for_editors(scope) else "an owner or admin"
        raise errors.Forbidden(f"Your role in this workspace does not allow this; it needs {allowed}.")
    raise errors.ScopeMissing(f"This operation needs the scope {wanted}.")


def _is_allowed_for_editors(scope: str | AlternativeScopes) -> bool:
    wanted = scope if isinstance(scope, AlternativeScopes) else (scope,)
    return not SCOPES_OF_ROLES[EDITOR].isdisjoint(wanted)


def _enter(caller: Caller, workspace_id: str) -> bool:
    """Return whether a Caller has access to a workspace; for a user, also set workspace, role, scopes and mode."""
    if not caller.is_user:
        return caller.workspace_id == workspace_id and caller.workspace_status != WorkspaceStatus.DELETED
    if caller.role and caller.workspace_id == workspace_id:
        return True
    resolve_access = import_string(settings.WORKSPACE_ACCESS_RESOLVER)
    access: MemberAccess | None = resolve_access(workspace_id=workspace_id, user_id=caller.actor_id)
    if access is None or access.workspace_status == WorkspaceStatus.DELETED:
        return False
    caller.workspace_id, caller.role = workspace_id, access.role
    caller.workspace_status, caller.retention_tier = access.workspace_status, access.retention_tier
    caller.scopes = SCOPES_OF_ROLES[access.role]
    caller.mode = AgentMode.REQUIRES_CONFIRMATION if access.needs_approval else AgentMode.ALLOW_PUBLISH
    return True


def require_role(caller: Caller, workspace_id: str, *roles: str, write: bool = True, body_field: str | None = None) -> None:
    """Raise an ApiError unless the caller is a person with one of these roles in the workspace; set workspace and role.

    These are attributes of the Caller, as `require_access` sets them.
    """
    if not caller.is_user:
        raise errors.UserSessionRequired()
    require_access(caller, workspace_id, None, write=write, body_field=body_field)
    if caller.role not in roles:
        raise errors.Forbidden(f"This needs the role {' or '.join(roles)} in the workspace.")


def check_account_allowlist(caller: Caller, account_ids: Iterable[str]) -> None:
    """Raise AccountNotAllowed if the caller is an agent that may not use all of these connected accounts."""
    if caller.account_allowlist is not None and not set(account_ids) <= set(caller.account_allowlist):
        raise errors.AccountNotAllowed()


def forbid_agent_callers(caller: Caller) -> None:
    """Raise Forbidden if the caller is an agent: agents may not manage agents or API keys."""
    if caller.agent_id:
        raise errors.Forbidden("An agent's key cannot manage agents or keys.")
