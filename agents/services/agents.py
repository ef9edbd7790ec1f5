"""Registering agents."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from agents import tokens
from agents.models import Agent, ClaimToken
from agents.services.keys import forbid_agents, require_grantable
from auditlog.services import record
from config.api.caller import Caller, require
from config.api.errors import ValidationFailed
from config.api.webhook_url import check_webhook_url
from workspaces.models import Member

CLAIM_LIFETIME = timedelta(hours=24)


@dataclass(frozen=True)
class AgentCreated:
    """An agent with its one-time claim token (None in a preview)."""

    agent: Agent
    claim_token: str | None
    claim_expires_at: datetime


def create_agent(*, caller: Caller, workspace_id: str, dry_run: bool = False, **fields: Any) -> AgentCreated:
    """Register an agent and issue its claim token.

    `fields` are the create-agent fields of SPEC.md. Raises ScopeMissing (also for granting a scope that the caller lacks),
    Forbidden (an agent), ValidationFailed (owner_user_id, webhook_url), WorkspacePaused.
    """
    require(caller, workspace_id, "api_keys.write", body_field="workspace_id")
    forbid_agents(caller)
    require_grantable(caller, fields["scopes"])
    if not Member.objects.filter(workspace_id=workspace_id, user_id=fields["owner_user_id"], role="owner").exists():
        raise ValidationFailed.of("owner_user_id", "This user does not own the workspace.", "not_found")
    check_webhook_url(fields.get("webhook_url"))
    token = None if dry_run else tokens.new_token(tokens.CLAIM)
    created = AgentCreated(Agent(workspace_id=workspace_id, **fields), token, timezone.now() + CLAIM_LIFETIME)
    with transaction.atomic():
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
