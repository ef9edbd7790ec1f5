"""Claiming: an agent exchanges its one-time token for its key."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from agents import tokens
from agents.errors import ClaimTokenExpired, ClaimTokenInvalid, ClaimTokenUsed
from agents.models import Agent, ApiKey, ClaimToken
from agents.services.keys import default_end, issue_key
from auditlog.services import record
from config.api.caller import Caller, WorkspaceStatus
from config.api.errors import WorkspacePaused


@dataclass(frozen=True)
class AgentClaimed:
    """The agent, its key, and the key's token, which is shown once."""

    agent: Agent
    api_key: ApiKey
    token: str


def claim_agent(*, caller: Caller, claim_token: str) -> AgentClaimed:
    """Burn the token and issue the agent's key; of many at once, one wins.

    Any authenticated caller may bring the token: who holds it, is the agent.
    Raises ClaimTokenInvalid, ClaimTokenUsed, ClaimTokenExpired, WorkspacePaused.
    """
    claim = (
        ClaimToken.objects.select_related("agent__workspace").filter(token_sha256=tokens.digest(claim_token)).first()
        if tokens.is_well_formed(claim_token)
        else None
    )
    if claim is None or claim.agent.workspace.status == WorkspaceStatus.DELETED:
        raise ClaimTokenInvalid()
    if claim.agent.workspace.status == WorkspaceStatus.PAUSED:
        raise WorkspacePaused()
    now = timezone.now()
    with transaction.atomic():
        burned = ClaimToken.objects.filter(pk=claim.pk, burned_at=None, expires_at__gt=now).update(burned_at=now)
        if not burned or claim.agent.status == Agent.Status.REVOKED:
            claim.refresh_from_db()
            raise ClaimTokenExpired() if claim.burned_at is None else ClaimTokenUsed()
        agent = claim.agent
        issued = issue_key(
            workspace_id=agent.workspace_id, name=agent.name, scopes=(), agent=agent, expires_at=default_end()
        )
        assert issued.token  # noqa: S101 - a saved key has one
        record(
            caller=caller,
            operation="agents.claim",
            workspace_id=agent.workspace_id,
            resource_type="agent",
            resource_id=agent.id,
            metadata={"api_key_id": issued.api_key.id},
        )
    return AgentClaimed(agent, issued.api_key, issued.token)
