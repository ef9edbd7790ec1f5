"""Who is calling, and what they may do.

Authentication (the agents app) builds a Caller; every service's first line is `require(caller, workspace_id, scope)`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol, cast

from django.conf import settings
from django.db.models import TextChoices
from django.utils import timezone
from django.utils.module_loading import import_string

from config.api import errors
from config.api.scopes import ALL_SCOPES, READ_SCOPES, AnyOf

OPERATOR = "operator"
OPERATORS_RATE = 600  # requests a minute: an incident is no time to wait


class Mode(TextChoices):
    """An agent's ceiling, from the narrowest to the widest."""

    DRY_RUN = "dry_run"
    DRAFT = "draft"
    REQUIRES_CONFIRMATION = "requires_confirmation"
    ALLOW_PUBLISH = "allow_publish"


class WorkspaceStatus(TextChoices):
    ACTIVE = "active"
    PAUSED = "paused"
    DELETED = "deleted"


@dataclass(frozen=True)
class Access:
    """A user's place in a workspace, as the resolver that settings name finds it."""

    role: str  # owner, admin or member
    workspace_status: str
    retention_tier: str


class AccessResolver(Protocol):
    def __call__(self, *, workspace_id: str, user_id: str) -> Access | None: ...


@dataclass
class Caller:
    """One authenticated caller for one request or job.

    `workspace_id` is the workspace of a key; a user has none until `require` let them into one.
    """

    kind: Literal["user", "api_key", "agent", "claim", "system", "nobody"]
    actor_id: str
    workspace_id: str | None = None
    scopes: frozenset[str] = frozenset()
    key_id: str | None = None
    workspace_owner_id: str | None = None
    workspace_status: str = WorkspaceStatus.ACTIVE
    retention_tier: str = "free"
    mode: str = Mode.ALLOW_PUBLISH
    account_allowlist: tuple[str, ...] | None = None
    rate_limit_per_minute: int | None = None
    role: str | None = None
    via: str | None = None
    ip: str | None = None
    authenticated_at: datetime | None = None  # of a person: when they last proved who they are; None is not asked about

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
        """As audit entries name it: a workspace key's client may say that it is a cli, mcp or agent_runtime."""
        if self.kind == "claim":  # who holds the claim token, is the agent
            return "agent"
        return self.via if self.kind == "api_key" and self.via else self.kind

    @property
    def idempotency_actor(self) -> str:
        """Two agents that both count from 1 never meet; an agent's two keys do."""
        return f"{self.kind}:{self.actor_id}"

    def holds(self, scope: str | AnyOf) -> bool:
        wanted = scope if isinstance(scope, AnyOf) else (scope,)
        return any(one in self.scopes for one in wanted)


def system_caller(workspace_id: str | None = None, *, retention_tier: str = "free") -> Caller:
    """The service itself, for what workers and commands do."""
    return Caller("system", "system", workspace_id, ALL_SCOPES, retention_tier=retention_tier)


def operator_caller(ip: str | None = None) -> Caller:
    """Who holds ADMIN_TOKEN: without scopes and in no workspace, so that only what asks for an operator lets them in.

    What they do is kept in the audit log as long as anything is.
    """
    return Caller(
        "system", OPERATOR, via=OPERATOR, ip=ip, rate_limit_per_minute=OPERATORS_RATE, retention_tier="enterprise"
    )


def require_operator(caller: Caller) -> None:
    """Raise Forbidden for everybody else."""
    if not caller.is_operator:
        raise errors.Forbidden("Only an operator of the service may do this.")


def nobody() -> Caller:
    """Who calls an operation that asks for no bearer token: holds no scope and enters no workspace."""
    return Caller("nobody", "nobody")


def require(
    caller: Caller,
    workspace_id: str,
    scope: str | AnyOf | None,
    *,
    write: bool = True,
    body_field: str | None = None,
    noun: str = "workspace",
) -> None:
    """Let the caller act in the workspace, or raise.

    In this order: ScopeMissing; NotFound for a workspace that is foreign, absent or deleted (ValidationFailed on
    `body_field` when its id came in a body); WorkspacePaused when a write meets a pause. `scope` None: any caller.
    `noun` names what was asked for, so that a foreign one is answered as an absent one is.
    """
    if not caller.is_user:
        require_scope(caller, scope)
    if not _enter(caller, workspace_id):
        raise absent(body_field, noun)
    require_scope(caller, scope)
    if write and caller.workspace_status == WorkspaceStatus.PAUSED:
        raise errors.WorkspacePaused()


