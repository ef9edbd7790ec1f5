"""OAuth grants: a person's permission creates an agent; codes and refresh tokens are exchanged for the agent's tokens.

Every function that exchanges something locks the grant or its token and must run in a transaction.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from agents import tokens
from agents.models import Agent, ApiKey, OAuthClient, OAuthGrant, OAuthToken
from agents.selectors import active_agents_of_client, get_accessible_agent
from agents.services import create_agent
from agents.services.keys import require_grantable_scopes
from auditlog.services import record_entry
from config.api import rate_limit
from config.api.caller import (
    Caller,
    WorkspaceStatus,
    forbid_agent_callers,
    require_operator,
    require_recent_sign_in,
    system_caller,
)
from config.api.errors import ValidationFailed, missing_or_foreign_id_error
from config.api.plan import ResourcePlan, accept_plan

CODE_LIFETIME = timedelta(seconds=60)
ACCESS_TOKEN_LIFETIME = timedelta(hours=1)
REFRESH_TOKEN_LIFETIME = timedelta(days=30)
REFRESHES_PER_HOUR = 60  # of a grant, because every refresh token is stored for 30 days
REPEATED_REFRESH_WINDOW = timedelta(seconds=30)  # an identical refresh within this gets the same tokens again
MAX_GRANT_DAYS = 366


@dataclass(frozen=True)
class RequestedAccess:
    """The access that an OAuth client asks a person to grant; in the device flow, without redirect URI and code challenge."""

    client: OAuthClient
    resource: str
    scopes: list[str]
    redirect_uri: str = ""
    code_challenge: str = ""
    state: str | None = None


@dataclass(frozen=True)
class IssuedTokens:
    """The tokens that an OAuth client gets for a code or refresh token; the access token ends after `expires_in` s."""

    access_token: str
    refresh_token: str
    expires_in: int


def allow_client_to_act_as_agent(
    *,
    caller: Caller,
    workspace_id: str,
    requested: RequestedAccess,
    expires_at: datetime,
    agent_id: str = "",
    **agent_fields: Any,
) -> tuple[OAuthGrant, str | None]:
    """Let an OAuth client act as a new agent, until `expires_at`; return the grant and the client's authorization code.

    `agent_id` is an agent as which the same client was connected earlier: it keeps its settings, and its earlier grant ends.
    Without a redirect URI (the device flow) the code is None. `agent_fields` are those of `create_agent` without the scopes.
    Raises what `create_agent` raises, ValidationFailed (expires_at), and NotFound (agent_id).
    """
    now = timezone.now()
    if not now < expires_at <= now + timedelta(days=MAX_GRANT_DAYS):
        raise ValidationFailed.for_field("expires_at", "Choose a day within a year.", "out_of_range")
    code = tokens.generate_token(tokens.AUTHORIZATION_CODE_PREFIX) if requested.redirect_uri else None
    with transaction.atomic():
        agent = _agent_to_reconnect(caller, workspace_id, requested.client, agent_id) if agent_id else None
        new = {"claimable": False, "scopes": requested.scopes, **agent_fields}
        agent = agent or create_agent(caller=caller, workspace_id=workspace_id, **new).agent
        grant = OAuthGrant.objects.create(
            client=requested.client,
            agent=agent,
            resource=requested.resource,
            redirect_uri=requested.redirect_uri,
            code_sha256=tokens.token_digest(code) if code else None,
            code_challenge=requested.code_challenge,
            code_expires_at=now + CODE_LIFETIME if code else None,
            expires_at=expires_at,
        )
        record_entry(
            caller=caller,
            operation="oauth.allow",
            resource_type="agent",
            resource_id=agent.id,
            metadata={
                "reconnected": bool(agent_id),
                "oauth_client_id": requested.client.id,
                "oauth_grant_id": grant.id,
                "verified_host": requested.client.verified_host,
                "resource": requested.resource,
            },
        )
    return grant, code


def _agent_to_reconnect(caller: Caller, workspace_id: str, client: OAuthClient, agent_id: str) -> Agent:
    """Delete an OAuth client's earlier grant with all its tokens, and return the agent that the client acted as.

    A deleted grant cannot be refreshed any more, even by a request that has begun already.
    """
    found = active_agents_of_client(caller=caller, workspace_id=workspace_id, client=client, scope="api_keys.write")
    forbid_agent_callers(caller)
    require_recent_sign_in(caller)
    rows = Agent.objects.select_for_update(no_key=True).filter(pk__in=[each.pk for each in found])
    agent = rows.filter(pk=agent_id, status=Agent.Status.ACTIVE).first()
    if agent is None:
        raise missing_or_foreign_id_error(None, "agent")
    require_grantable_scopes(caller, agent.scopes)
    grant = OAuthGrant.objects.select_for_update(of=("self",)).select_related("agent__workspace").get(agent=agent)
    end_grant(grant, reason="replaced", caller=caller)
    grant.delete()
    return agent


def lock_grant_of_code(*, client: OAuthClient, code: str) -> OAuthGrant | None:
    """Lock and return the OAuth grant of an unused authorization code; None if the code cannot be exchanged.

    A code that was used already ends its grant, because somebody else may have used it (RFC 6749, section 4.1.2).
    """
    rows = OAuthGrant.objects.select_for_update(of=("self",), no_key=True).select_related("agent__workspace")
    grant = rows.filter(code_sha256=tokens.token_digest(code), client=client).first()
    if grant is None or grant.code_expires_at is None:
        return None
    if grant.code_used_at:
        end_grant(grant, reason="authorization_code_reused")
        return None
    return grant if may_get_tokens(grant) and grant.code_expires_at > timezone.now() else None


def lock_token_to_refresh_or_none(*, client: OAuthClient, refresh_token: str) -> OAuthToken | None:
    """Lock and return the OAuth token to which a refresh token belongs; None if it may not be refreshed.

    A refresh token that was used already ends its grant, unless it is repeated within REPEATED_REFRESH_WINDOW. Raises
    RateLimited.
    """
    rows = OAuthToken.objects.select_for_update(of=("self",), no_key=True).select_related("grant", "agent__workspace")
    digest = tokens.token_digest(refresh_token)
    token = rows.filter(refresh_sha256=digest, grant__client=client).first()
    if token is None:
        return None
    now = timezone.now()
    if token.refreshed_at and now - token.refreshed_at > REPEATED_REFRESH_WINDOW:
        end_grant(token.grant, reason="refresh_token_reused")
        return None
    if not may_get_tokens(token.grant) or token.refresh_expires_at <= now:
        return None
    rate_limit.count_or_raise_rate_limited(rate_limit.Bucket(f"oauth-refresh:{token.grant_id}", REFRESHES_PER_HOUR, 3600.0))
    return token


def issue_tokens(*, grant: OAuthGrant, credential: str) -> IssuedTokens:
    """Issue the tokens of an OAuth grant for a code or refresh token; the same credential always gets the same tokens."""
    now = timezone.now()
    access_token = tokens.derive_token(tokens.ACCESS_TOKEN_PREFIX, credential)
    refresh_token = tokens.derive_token(tokens.REFRESH_TOKEN_PREFIX, credential)
    token, _ = OAuthToken.objects.get_or_create(
        refresh_sha256=tokens.token_digest(refresh_token),
        defaults={
            "grant": grant,
            "agent": grant.agent,
            "workspace_id": grant.agent.workspace_id,
            "access_sha256": tokens.token_digest(access_token),
            "access_expires_at": min(now + ACCESS_TOKEN_LIFETIME, grant.expires_at),
            "refresh_expires_at": min(now + REFRESH_TOKEN_LIFETIME, grant.expires_at),
        },
    )
    return IssuedTokens(access_token, refresh_token, max(0, int((token.access_expires_at - now).total_seconds())))


def revoke_token(*, client: OAuthClient, token: str) -> None:
    """Revoke an OAuth client's own access token, or end the whole grant of its refresh token (RFC 7009)."""
    digest = tokens.token_digest(token)
    own = OAuthToken.objects.select_related("grant__agent__workspace").filter(grant__client=client)
    if found := own.filter(refresh_sha256=digest).first():
        end_grant(found.grant, reason="revoked_by_client")
    own.filter(access_sha256=digest, access_expires_at__gt=timezone.now()).update(access_expires_at=timezone.now())


