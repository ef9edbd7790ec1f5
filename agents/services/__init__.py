"""What is done with agents, claim tokens and API keys."""

from __future__ import annotations

from agents.services.agents import AgentCreated, create_agent
from agents.services.claims import AgentClaimed, claim_agent
from agents.services.keys import KeyIssued, create_api_key, issue_key, revoke_api_key

__all__ = [
    "AgentClaimed",
    "AgentCreated",
    "KeyIssued",
    "claim_agent",
    "create_agent",
    "create_api_key",
    "issue_key",
    "revoke_api_key",
]
