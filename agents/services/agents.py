"""Registering, changing and revoking agents."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from agents import selectors, tokens
from agents.models import Agent, ApiKey, ClaimToken
from agents.services.keys import forbid_agents, require_grantable
from agents.services.loosening import require_for_loosening
from auditlog.services import record
from config.api.caller import Caller, require, require_recent_sign_in
from config.api.errors import Conflict, InvalidState, ValidationFailed
from config.api.webhook_url import check_webhook_url
from workspaces.models import Member
from workspaces.services import lock_workspace

CLAIM_LIFETIME = timedelta(hours=24)
MAX_LIVE_AGENTS = 100  # of a workspace


@dataclass(frozen=True)
class AgentCreated:
    """An agent with its one-time claim token (None in a preview)."""

    agent: Agent
    claim_token: str | None
    claim_expires_at: datetime


def create_agent(*, caller: Caller, workspace_id: str, dry_run: bool = False, **fields: Any) -> AgentCreated:
    """Register an agent and issue its claim token.

    `fields` are the create-agent fields of SPEC.md. Raises ScopeMissing (also for granting a scope that the caller lacks),
    Forbidden (an agent), ReauthenticationRequired, ValidationFailed (owner_user_id, rate_limit_per_minute),
    WebhookUrlNotAllowed, Conflict (MAX_LIVE_AGENTS), WorkspacePaused.
    """
    require(caller, workspace_id, "api_keys.write", body_field="workspace_id")
    forbid_agents(caller)
    require_grantable(caller, fields["scopes"])
    require_recent_sign_in(caller)
    if not Member.objects.filter(workspace_id=workspace_id, user_id=fields["owner_user_id"], role="owner").exists():
        raise ValidationFailed.of("owner_user_id", "This user does not own the workspace.", "not_found")
    _check_rate_limit(fields.get("rate_limit_per_minute"))
    check_webhook_url(fields.get("webhook_url"))
    token = None if dry_run else tokens.new_token(tokens.CLAIM)
    created = AgentCreated(Agent(workspace_id=workspace_id, **fields), token, timezone.now() + CLAIM_LIFETIME)
    with transaction.atomic():
        lock_workspace(workspace_id)  # else two calls at once could both count one agent less than there are
        if Agent.objects.filter(workspace_id=workspace_id, status=Agent.Status.ACTIVE).count() >= MAX_LIVE_AGENTS:
            raise Conflict(
                f"The workspace has {MAX_LIVE_AGENTS} agents.", suggested_action="Revoke agents that are not used."
            )
        if token:
            created.agent.save(force_insert=True)
            ClaimToken.objects.create(
                agent=created.agent, token_sha256=tokens.digest(token), expires_at=created.claim_expires_at
            )
        record(
            caller=caller,
            operation="agents.create",
            resource_type="agent",
            resource_id="" if dry_run else created.agent.id,
            dry_run=dry_run,
            metadata={"scopes": list(created.agent.scopes), "default_mode": created.agent.default_mode},
        )
    return created


def update_agent(*, caller: Caller, agent_id: str, dry_run: bool = False, **changes: Any) -> Agent:
    """Change what is given of an agent: the create-agent fields of SPEC.md but its workspace and owner.

    None takes a setting away. Scopes that the agent holds already may stay, whoever changes it; added ones the caller
    must hold. A change that lets the agent do more (services/loosening.py) needs all of its scopes.

    Raises ScopeMissing, NotFound, Forbidden (an agent), InvalidState (revoked), ValidationFailed
    (rate_limit_per_minute), WebhookUrlNotAllowed, WorkspacePaused.
    """
    agent = selectors.agent_of(caller=caller, agent_id=agent_id, scope="api_keys.write", write=True)
    forbid_agents(caller)
    _check_rate_limit(changes.get("rate_limit_per_minute"))
    _require_changeable(caller, agent, changes)
    check_webhook_url(changes.get("webhook_url"))
    with transaction.atomic():
        agent = Agent.objects.select_for_update(no_key=True).get(pk=agent.pk)
        _require_changeable(caller, agent, changes)
        for name, value in changes.items():
            setattr(agent, name, value)
        if not dry_run:
            agent.save(update_fields=[*changes, "updated_at"])
        record(
            caller=caller,
            operation="agents.update",
            resource_type="agent",
            resource_id=agent.id,
            dry_run=dry_run,
            metadata={
                "changed": sorted(changes),
                "scopes": list(agent.scopes),
                "default_mode": agent.default_mode,
            },
        )
    return agent


def revoke_agent(*, caller: Caller, agent_id: str, dry_run: bool = False) -> Agent:
    """Stop an agent for good, with its keys and claim token; one that is revoked already is answered as it stands.

    Raises ScopeMissing, NotFound, Forbidden (an agent), ReauthenticationRequired, WorkspacePaused.
    """
    agent = selectors.agent_of(caller=caller, agent_id=agent_id, scope="api_keys.write", write=True)
    forbid_agents(caller)
    require_recent_sign_in(caller)
    agent.status = Agent.Status.REVOKED
    with transaction.atomic():
        if not dry_run:
            _stop(agent)
        record(
            caller=caller,
            operation="agents.revoke",
            resource_type="agent",
            resource_id=agent.id,
            dry_run=dry_run,
        )
    return agent


def _require_changeable(caller: Caller, agent: Agent, changes: dict[str, Any]) -> None:
    require_grantable(caller, [scope for scope in changes.get("scopes", ()) if scope not in agent.scopes])
    require_for_loosening(caller, agent, changes)
    if agent.status == Agent.Status.REVOKED:
        raise InvalidState("The agent is revoked and cannot be changed any more.")


def _check_rate_limit(requests_per_minute: int | None) -> None:
    most = settings.MAX_RATE_LIMIT_PER_MINUTE
    if requests_per_minute is not None and requests_per_minute > most:
        raise ValidationFailed.of("rate_limit_per_minute", f"At most {most} requests a minute.", "max_value")


def _stop(agent: Agent) -> None:
    """The claim token goes before the keys: a claim that runs at this moment has issued its key or comes too late."""
    now = timezone.now()
    Agent.objects.filter(pk=agent.pk).update(status=Agent.Status.REVOKED, updated_at=now)
    ClaimToken.objects.filter(agent=agent, burned_at=None).update(burned_at=now)
    ApiKey.objects.filter(agent=agent, revoked_at=None).update(revoked_at=now, updated_at=now)
