"""Business operations on agents, their API keys, and the one-time tokens with which programs fetch their first key."""

from __future__ import annotations

from agents.services.agents import AgentWithClaimToken, create_agent, exchange_claim_token_for_key, revoke_agent, update_agent
from agents.services.key_networks import record_key_network_and_return_if_new, require_allowed_network
from agents.services.keys import (
    AgentKeyRotation,
    IssuedKey,
    create_workspace_api_key,
    issue_key,
    revoke_api_key,
    revoke_key_as_operator,
    rotate_key,
)
