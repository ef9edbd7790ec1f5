"""Agents, claims and API keys over the API."""

from __future__ import annotations

from agents import selectors, services, tokens
from agents.serializers import (
    AgentClaimedSerializer,
    AgentCreatedSerializer,
    AgentEnvelope,
    ApiKeyEnvelope,
    ClaimSerializer,
    CreateAgentPreview,
    CreateAgentSerializer,
    CreateApiKeyPreview,
    CreateApiKeySerializer,
    KeyIssuedSerializer,
    RevokeApiKeyPreview,
)
from config.api.operation import Call, Preview, Reply, operation
from config.api.views import OperationViewSet


class AgentViewSet(OperationViewSet):
    @operation(
        "agents.create",
        summary="Register an agent and issue its one-time claim token",
        scope="api_keys.write",
        body=CreateAgentSerializer,
        responses={201: AgentCreatedSerializer},
        preview=CreateAgentPreview,
        idempotent="transaction",
        secrets=("claim_token",),
        errors=("FORBIDDEN", "WEBHOOK_URL_NOT_ALLOWED"),
    )
    def create(self, call: Call) -> Reply | Preview:
        created = services.create_agent(caller=call.caller, dry_run=call.dry_run, **call.data)
        if call.dry_run:
            return Preview(call.data, created.agent, "would_create")
        body = {
            "agent": created.agent,
            "settings": created.agent,
            "claim_token": created.claim_token,
            "claim_expires_at": created.claim_expires_at,
        }
        return Reply(body, 201, created.agent.id)

    @operation("agents.get", summary="Read an agent", responses={200: AgentEnvelope})
    def retrieve(self, call: Call, agent_id: str) -> Reply:
        agent = selectors.agent_of(caller=call.caller, agent_id=agent_id)
        return Reply({"agent": agent, "settings": agent})

    @operation(
        "agents.claim",
        summary="Exchange a claim token for the agent's API key",
        body=ClaimSerializer,
        responses={200: AgentClaimedSerializer},
        idempotent="transaction",
        idempotency_actor=lambda call: f"claim:{tokens.digest(call.data['claim_token'])}",
        secrets=("token",),
        claim_token=True,
        errors=("CLAIM_TOKEN_INVALID", "CLAIM_TOKEN_USED", "CLAIM_TOKEN_EXPIRED"),
    )
    def claim(self, call: Call) -> Reply:
        claimed = services.claim_agent(caller=call.caller, claim_token=call.data["claim_token"])
        body = {"agent": claimed.agent, "api_key": claimed.api_key, "token": claimed.token}
        return Reply(body, resource_id=claimed.api_key.id)


class ApiKeyViewSet(OperationViewSet):
    @operation(
        "api_keys.create",
        summary="Create a workspace API key",
        scope="api_keys.write",
        body=CreateApiKeySerializer,
        responses={201: KeyIssuedSerializer},
        preview=CreateApiKeyPreview,
        idempotent="transaction",
        replay_status=200,
        secrets=("token",),
        errors=("FORBIDDEN",),
    )
    def create(self, call: Call) -> Reply | Preview:
        issued = services.create_api_key(caller=call.caller, dry_run=call.dry_run, **call.data)
        if call.dry_run:
            return Preview(call.data, issued.api_key, "would_create")
        return Reply({"api_key": issued.api_key, "token": issued.token}, 201, issued.api_key.id)

    @operation(
        "api_keys.revoke",
        summary="Revoke an API key",
        scope="api_keys.write",
        responses={200: ApiKeyEnvelope},
        preview=RevokeApiKeyPreview,
        idempotent="transaction",
        errors=("FORBIDDEN",),
    )
    def destroy(self, call: Call, api_key_id: str) -> Reply | Preview:
        key = services.revoke_api_key(caller=call.caller, api_key_id=api_key_id, dry_run=call.dry_run)
        if call.dry_run:
            return Preview({}, key, "would_update")
        return Reply({"api_key": key}, resource_id=key.id)
