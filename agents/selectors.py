"""Reads of agents and keys."""

from __future__ import annotations

from agents.models import Agent, ApiKey
from config.api.caller import Caller, require
from config.api.errors import NotFound


def agent_of(*, caller: Caller, agent_id: str, scope: str | None = None, write: bool = False) -> Agent:
    """An agent that exists for this caller. Raises NotFound, ScopeMissing, WorkspacePaused."""
    agent = Agent.objects.filter(pk=agent_id).first()
    if agent is None:
        raise NotFound("There is no such agent.")
    require(caller, agent.workspace_id, scope, write=write)
    return agent


def api_key_of(*, caller: Caller, api_key_id: str) -> ApiKey:
    """A key that exists for this caller, to be changed. Raises NotFound, ScopeMissing, WorkspacePaused."""
    key = ApiKey.objects.select_related("agent").filter(pk=api_key_id).first()
    if key is None:
        raise NotFound("There is no such API key.")
    require(caller, key.workspace_id, "api_keys.write")
    return key
