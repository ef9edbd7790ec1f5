"""Database queries of agents, their claim tokens, and API keys."""

from __future__ import annotations

from django.db.models import Exists, F, Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone

from agents import tokens
from agents.errors import ClaimTokenUnknown
from agents.models import Agent, ApiKey, ClaimToken, OAuthClient
from config.api.caller import Caller, WorkspaceStatus, forbid_agent_callers, require_access
from config.api.errors import ApiKeyExpired, ApiKeyRevoked, missing_or_foreign_id_error
from config.api.paging import Page, paginate_newest_first
from config.db.ids import is_id
from workspaces.models import Workspace

MAX_AGENTS_OF_CLIENT = 3  # that are offered to be connected again


def list_agents_with_revoked(*, caller: Caller, workspace_id: str, limit: int, cursor: str | None = None) -> Page[Agent]:
    """Agent query: return the workspace's agents, revoked ones included, newest first. Raises NotFound."""
    require_access(caller, workspace_id, None, write=False)
    return paginate_newest_first(Agent.objects.filter(workspace_id=workspace_id), limit=limit, cursor=cursor)


def get_accessible_agent(*, caller: Caller, agent_id: str, scope: str | None = None, write: bool = False) -> Agent:
    """Agent query: return the agent with this id if the caller may access it. Raises NotFound, ScopeMissing."""
    agent = Agent.objects.filter(pk=agent_id).first() if is_id(agent_id, "agt") else None
    if agent is None:
        raise missing_or_foreign_id_error(None, "agent")
    require_access(caller, agent.workspace_id, scope, write=write, noun="agent")
    return agent


def agents_with_last_use(*, caller: Caller, workspace_id: str, limit: int, cursor: str | None = None) -> Page[Agent]:
    """Agent query: return a page of agents, each with whether it has an API key and its last use. Raises NotFound.

    The newest agents come first. Adds `has_key` (a key was ever issued), `claim_until` (expiry of the unused claim token)
    and `last_used_at` (of its keys and of its OAuth grant).
    """
    require_access(caller, workspace_id, None, write=False)
    return paginate_newest_first(_with_use(Agent.objects.filter(workspace_id=workspace_id)), limit=limit, cursor=cursor)


def agent_with_key_and_last_use(*, caller: Caller, workspace_id: str, agent_id: str) -> Agent:
    """Agent query: return an agent, with whether it has an API key and when it was last used. Raises NotFound."""
    require_access(caller, workspace_id, None, write=False)
    rows = Agent.objects.filter(pk=agent_id, workspace_id=workspace_id)
    agent = _with_use(rows).first() if is_id(agent_id, "agt") else None
    if agent is None:
        raise missing_or_foreign_id_error(None, "agent")
    return agent


def active_agents_of_client(
    *, caller: Caller, workspace_id: str, client: OAuthClient, scope: str | None = None
) -> list[Agent]:
    """Agent query: return an OAuth client's active agents with their grants, even ended ones; the newest grants first.

    Raises NotFound, ScopeMissing, and WorkspacePaused if a scope is required.
    """
    require_access(caller, workspace_id, scope, write=scope is not None)
    rows = Agent.objects.select_related("oauth_grant").filter(workspace_id=workspace_id, status=Agent.Status.ACTIVE)
    return list(rows.filter(oauth_grant__client=client).order_by("-oauth_grant__created_at", "-pk")[:MAX_AGENTS_OF_CLIENT])


def latest_keys_of_agent(*, caller: Caller, agent: Agent, limit: int) -> list[ApiKey]:
    """API key query: return the latest keys of an agent, newest first. Raises NotFound, ScopeMissing."""
    require_access(caller, agent.workspace_id, "api_keys.write", write=False, noun="agent")
    return list(ApiKey.objects.filter(agent=agent).order_by("-pk")[:limit])


def list_api_keys(*, caller: Caller, workspace_id: str, limit: int, cursor: str | None = None) -> Page[ApiKey]:
    """API key query: return keys of a workspace and its agents, newest first. Raises ScopeMissing, NotFound, Forbidden."""
    require_access(caller, workspace_id, "api_keys.write", write=False)
    forbid_agent_callers(caller)
    keys = ApiKey.objects.select_related("agent").filter(workspace_id=workspace_id)
    return paginate_newest_first(keys, limit=limit, cursor=cursor)


