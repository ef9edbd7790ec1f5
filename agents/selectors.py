"""Reads of agents and keys."""

from __future__ import annotations

from django.db.models import Exists, Max, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from agents.models import Agent, ApiKey, ClaimToken
from config.api.caller import Caller, absent, require
from config.api.paging import Page, paginate
from config.db.ids import is_id


def agents_of(*, caller: Caller, workspace_id: str, limit: int, cursor: str | None = None) -> Page[Agent]:
    """The workspace's agents, the revoked ones too, newest first. Raises NotFound."""
    require(caller, workspace_id, None, write=False)
    return paginate(Agent.objects.filter(workspace_id=workspace_id), limit=limit, cursor=cursor)


def agent_of(*, caller: Caller, agent_id: str, scope: str | None = None, write: bool = False) -> Agent:
    """An agent that exists for this caller. Raises NotFound, ScopeMissing, WorkspacePaused."""
    agent = Agent.objects.filter(pk=agent_id).first() if is_id(agent_id, "agt") else None
    if agent is None:
        raise absent(None, "agent")
    require(caller, agent.workspace_id, scope, write=write, noun="agent")
    return agent


def agents_with_use(*, caller: Caller, workspace_id: str, limit: int, cursor: str | None = None) -> Page[Agent]:
    """As `agents_of`, each with `has_key` (it was ever given one), `claim_until` (when its unused claim token ends) and
    `last_used_at`. Raises NotFound."""
    require(caller, workspace_id, None, write=False)
    return paginate(_with_use(Agent.objects.filter(workspace_id=workspace_id)), limit=limit, cursor=cursor)


def agent_with_use(*, caller: Caller, workspace_id: str, agent_id: str) -> Agent:
    """One of `agents_with_use`. Raises NotFound, for an agent of another workspace too."""
    require(caller, workspace_id, None, write=False)
    rows = Agent.objects.filter(pk=agent_id, workspace_id=workspace_id)
    agent = _with_use(rows).first() if is_id(agent_id, "agt") else None
    if agent is None:
        raise absent(None, "agent")
    return agent


def keys_of_agent(*, caller: Caller, agent: Agent, limit: int) -> list[ApiKey]:
    """The agent's latest keys, newest first. Raises NotFound, ScopeMissing."""
    require(caller, agent.workspace_id, "api_keys.write", write=False, noun="agent")
    return list(ApiKey.objects.filter(agent=agent).order_by("-pk")[:limit])


def _with_use(rows: QuerySet[Agent]) -> QuerySet[Agent]:
    keys = ApiKey.objects.filter(agent=OuterRef("pk")).order_by()
    claims = ClaimToken.objects.filter(agent=OuterRef("pk"), burned_at=None)
    return rows.annotate(
        has_key=Exists(keys),
        claim_until=Subquery(claims.values("expires_at")[:1]),
        last_used_at=Subquery(keys.values("agent").annotate(latest=Max("last_used_at")).values("latest")),
    )


def api_keys_of(*, workspace_id: str, limit: int, cursor: str | None = None) -> Page[ApiKey]:
    """The workspace's keys and its agents', whatever their status, newest first."""
    keys = ApiKey.objects.select_related("agent").filter(workspace_id=workspace_id)
    return paginate(keys, limit=limit, cursor=cursor)


def live_keys(*, workspace_id: str) -> QuerySet[ApiKey]:
    """The workspace's own keys that open it: not its agents', and none that is revoked, retiring or expired."""
    own = ApiKey.objects.filter(workspace_id=workspace_id, agent=None, revoked_at=None, retiring_since=None)
    return own.filter(Q(expires_at=None) | Q(expires_at__gt=timezone.now()))


def api_key_of(*, caller: Caller, api_key_id: str) -> ApiKey:
    """A key that exists for this caller, to be changed. Raises NotFound, ScopeMissing, WorkspacePaused."""
    key = ApiKey.objects.select_related("agent").filter(pk=api_key_id).first() if is_id(api_key_id, "key") else None
    if key is None:
        raise absent(None, "API key")
    require(caller, key.workspace_id, "api_keys.write", noun="API key")
    return key
