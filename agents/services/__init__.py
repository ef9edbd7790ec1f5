"""Business operations on agents, claim tokens and API keys."""

from __future__ import annotations

from agents.services.agents import CreatedAgent, claim_agent, create_agent, find_claim_token, revoke_agent, update_agent
from agents.services.key_networks import record_network, require_allowed_network
from agents.services.keys import (
    IssuedKey,
    RotatedKey,
    create_api_key,
    issue_key,
    list_api_keys,
    revoke_api_key,
    revoke_key_as_operator,
    rotate_key,
)
