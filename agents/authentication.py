"""Bearer authentication of API requests: by API keys, agents' claim tokens, and access tokens.

Access tokens of this service's OAuth server belong to agents, those of the identity provider to people.
In development without a provider, the service's own user tokens are accepted too.
"""

from __future__ import annotations

import hmac
import ipaddress
from datetime import timedelta
from functools import lru_cache

from django.conf import settings
from django.db.models import Q
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from agents import oidc_tokens, tokens
from agents.models import Agent, ApiKey, ClaimToken, OAuthGrant, OAuthToken
from agents.oauth.addresses import MCP_PATH, resource_url_of_path
from agents.services import record_key_network_and_return_if_new, require_allowed_network
from config.api.caller import Caller, WorkspaceStatus
from config.api.errors import ApiKeyExpired, ApiKeyRevoked, Unauthenticated
from config.db.fixed_select import FixedSelect
from workspaces.models import User

LAST_USED_INTERVAL = timedelta(seconds=60)
CLIENT_NAMES = ("cli", "mcp", "agent_runtime")


class BearerAuthentication(BaseAuthentication):
    """The bearer authentication of API requests, which sets `request.user` to the Caller (a user, an agent or an API key).

    `path` is that of the resource for which an access token of this service's OAuth server must be issued. Raises
    Unauthenticated, ApiKeyExpired, ApiKeyRevoked, Forbidden (from a network that the key does not allow), ServiceUnavailable.
    """

    path = ""

    def authenticate(self, request: Request) -> tuple[Caller, None] | None:
        header = request.META.get("HTTP_AUTHORIZATION", "")
        if not header:
            return None
        scheme, _, token = header.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise Unauthenticated("The Authorization header must be `Bearer <token>`.")
        caller, key = _authenticate_token(token.strip(), resource_url_of_path(self.path))
        client = request.META.get("HTTP_X_SERVICE_CLIENT", "")
        caller.via = client if client in CLIENT_NAMES else None
        caller.ip = _ip_address(request.META.get("REMOTE_ADDR", ""))
        if key is not None:
            require_allowed_network(caller=caller, key=key)
            _record_use(caller, key)
        return caller, None

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class McpBearerAuthentication(BearerAuthentication):
    """Bearer authentication of the Model Context Protocol endpoint, whose access tokens are not valid for the API."""

    path = MCP_PATH


def _authenticate_token(token: str, resource: str) -> tuple[Caller, ApiKey | None]:
    """Return the caller to whom a bearer token belongs and, if the token is an API key, also the key."""
    if token.startswith(tokens.USER_TOKEN_PREFIX):
        return _user_caller(token), None
    if oidc_tokens.may_be_provider_token(token):
        return oidc_tokens.authenticate_caller_creating_new_user(token), None
    if not tokens.is_well_formed_token(token):
        raise Unauthenticated("This token is not one of this service's.")
    if token.startswith(tokens.ACCESS_TOKEN_PREFIX):
        return _access_token_caller(token, resource), None
    return (_claim_caller(token), None) if token.startswith(tokens.CLAIM_TOKEN_PREFIX) else _key_caller(token)


_key_by_digest = FixedSelect(ApiKey, where=("token_sha256",), join=("agent", "workspace"))


def _key_caller(token: str) -> tuple[Caller, ApiKey]:
    stored = tokens.token_digest(token)
    key = _key_by_digest.first(stored)
    if key is None or not hmac.compare_digest(key.token_sha256, stored):
        raise Unauthenticated("This token is not one of this service's.")
    agent, workspace = key.agent, key.workspace
    holder_ended = workspace.status == WorkspaceStatus.DELETED or (agent and agent.status == Agent.Status.REVOKED)
    if key.revoked_at or holder_ended:
        raise ApiKeyRevoked()
    if key.expires_at and key.expires_at <= timezone.now():
        raise ApiKeyExpired()
    caller = Caller(
        kind="api_key",
        actor_id=key.id,
        key_id=key.id,
        workspace_id=workspace.id,
        scopes=frozenset(key.held_scopes),
        workspace_owner_id=workspace.owner_user_id,
        workspace_status=workspace.status,
        retention_tier=workspace.retention_tier,
    )
    if agent:
        _act_as_agent(caller, agent)
    return caller, key


