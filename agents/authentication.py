"""Bearer tokens to callers: workspace keys, agent keys, claim tokens, the identity provider's tokens of people and, in
development without a provider, the service's own."""

from __future__ import annotations

import hmac
import ipaddress
from datetime import timedelta

from django.conf import settings
from django.db.models import Q
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from agents import oidc, tokens
from agents.models import Agent, ApiKey, ClaimToken
from agents.services import remember_network, require_allowed_network
from config.api.caller import Caller, WorkspaceStatus
from config.api.errors import ApiKeyExpired, ApiKeyRevoked, Unauthenticated
from config.db.prepared import Prepared
from workspaces.models import User

LAST_USED_EVERY = timedelta(seconds=60)
CLIENTS = ("cli", "mcp", "agent_runtime")


class BearerAuthentication(BaseAuthentication):
    """`request.user` becomes the Caller.

    Raises Unauthenticated, ApiKeyExpired, ApiKeyRevoked, Forbidden (from a network that the key does not allow),
    ServiceUnavailable.
    """

    def authenticate(self, request: Request) -> tuple[Caller, None] | None:
        header = request.META.get("HTTP_AUTHORIZATION", "")
        if not header:
            return None
        scheme, _, token = header.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise Unauthenticated("The Authorization header must be `Bearer <token>`.")
        caller, key = _caller_of(token.strip())
        client = request.headers.get("x-service-client", "")
        caller.via = client if client in CLIENTS else None
        caller.ip = _address(request.META.get("REMOTE_ADDR", ""))
        if key is not None:
            require_allowed_network(caller=caller, key=key)
            _note_use(caller, key)
        return caller, None

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


def _caller_of(token: str) -> tuple[Caller, ApiKey | None]:
    """Who the token is of, and its key where it is one."""
    if token.startswith(tokens.USER):
        return _user_caller(token), None
    if oidc.is_taken(token):
        return oidc.caller_of(token), None
    if not tokens.is_well_formed(token):
        raise Unauthenticated("This token is not one of this service's.")
    return (_claim_caller(token), None) if token.startswith(tokens.CLAIM) else _key_caller(token)


_key = Prepared(lambda digest: ApiKey.objects.select_related("agent", "workspace").filter(token_sha256=digest))


def _key_caller(token: str) -> tuple[Caller, ApiKey]:
    stored = tokens.digest(token)
    key = _key.first(stored)
    if key is None or not hmac.compare_digest(key.token_sha256, stored):
        raise Unauthenticated("This token is not one of this service's.")
    agent, workspace = key.agent, key.workspace
    gone = workspace.status == WorkspaceStatus.DELETED or (agent and agent.status == Agent.Status.REVOKED)
    if key.revoked_at or gone:
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
        caller.kind, caller.actor_id, caller.mode = "agent", agent.id, agent.default_mode
        caller.rate_limit_per_minute = agent.effective_rate_limit
        caller.account_allowlist = None if agent.account_allowlist is None else tuple(agent.account_allowlist)
    return caller, key


def _note_use(caller: Caller, key: ApiKey) -> None:
    """Note when and where the key is used; a known network within a minute of the last note costs no statement."""
    now = timezone.now()
    if remember_network(caller=caller, key=key, now=now):
        return
    if key.last_used_at is None or now - key.last_used_at > LAST_USED_EVERY:
        stale = Q(last_used_at=None) | Q(last_used_at__lt=now - LAST_USED_EVERY)
        ApiKey.objects.filter(stale, pk=key.pk).update(last_used_at=now)


def _claim_caller(token: str) -> Caller:
    """A claim token may open POST /agents/claim alone; whether it is still good is said there."""
    claim = ClaimToken.objects.select_related("agent__workspace").filter(token_sha256=tokens.digest(token)).first()
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
    """Tokens of the service's own making are for development without a provider only."""
    if settings.PRODUCTION or settings.OIDC_ISSUER:
        raise Unauthenticated("User tokens of this service are for development; use the identity provider's.")
    user = User.objects.filter(pk=tokens.read_user_token(token), is_active=True).first()
    if user is None:
        raise Unauthenticated("This user token is forged, expired, or its user is gone.")
    return Caller(kind="user", actor_id=user.id)


def _address(text: str) -> str | None:
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return None
