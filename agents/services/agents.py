"""Registers, changes and revokes agents, and exchanges the one-time claim tokens of agents for API keys."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from agents import selectors, tokens
from agents.errors import ClaimTokenExpired, ClaimTokenUsed
from agents.models import Agent, ApiKey, ClaimToken, OAuthGrant
from agents.services.keys import IssuedKey, default_key_expiry_or_none, issue_key, require_grantable_scopes
from auditlog.services import record_entry
from config.api.caller import AgentMode, Caller, WorkspaceStatus, forbid_agent_callers, require_access, require_recent_sign_in
from config.api.errors import Conflict, InvalidState, ScopeMissing, ValidationFailed, WorkspacePaused
from config.api.plan import ResourcePlan, accept_plan, row_fields
from config.api.webhook_url import check_webhook_url_without_lookup
from workspaces.models import Member
from workspaces.services import lock_workspace

CLAIM_TOKEN_LIFETIME = timedelta(hours=24)
MAX_LIVE_AGENTS = 100  # maximum number of active agents of a workspace
CAP_FIELDS = ("posts_per_day_cap", "monthly_spend_cap_cents", "monthly_social_url_post_cap")
AGENT_FIELDS_IN_PLANS = (
    *("owner_user_id", "name", "scopes", "default_mode", "status", "version", "description", "account_allowlist"),
    *("rate_limit_per_minute", *CAP_FIELDS, "webhook_url", "showcase_opt_in"),
)


@dataclass(frozen=True)
class AgentWithClaimToken:
    """A newly registered agent and its one-time claim token; the token is None in a dry run, or if none was asked for."""

    agent: Agent
    claim_token: str | None
    claim_expires_at: datetime


def create_agent(
    *, caller: Caller, workspace_id: str, dry_run: bool = False, claimable: bool = True, **fields: Any
) -> AgentWithClaimToken:
    """Register an agent of the workspace and issue the claim token that the agent exchanges for an API key.

    An agent that is not `claimable` gets no claim token. `fields` are values for fields of the Agent model; `owner_user_id`,
    `name`, `scopes` and `default_mode` are required.
    Raises ScopeMissing (also for a granted scope that the caller lacks), Forbidden (an agent), ReauthenticationRequired,
    ValidationFailed (owner_user_id, rate_limit_per_minute), WebhookUrlNotAllowed, Conflict (MAX_LIVE_AGENTS),
    WorkspacePaused, PlanChanged.
    """
    require_access(caller, workspace_id, "api_keys.write", body_field="workspace_id")
    forbid_agent_callers(caller)
    require_grantable_scopes(caller, fields["scopes"])
    require_recent_sign_in(caller)
    if not Member.objects.filter(workspace_id=workspace_id, user_id=fields["owner_user_id"], role="owner").exists():
        raise ValidationFailed.for_field("owner_user_id", gettext_noop("This user does not own the workspace."), "not_found")
    _check_rate_limit(fields.get("rate_limit_per_minute"))
    check_webhook_url_without_lookup(fields.get("webhook_url"))
    token = tokens.generate_token(tokens.CLAIM_TOKEN_PREFIX) if claimable and not dry_run else None
    created = AgentWithClaimToken(Agent(workspace_id=workspace_id, **fields), token, timezone.now() + CLAIM_TOKEN_LIFETIME)
    with transaction.atomic():
        lock_workspace(workspace_id)  # so that concurrent calls cannot exceed the limit together
        if Agent.objects.filter(workspace_id=workspace_id, status=Agent.Status.ACTIVE).count() >= MAX_LIVE_AGENTS:
            raise Conflict(
                f"The workspace already has {MAX_LIVE_AGENTS} agents.",
                suggested_action=gettext_noop("Revoke unused agents first."),
            )
        accept_plan(ResourcePlan("agents.create", workspace_id, None, row_fields(created.agent, *AGENT_FIELDS_IN_PLANS)))
        if not dry_run:
            created.agent.save(force_insert=True)
        if token:
            ClaimToken.objects.create(
                agent=created.agent, token_sha256=tokens.token_digest(token), expires_at=created.claim_expires_at
            )
        record_entry(
            caller=caller,
            operation="agents.create",
            resource_type="agent",
            resource_id="" if dry_run else created.agent.id,
            dry_run=dry_run,
            metadata={"scopes": list(created.agent.scopes), "default_mode": created.agent.default_mode},
        )
    return created


def exchange_claim_token_for_key(*, caller: Caller, claim_token: str) -> IssuedKey:
    """Use up an agent's claim token and issue the agent's API key. Of several concurrent requests, only one succeeds.

    Raises ClaimTokenUnknown, ClaimTokenUsed, ClaimTokenExpired, WorkspacePaused.
    """
    claim = selectors.get_claim_token(caller=caller, claim_token=claim_token)
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
            workspace_id=agent.workspace_id, name=agent.name, scopes=(), agent=agent, expires_at=default_key_expiry_or_none()
        )
        record_entry(
            caller=caller,
            operation="agents.claim",
            workspace_id=agent.workspace_id,
            resource_type="agent",
            resource_id=agent.id,
            metadata={"api_key_id": issued.api_key.id},
        )
    return issued


def update_agent(*, caller: Caller, agent_id: str, dry_run: bool = False, **changes: Any) -> Agent:
    """Change the given fields of an agent. All fields except workspace and owner can be changed.

    None removes a setting. The caller must hold each added scope; scopes that the agent already has may stay. A change
    that lets the agent do more needs all scopes of the agent.

    Raises ScopeMissing, NotFound, Forbidden (an agent), InvalidState (revoked), ValidationFailed
    (rate_limit_per_minute), WebhookUrlNotAllowed, WorkspacePaused, PlanChanged.
    """
    agent = selectors.get_accessible_agent(caller=caller, agent_id=agent_id, scope="api_keys.write", write=True)
    forbid_agent_callers(caller)
    _check_rate_limit(changes.get("rate_limit_per_minute"))
    _require_changeable(caller, agent, changes)
    check_webhook_url_without_lookup(changes.get("webhook_url"))
    with transaction.atomic():
        agent = Agent.objects.select_for_update(no_key=True).get(pk=agent.pk)
        _require_changeable(caller, agent, changes)
        before = row_fields(agent, *AGENT_FIELDS_IN_PLANS)
        for name, value in changes.items():
            setattr(agent, name, value)
        accept_plan(ResourcePlan("agents.update", agent.id, before, row_fields(agent, *AGENT_FIELDS_IN_PLANS)))
        if not dry_run:
            agent.save(update_fields=[*changes, "updated_at"])
        record_entry(
            caller=caller,
            operation="agents.update",
            resource_type="agent",
            resource_id=agent.id,
            dry_run=dry_run,
            metadata={"changed": sorted(changes), "scopes": list(agent.scopes), "default_mode": agent.default_mode},
        )
    return agent


def revoke_agent(*, caller: Caller, agent_id: str, dry_run: bool = False) -> Agent:
    """Revoke an agent permanently, with its API keys, its claim token and its OAuth grant. A second time changes nothing.

    Raises ScopeMissing, NotFound, Forbidden (an agent), ReauthenticationRequired, WorkspacePaused, PlanChanged.
    """
    found = selectors.get_accessible_agent(caller=caller, agent_id=agent_id, scope="api_keys.write", write=True)
    forbid_agent_callers(caller)
    require_recent_sign_in(caller)
    with transaction.atomic():
        agent = Agent.objects.select_for_update(no_key=True).get(pk=found.pk)
        before = row_fields(agent, *AGENT_FIELDS_IN_PLANS)
        agent.status = Agent.Status.REVOKED
        accept_plan(ResourcePlan("agents.revoke", agent.id, before, row_fields(agent, *AGENT_FIELDS_IN_PLANS)))
        if not dry_run:
            _stop(agent)
        record_entry(caller=caller, operation="agents.revoke", resource_type="agent", resource_id=agent.id, dry_run=dry_run)
    return agent


def _require_changeable(caller: Caller, agent: Agent, changes: dict[str, Any]) -> None:
    require_grantable_scopes(caller, [scope for scope in changes.get("scopes", ()) if scope not in agent.scopes])
    _forbid_escalation(caller, agent, changes)
    if agent.status == Agent.Status.REVOKED:
        raise InvalidState(gettext_noop("The agent is revoked and can no longer be changed."))


def _forbid_escalation(caller: Caller, agent: Agent, changes: dict[str, Any]) -> None:
    """Raise ScopeMissing if a caller who lacks one of an agent's scopes tries to extend what the agent may do."""
    increased = [name for name, value in changes.items() if _increases_permission(agent, name, value)]
    missing = [scope for scope in agent.scopes if scope not in caller.scopes]
    if increased and missing:
        raise ScopeMissing(
            f"This change of {', '.join(increased)} lets the agent do more, but the caller does not hold "
            f"{', '.join(missing)}, which the agent holds.",
            suggested_action="Use a key that holds every scope of the agent.",
        )


