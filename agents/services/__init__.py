"""Business operations on agents, claim tokens and API keys."""

from __future__ import annotations

from agents.services.agents import CreatedAgent, create_agent, revoke_agent, update_agent
from agents.services.claim_tokens import ClaimedAgent, claim_agent, find_claim_token
from agents.services.key_networks import record_network, require_allowed_network
from agents.services.keys import IssuedKey, create_api_key, issue_key, list_api_keys, revoke_api_key
from agents.services.operators import revoke_key_as_operator
from agents.services.rotation import RotatedKey, rotate_key
