"""Database queries of agents and API keys."""

from __future__ import annotations

from django.db.models import Exists, Max, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from agents.models import Agent, ApiKey, ClaimToken
from config.api.caller import Caller, missing_or_foreign_id_error, require_access
from config.api.paging import Page, paginate
from config.db.ids import is_id


def agents_of(*, caller: Caller, workspace_id: str, limit: int, cursor: str | None = None) -> Page[Agent]:
    """Return the workspace's agents, including revoked agents, newest first. Raises NotFound."""
    require_access(caller, workspace_id, None, write=False)
    return paginate(Agent.objects.filter(workspace_id=workspace_id), limit=limit, cursor=cursor)


def get_accessible_agent(*, caller: Caller, agent_id: str, scope: str | None = None, write: bool = False) -> Agent:
    """Return the agent with this id if the caller may access it. Raises NotFound, ScopeMissing, WorkspacePaused."""
    agent = Agent.objects.filter(pk=agent_id).first() if is_id(agent_id, "agt") else None
    if agent is None:
        raise missing_or_foreign_id_error(None, "agent")
    require_access(caller, agent.workspace_id, scope, write=write, noun="agent")
    return agent


def agents_with_key_info(*, caller: Caller, workspace_id: str, limit: int, cursor: str | None = None) -> Page[Agent]:
    """Return a page of a workspace's agents, each with whether it has an API key and when it last used one. Raises NotFound.

    The newest agents come first. Adds `has_key` (a key was ever issued), `claim_until` (expiry of the unused claim token)
    and `last_used_at`.
    """
    require_access(caller, workspace_id, None, write=False)
    return paginate(_with_use(Agent.objects.filter(workspace_id=workspace_id)), limit=limit, cursor=cursor)


def agent_with_key_info(*, caller: Caller, workspace_id: str, agent_id: str) -> Agent:
    """Return an agent of a workspace, with whether it has an API key and when it last used one. Raises NotFound."""
    require_access(caller, workspace_id, None, write=False)
    rows = Agent.objects.filter(pk=agent_id, workspace_id=workspace_id)
    agent = _with_use(rows).first() if is_id(agent_id, "agt") else None
    if agent is None:
        raise missing_or_foreign_id_error(None, "agent")
    return agent


def keys_of_agent(*, caller: Caller, agent: Agent, limit: int) -> list[ApiKey]:
    """Return the latest API keys of the agent, newest first. Raises NotFound, ScopeMissing."""
    require_access(caller, agent.workspace_id, "api_keys.write", write=False, noun="agent")
    return list(ApiKey.objects.filter(agent=agent).order_by("-pk")[:limit])


def _with_use(rows: QuerySet[Agent]) -> QuerySet[Agent]:
    keys = ApiKey.objects.filter(agent=OuterRef("pk")).order_by()
    claims = ClaimToken.objects.filter(agent=OuterRef("pk"), burned_at=None)
    return rows.annotate(
        has_key=Exists(keys),
        claim_until=Subquery(claims.values("expires_at")[:1]),
        last_used_at=Subquery(keys.values("agent").annotate(latest=Max("last_used_at")).values("latest")),
    )


def active_keys_without_agent_keys(*, workspace_id: str) -> QuerySet[ApiKey]:
    """Return a workspace's active API keys without those of its agents.

    Agents' keys and revoked, retiring and expired keys are left out.
    """
    own = ApiKey.objects.filter(workspace_id=workspace_id, agent=None, revoked_at=None, retiring_since=None)
    return own.filter(Q(expires_at=None) | Q(expires_at__gt=timezone.now()))


def get_manageable_api_key(*, caller: Caller, api_key_id: str) -> ApiKey:
    """Query the API key with this id, if the caller may change it. Raises NotFound, ScopeMissing, WorkspacePaused."""
    key = ApiKey.objects.select_related("agent").filter(pk=api_key_id).first() if is_id(api_key_id, "key") else None
    if key is None:
        raise missing_or_foreign_id_error(None, "API key")
    require_access(caller, key.workspace_id, "api_keys.write", noun="API key")
    return key