def require_recent_sign_in(caller: Caller) -> None:
    """Raise ReauthenticationRequired for a person whose last sign-in is older than REAUTHENTICATE_MINUTES."""
    if caller.is_user and caller.authenticated_at and not is_recent_sign_in(caller.authenticated_at):
        raise errors.ReauthenticationRequired(max_age=settings.REAUTHENTICATE_MINUTES * 60)


def is_recent_sign_in(at: datetime) -> bool:
    """Whether somebody who proved then who they are need not do so again; always, when the setting is 0."""
    longest = timedelta(minutes=settings.REAUTHENTICATE_MINUTES)
    return not longest or timezone.now() - at <= longest


def workspace_of(caller: Caller, workspace_id: str | None) -> str:
    """The workspace that a body names, or the key's own where it names none."""
    chosen = workspace_id or caller.workspace_id
    if chosen is None:
        raise errors.ValidationFailed.of("workspace_id", "A signed-in user must name the workspace.", "required")
    return chosen


def require_scope(caller: Caller, scope: str | AnyOf | None) -> None:
    """Raise ScopeMissing unless the caller holds the scope (of several: one)."""
    if scope is None or caller.holds(scope):
        return
    wanted = " or ".join(scope) if isinstance(scope, AnyOf) else scope
    if caller.is_user:
        raise errors.Forbidden(f"A workspace's {caller.role} may not do this; it needs an owner or admin.")
    raise errors.ScopeMissing(f"This operation needs the scope {wanted}.")


def absent(body_field: str | None, noun: str) -> errors.ApiError:
    """What a foreign or absent id is answered with: 422 on its field in a body, 404 anywhere else."""
    if body_field:
        return errors.ValidationFailed.of(body_field, f"There is no such {noun}.", "not_found")
    return errors.NotFound(f"There is no such {noun}.")


def _enter(caller: Caller, workspace_id: str) -> bool:
    """Whether the workspace exists for this caller; a user who is let in gets the scopes of the role."""
    if not caller.is_user:
        return caller.workspace_id == workspace_id and caller.workspace_status != WorkspaceStatus.DELETED
    if caller.role and caller.workspace_id == workspace_id:
        return True
    access = access_resolver()(workspace_id=workspace_id, user_id=caller.actor_id)
    if access is None or access.workspace_status == WorkspaceStatus.DELETED:
        return False
    caller.workspace_id, caller.role = workspace_id, access.role
    caller.workspace_status, caller.retention_tier = access.workspace_status, access.retention_tier
    caller.scopes = READ_SCOPES if access.role == "member" else ALL_SCOPES
    return True


def access_resolver() -> AccessResolver:
    return cast(AccessResolver, import_string(settings.WORKSPACE_ACCESS_RESOLVER))


def require_role(
    caller: Caller, workspace_id: str, *roles: str, write: bool = True, body_field: str | None = None
) -> None:
    """As `require`, for what only a signed-in person of one of these roles may do. Raises UserSessionRequired for keys."""
    if not caller.is_user:
        raise errors.UserSessionRequired()
    require(caller, workspace_id, None, write=write, body_field=body_field)
    if caller.role not in roles:
        raise errors.Forbidden(f"This needs the role {' or '.join(roles)} in the workspace.")


def check_allowlist(caller: Caller, account_ids: Iterable[str]) -> None:
    """Raises AccountNotAllowed when an agent may not use one of these accounts."""
    if caller.account_allowlist is not None and not set(account_ids) <= set(caller.account_allowlist):
        raise errors.AccountNotAllowed()


def facts(caller: Caller) -> dict[str, Any]:
    """Who made a thing, as resources tell it."""
    return {"actor_type": caller.actor_type, "actor_id": caller.actor_id}
