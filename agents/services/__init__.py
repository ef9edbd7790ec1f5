"""What is done with agents, claim tokens and API keys."""

from __future__ import annotations

from agents.services.agents import AgentCreated, create_agent, revoke_agent, update_agent
from agents.services.claims import AgentClaimed, claim_agent, find_claim
from agents.services.key_networks import remember_network, require_allowed_network
from agents.services.keys import KeyIssued, create_api_key, issue_key, list_api_keys, revoke_api_key
from agents.services.operators import revoke_any_key
from agents.services.rotation import KeyRotated, rotate_key

__all__ = [
    "AgentClaimed",
    "AgentCreated",
    "KeyIssued",
    "KeyRotated",
    "claim_agent",
    "create_agent",
    "create_api_key",
    "find_claim",
    "issue_key",
    "list_api_keys",
    "remember_network",
    "require_allowed_network",
    "revoke_agent",
    "revoke_any_key",
    "revoke_api_key",
    "rotate_key",
    "update_agent",
]
