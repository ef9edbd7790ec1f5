"""The API views of agents, claim tokens and API keys."""

from __future__ import annotations

from agents import selectors, services
from agents.serializers import (
    AgentClaimedSerializer,
    AgentCreatedSerializer,
    AgentEnvelope,
    AgentPage,
    AgentsQuery,
    ApiKeyEnvelope,
    ApiKeyPage,
    ApiKeysQuery,
    ClaimSerializer,
    CreateAgentPreview,
    CreateAgentSerializer,
    CreateApiKeyPreview,
    CreateApiKeySerializer,
    KeyIssuedSerializer,
    KeyRotatedSerializer,
    RevokeAgentPreview,
    RevokeApiKeyPreview,
    RevokedAgentEnvelope,
    RotateKeyPreview,
    UpdateAgentPreview,
    UpdateAgentSerializer,
)
from auditlog.serializers import AgentLogsQuery, LogPage
from auditlog.views import reply_with_audit_entries_or_csv
from config.api.operation import Call, DryRunReply, Reply, operation
from config.api.paging import page_response_body
from config.api.policies import Access, Body, Idempotency
from config.api.views import OperationViewSet


def _claim(call: Call) -> str:
    """Return the owner of the Idempotency-Key in a request with an agent's claim token: the token itself, not the caller."""
    claim = selectors.get_claim_token(caller=call.caller, claim_token=str(call.data.get("claim_token")))
    return f"claim:{claim.token_sha256}"


class AgentViewSet(OperationViewSet):
    @operation(
        "agents.list",
        summary="List the agents of a workspace",
        query=AgentsQuery,
        responses={200: AgentPage},
        errors=("NOT_FOUND",),
    )
    def list(self, call: Call) -> Reply:
        return Reply(page_response_body("agents", selectors.list_agents_with_revoked(caller=call.caller, **call.query)))

    @operation(
        "agents.create",
        summary="Register an agent and issue its one-time claim token",
        access=Access("api_keys.write"),
        body=Body(CreateAgentSerializer),
        responses={201: AgentCreatedSerializer},
        preview=CreateAgentPreview,
        idempotency=Idempotency("transaction", secrets=("claim_token",)),
        errors=("REAUTHENTICATION_REQUIRED", "FORBIDDEN", "CONFLICT", "WEBHOOK_URL_NOT_ALLOWED"),
    )
    def create(self, call: Call) -> Reply | DryRunReply:
        created = services.create_agent(caller=call.caller, dry_run=call.dry_run, **call.data)
        if call.dry_run:
            return DryRunReply(call.data, created.agent, "would_create")
        body = {
            "agent": created.agent,
            "settings": created.agent,
            "claim_token": created.claim_token,
            "claim_expires_at": created.claim_expires_at,
        }
        return Reply(body, 201, created.agent.id)

    @operation("agents.get", summary="Read an agent", responses={200: AgentEnvelope})
    def retrieve(self, call: Call, agent_id: str) -> Reply:
        agent = selectors.get_accessible_agent(caller=call.caller, agent_id=agent_id)
        return Reply({"agent": agent, "settings": agent})

    @operation(
        "agents.update",
        summary="Change an agent",
        description="A field that is left out does not change. Null removes: version, description, account_allowlist, "
        "rate_limit_per_minute, posts_per_day_cap, monthly_spend_cap_cents, monthly_social_url_post_cap, webhook_url. "
        "The caller must hold each added scope. A higher mode, a wider or removed allowlist, a higher or "
        "removed cap and a higher rate need every scope of the agent.",
        access=Access("api_keys.write"),
        body=Body(UpdateAgentSerializer),
        responses={200: AgentEnvelope},
        preview=UpdateAgentPreview,
        idempotency=Idempotency("transaction"),
        errors=("FORBIDDEN", "NOT_FOUND", "INVALID_STATE", "WEBHOOK_URL_NOT_ALLOWED"),
    )
    def partial_update(self, call: Call, agent_id: str) -> Reply | DryRunReply:
        agent = services.update_agent(caller=call.caller, agent_id=agent_id, dry_run=call.dry_run, **call.data)
        if call.dry_run:
            return DryRunReply(call.data, agent, "would_update")
        return Reply({"agent": agent, "settings": agent}, resource_id=agent.id)

    @operation(
        "agents.revoke",
        summary="Revoke an agent",
        description="Its keys stop at once. Revoking a revoked agent returns it again.",
        access=Access("api_keys.write"),
        responses={200: RevokedAgentEnvelope},
        preview=RevokeAgentPreview,
        idempotency=Idempotency("transaction"),
        errors=("REAUTHENTICATION_REQUIRED", "FORBIDDEN", "NOT_FOUND"),
    )
    def destroy(self, call: Call, agent_id: str) -> Reply | DryRunReply:
        agent = services.revoke_agent(caller=call.caller, agent_id=agent_id, dry_run=call.dry_run)
        if call.dry_run:
            return DryRunReply({}, agent, "would_update")
        return Reply({"agent": agent}, resource_id=agent.id)

    @operation(
        "agents.rotate_key",
        summary="Issue an agent a new key",
        description="The current key works for 24 hours more, older ones stop at once, and the claim token stops working. "
        "An agent may rotate its own key without any scope; others need api_keys.write and every scope of the agent.",
        responses={200: KeyRotatedSerializer},
        preview=RotateKeyPreview,
        idempotency=Idempotency("transaction", secrets=("token",)),
        errors=("REAUTHENTICATION_REQUIRED", "SCOPE_MISSING", "FORBIDDEN", "NOT_FOUND", "INVALID_STATE"),
    )
    def rotate_key(self, call: Call, agent_id: str) -> Reply | DryRunReply:
        rotated = services.rotate_key(caller=call.caller, agent_id=agent_id, dry_run=call.dry_run)
        if call.dry_run:
            return DryRunReply({}, rotated.api_key, "would_create")
        body = {"api_key": rotated.api_key, "token": rotated.token, "retiring_key": rotated.retiring_key}
        return Reply(body, resource_id=rotated.api_key.id)

    @operation(
        "agents.claim",
        summary="Exchange a claim token for the agent's API key",
        body=Body(ClaimSerializer),
        responses={200: AgentClaimedSerializer},
        idempotency=Idempotency("transaction", actor=_claim, secrets=("token",)),
        access=Access(claim_token=True),
        errors=("CLAIM_TOKEN_INVALID", "CLAIM_TOKEN_USED", "CLAIM_TOKEN_EXPIRED"),
    )
    def claim(self, call: Call) -> Reply:
        """API operation with which an agent exchanges its claim token, once, for its API key."""
        claimed = services.exchange_claim_token_for_key(caller=call.caller, claim_token=call.data["claim_token"])
        key = claimed.api_key
        return Reply({"agent": key.agent, "api_key": key, "token": claimed.token}, resource_id=key.id)

    @operation(
        "agents.logs",
        summary="Read what an agent did or tried, newest first",
        access=Access("logs.read"),
        query=AgentLogsQuery,
        responses={200: LogPage},
        media_types=("text/csv",),
        errors=("NOT_FOUND",),
    )
    def logs(self, call: Call, agent_id: str) -> Reply:
        agent = selectors.get_accessible_agent(caller=call.caller, agent_id=agent_id, scope="logs.read")
        return reply_with_audit_entries_or_csv(
            call, name=f"logs-{agent.id}", workspace_id=agent.workspace_id, actor_id=agent.id
        )


