"""Exchange an agent's one-time claim token for its API key."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from agents import tokens
from agents.errors import ClaimTokenExpired, ClaimTokenInvalid, ClaimTokenUsed
from agents.models import Agent, ApiKey, ClaimToken
from agents.services.keys import default_expiry, issue_key
from auditlog.services import record
from config.api.caller import Caller, WorkspaceStatus
from config.api.errors import WorkspacePaused


@dataclass(frozen=True)
class ClaimedAgent:
    """A claimed agent, its key, and the key's token, which is shown once."""

    agent: Agent
    api_key: ApiKey
    token: str


def claim_agent(*, caller: Caller, claim_token: str) -> ClaimedAgent:
    """Use up the claim token and issue the agent's key; only one of several concurrent claims succeeds.

    Raises ClaimTokenInvalid, ClaimTokenUsed, ClaimTokenExpired, WorkspacePaused.
    """
    claim = find_claim_token(caller=caller, claim_token=claim_token)
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
            workspace_id=agent.workspace_id, name=agent.name, scopes=(), agent=agent, expires_at=default_expiry()
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
    return ClaimedAgent(agent, issued.api_key, issued.token)


def find_claim_token(*, caller: Caller, claim_token: str) -> ClaimToken:
    """Return the row of a claim token, used or not. Raises ClaimTokenInvalid, also for a key of another workspace.

    A user may send any claim token, because its holder could also send it as the bearer token.
    """
    live = ClaimToken.objects.exclude(agent__workspace__status=WorkspaceStatus.DELETED)
    visible = live if caller.is_user else live.filter(agent__workspace=caller.workspace_id)
    rows = visible.select_related("agent__workspace").filter(token_sha256=tokens.digest(claim_token))
    claim = rows.first() if tokens.is_well_formed(claim_token) else None
    if claim is None:
        raise ClaimTokenInvalid()
    return claim