def get_claim_token(*, caller: Caller, claim_token: str) -> ClaimToken:
    """Return the row of an agent's claim token, even of a used one. Raises ClaimTokenUnknown if the caller may not see it.

    A user may send any claim token, because its holder could also send it as the bearer token.
    """
    live = ClaimToken.objects.exclude(agent__workspace__status=WorkspaceStatus.DELETED)
    visible = live if caller.is_user else live.filter(agent__workspace=caller.workspace_id)
    rows = visible.select_related("agent__workspace").filter(token_sha256=tokens.token_digest(claim_token))
    claim = rows.first() if tokens.is_well_formed_token(claim_token) else None
    if claim is None:
        raise ClaimTokenUnknown()
    return claim


def _with_use(rows: QuerySet[Agent]) -> QuerySet[Agent]:
    keys = ApiKey.objects.filter(agent=OuterRef("pk")).order_by()
    claims = ClaimToken.objects.filter(agent=OuterRef("pk"), burned_at=None)
    key_used_at = Subquery(keys.values("agent").annotate(latest=Max("last_used_at")).values("latest"))
    grant_used_at = F("oauth_grant__last_used_at")
    return rows.select_related("oauth_grant__client").annotate(
        has_key=Exists(keys),
        claim_until=Subquery(claims.values("expires_at")[:1]),
        # SQLite's MAX of two values is null if one of them is.
        last_used_at=Greatest(Coalesce(key_used_at, grant_used_at), Coalesce(grant_used_at, key_used_at)),
    )


def caller_of_idempotency_key_owner(maker: str, *, workspace: Workspace, actor_type: str) -> Caller:
    """Query the agent or API key that owns an Idempotency-Key, and return it as a Caller with its present rights.

    `actor_type` is the maker's type in the audit log. Raises ApiKeyRevoked (a revoked agent, too), ApiKeyExpired.
    """
    kind, _, actor_id = maker.partition(":")
    if kind == "user":
        return Caller("user", actor_id)
    caller = Caller("api_key", actor_id, workspace.id, workspace_owner_id=workspace.owner_user_id)
    caller.workspace_status, caller.retention_tier = workspace.status, workspace.retention_tier
    if kind == "agent":
        agent = Agent.objects.filter(pk=actor_id, workspace=workspace, status=Agent.Status.ACTIVE).first()
        if agent is None:
            raise ApiKeyRevoked("The agent was revoked.")
        caller.kind, caller.mode, caller.scopes = "agent", agent.default_mode, frozenset(agent.scopes)
        caller.account_allowlist = None if agent.account_allowlist is None else tuple(agent.account_allowlist)
        return caller
    key = ApiKey.objects.filter(pk=actor_id, workspace=workspace).first()
    if key is None or key.status == "revoked":
        raise ApiKeyRevoked()
    if key.status == "expired":
        raise ApiKeyExpired()
    caller.key_id, caller.scopes = key.id, frozenset(key.held_scopes)
    caller.via = actor_type if actor_type != caller.kind else None
    return caller


def active_keys_without_agent_keys(*, workspace_id: str) -> QuerySet[ApiKey]:
    """API key query: return a workspace's active keys, without those of its agents.

    Agents' keys and revoked, retiring and expired keys are left out.
    """
    own = ApiKey.objects.filter(workspace_id=workspace_id, agent=None, revoked_at=None, retiring_since=None)
    return own.filter(Q(expires_at=None) | Q(expires_at__gt=timezone.now()))


def get_manageable_api_key(*, caller: Caller, api_key_id: str) -> ApiKey:
    """API key query: return the key with this id, if the caller may change it. Raises NotFound, ScopeMissing."""
    key = ApiKey.objects.select_related("agent").filter(pk=api_key_id).first() if is_id(api_key_id, "key") else None
    if key is None:
        raise missing_or_foreign_id_error(None, "API key")
    require_access(caller, key.workspace_id, "api_keys.write", noun="API key")
    return key