def end_grant_of_agent(*, caller: Caller, agent_id: str) -> OAuthGrant:
    """End an agent's OAuth grant, so that its codes and tokens stop working. Nothing changes if it has already ended.

    Raises ScopeMissing, Forbidden (an agent), NotFound (also for an agent without a grant).
    """
    agent = get_accessible_agent(caller=caller, agent_id=agent_id, scope="api_keys.write")  # also in a paused workspace
    forbid_agent_callers(caller)
    grant = OAuthGrant.objects.select_related("agent__workspace").filter(agent=agent).first()
    if grant is None:
        raise missing_or_foreign_id_error(None, "connection")
    end_grant(grant, reason="ended_by_person", caller=caller)
    return grant


def end_grant_as_operator(*, caller: Caller, token: str, dry_run: bool = False) -> ApiKey:
    """End the OAuth grant of a leaked access or refresh token, for an operator; returns the grant in the form of an API key.

    Raises Forbidden (not an operator), ValidationFailed on `token` if it does not exist, PlanChanged.
    """
    require_operator(caller)
    digest = tokens.token_digest(token)
    with transaction.atomic():
        rows = OAuthToken.objects.select_related("grant__client", "grant__agent__workspace")
        found = rows.filter(Q(access_sha256=digest) | Q(refresh_sha256=digest)).first()
        if found is None:
            raise missing_or_foreign_id_error("token", "token")
        grant = found.grant
        content = {"agent_id": grant.agent_id, "client_id": grant.client_id}
        before = {**content, "revoked": grant.ended_at is not None}
        accept_plan(ResourcePlan("ops.revoke_key", grant.id, before, {**content, "revoked": True}))
        if not dry_run:
            end_grant(grant, reason="revoked_by_operator")
        record_entry(
            caller=caller,
            operation="ops.revoke_key",
            workspace_id=grant.agent.workspace_id,
            resource_type="agent",
            resource_id=grant.agent_id,
            dry_run=dry_run,
        )
    grant.ended_at = grant.ended_at or timezone.now()
    return grant_as_key(grant)