def _act_as_agent(caller: Caller, agent: Agent) -> None:
    caller.kind, caller.actor_id, caller.mode = "agent", agent.id, agent.default_mode
    caller.rate_limit_per_minute = agent.capped_rate_limit_per_minute
    caller.account_allowlist = None if agent.account_allowlist is None else tuple(agent.account_allowlist)


_oauth_token_by_digest = FixedSelect(
    OAuthToken, where=("access_sha256",), join=("grant", "grant__client", "agent", "workspace")
)


def _access_token_caller(token: str, resource: str) -> Caller:
    """Return the caller for an access token of this service's OAuth server: the agent for which the token was issued.

    All tokens of a grant count as one key, so that a refresh does not give a new rate limit.
    """
    stored = tokens.token_digest(token)
    found = _oauth_token_by_digest.first(stored)
    if found is None or not hmac.compare_digest(found.access_sha256, stored):
        raise Unauthenticated("This token is not one of this service's.")
    grant, agent, workspace, now = found.grant, found.agent, found.workspace, timezone.now()
    if grant.ended_at or agent.status == Agent.Status.REVOKED or workspace.status == WorkspaceStatus.DELETED:
        raise ApiKeyRevoked("The access of this program was ended.", suggested_action="Connect the program again.")
    if found.access_expires_at <= now:
        raise ApiKeyExpired("This access token has expired.", suggested_action="Refresh it, or connect the program again.")
    if grant.resource != resource:
        raise Unauthenticated(f"This access token is for {grant.resource}, not for {resource}.")
    caller = Caller(
        kind="agent",
        actor_id=agent.id,
        key_id=grant.id,
        workspace_id=workspace.id,
        scopes=frozenset(agent.scopes),
        workspace_owner_id=workspace.owner_user_id,
        workspace_status=workspace.status,
        retention_tier=workspace.retention_tier,
        client=grant.client.name_or_host_or_id,
    )
    _act_as_agent(caller, agent)
    if grant.last_used_at is None or now - grant.last_used_at > LAST_USED_INTERVAL:
        stale = Q(last_used_at=None) | Q(last_used_at__lt=now - LAST_USED_INTERVAL)
        OAuthGrant.objects.filter(stale, pk=grant.pk).update(last_used_at=now)
    return caller


def _record_use(caller: Caller, key: ApiKey) -> None:
    """Save the last use of the API key that authenticated a caller, at most once a minute, and a network new for the key."""
    now = timezone.now()
    if record_key_network_and_return_if_new(caller=caller, key=key, now=now):
        return
    if key.last_used_at is None or now - key.last_used_at > LAST_USED_INTERVAL:
        stale = Q(last_used_at=None) | Q(last_used_at__lt=now - LAST_USED_INTERVAL)
        ApiKey.objects.filter(stale, pk=key.pk).update(last_used_at=now)


def _claim_caller(token: str) -> Caller:
    """Return the caller for an agent's one-time claim token, with which only POST /agents/claim may be called.

    That operation checks whether the token has expired or was used.
    """
    claim = ClaimToken.objects.select_related("agent__workspace").filter(token_sha256=tokens.token_digest(token)).first()
    if claim is None:
        raise Unauthenticated("This token is not one of this service's.")
    workspace = claim.agent.workspace
    return Caller(
        kind="claim",
        actor_id=claim.agent_id,
        key_id=f"claim:{claim.pk}",
        workspace_id=workspace.id,
        workspace_status=workspace.status,
        retention_tier=workspace.retention_tier,
    )


def _user_caller(token: str) -> Caller:
    """Return the caller of a development user's token; refuse such tokens in production and with OpenID Connect."""
    if settings.PRODUCTION or settings.OIDC_ISSUER:
        raise Unauthenticated("User tokens of this service are for development; use the identity provider's.")
    user = User.objects.filter(pk=tokens.user_id_from_development_token(token), is_active=True).first()
    if user is None:
        raise Unauthenticated("This user token is forged or expired, or its user was deleted.")
    return Caller(kind="user", actor_id=user.id)


@lru_cache(maxsize=4096)
def _ip_address(text: str) -> str | None:
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return None