def _increases_permission(agent: Agent, name: str, value: Any) -> bool:
    """Return whether a changed field lets the agent do more, such as a less strict mode or a higher request rate or cap."""
    before = getattr(agent, name)
    if name == "default_mode":
        return _mode_rank(value) > _mode_rank(before)
    if name == "account_allowlist":
        return before is not None and (value is None or not set(value) <= set(before))
    if name == "rate_limit_per_minute":
        return _requests_per_minute(value) > _requests_per_minute(agent.capped_rate_limit_per_minute)
    return name in CAP_FIELDS and before is not None and (value is None or value > before)


def _mode_rank(mode: str) -> int:
    return list(AgentMode.values).index(mode)


def _requests_per_minute(limit: int | None) -> int:
    return settings.RATE_LIMIT_PER_MINUTE if limit is None else limit


def _check_rate_limit(requests_per_minute: int | None) -> None:
    most = settings.MAX_RATE_LIMIT_PER_MINUTE
    if requests_per_minute is not None and requests_per_minute > most:
        raise ValidationFailed.for_field("rate_limit_per_minute", f"At most {most} requests a minute.", "max_value")


def _stop(agent: Agent) -> None:
    """Revoke an agent: first its claim token, then its API keys, so that a concurrent request cannot get a working key.

    Its OAuth grant ends too.
    """
    now = timezone.now()
    Agent.objects.filter(pk=agent.pk).update(status=Agent.Status.REVOKED, updated_at=now)
    ClaimToken.objects.filter(agent=agent, burned_at=None).update(burned_at=now)
    ApiKey.objects.filter(agent=agent, revoked_at=None).update(revoked_at=now, updated_at=now)
    OAuthGrant.objects.filter(agent=agent, ended_at=None).update(ended_at=now, updated_at=now)