def grant_as_key(grant: OAuthGrant) -> ApiKey:
    """Return an OAuth grant in the form of an API key, which is not stored: all tokens of a grant count as one key."""
    return ApiKey(
        id=grant.id,
        workspace=grant.agent.workspace,
        agent=grant.agent,
        name=grant.client.name_or_host_or_id,
        prefix=tokens.ACCESS_TOKEN_PREFIX,
        created_at=grant.created_at,
        expires_at=grant.expires_at,
        last_used_at=grant.last_used_at,
        revoked_at=grant.ended_at,
    )


def end_grant(grant: OAuthGrant, *, reason: str, caller: Caller | None = None) -> None:
    """End an OAuth grant and record why in the audit log; `caller` is the service itself if not given."""
    workspace = grant.agent.workspace
    now = timezone.now()
    with transaction.atomic():
        if OAuthGrant.objects.filter(pk=grant.pk, ended_at=None).update(ended_at=now, updated_at=now):
            record_entry(
                caller=caller or system_caller(workspace.id, retention_tier=workspace.retention_tier),
                operation="oauth.end_grant",
                resource_type="agent",
                resource_id=grant.agent_id,
                metadata={"oauth_grant_id": grant.id, "reason": reason},
            )


def may_get_tokens(grant: OAuthGrant) -> bool:
    """Return whether an OAuth grant may still get tokens: it is open, its agent is active and its workspace exists."""
    agent = grant.agent
    return grant.is_open and agent.status == Agent.Status.ACTIVE and agent.workspace.status != WorkspaceStatus.DELETED