class ApiKeyViewSet(OperationViewSet):
    """API views that list the API keys of a workspace and its agents, create workspace keys, and revoke keys."""

    @operation(
        "api_keys.list",
        summary="List the API keys of a workspace and its agents",
        access=Access("api_keys.write"),
        query=ApiKeysQuery,
        responses={200: ApiKeyPage},
        errors=("FORBIDDEN", "NOT_FOUND"),
    )
    def list(self, call: Call) -> Reply:
        return Reply(page_response_body("api_keys", selectors.list_api_keys(caller=call.caller, **call.query)))

    @operation(
        "api_keys.create",
        summary="Create a workspace API key",
        access=Access("api_keys.write"),
        body=Body(CreateApiKeySerializer),
        responses={201: KeyIssuedSerializer},
        preview=CreateApiKeyPreview,
        idempotency=Idempotency("transaction", replay_status=200, secrets=("token",)),
        errors=("REAUTHENTICATION_REQUIRED", "FORBIDDEN", "CONFLICT"),
    )
    def create(self, call: Call) -> Reply | DryRunReply:
        issued = services.create_workspace_api_key(caller=call.caller, dry_run=call.dry_run, **call.data)
        if call.dry_run:
            return DryRunReply(call.data, issued.api_key, "would_create")
        return Reply({"api_key": issued.api_key, "token": issued.token}, 201, issued.api_key.id)

    @operation(
        "api_keys.revoke",
        summary="Revoke an API key",
        access=Access("api_keys.write"),
        responses={200: ApiKeyEnvelope},
        preview=RevokeApiKeyPreview,
        idempotency=Idempotency("transaction"),
        errors=("REAUTHENTICATION_REQUIRED", "FORBIDDEN"),
    )
    def destroy(self, call: Call, api_key_id: str) -> Reply | DryRunReply:
        key = services.revoke_api_key(caller=call.caller, api_key_id=api_key_id, dry_run=call.dry_run)
        if call.dry_run:
            return DryRunReply({}, key, "would_update")
        return Reply({"api_key": key}, resource_id=key.id)
