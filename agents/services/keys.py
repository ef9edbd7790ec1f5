"""Creates and revokes API keys, and rotates the keys of agents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_noop

from agents import selectors, tokens
from agents.models import KEY_ROTATION_OVERLAP_HOURS, Agent, ApiKey, ClaimToken
from auditlog.services import record_entry
from config.api.caller import (
    Caller,
    forbid_agent_callers,
    require_access,
    require_operator,
    require_recent_sign_in,
    require_scope,
)
from config.api.errors import Conflict, InvalidState, ScopeMissing, ValidationFailed, missing_or_foreign_id_error
from config.api.plan import ResourcePlan, accept_plan, row_fields
from workspaces.services import lock_workspace

MAX_LIVE_KEYS = 100  # maximum number of active keys of a workspace, without agent keys


@dataclass(frozen=True)
class IssuedKey:
    """The result of issuing an API key: the key and its token, which is shown only once and is None in a dry run."""

    api_key: ApiKey
    token: str | None


@dataclass(frozen=True)
class AgentKeyRotation:
    """The result of an agent's key rotation: the new API key, its token (None in a dry run), and the previous key."""

    api_key: ApiKey
    token: str | None
    retiring_key: ApiKey | None


def create_workspace_api_key(
    *,
    caller: Caller,
    workspace_id: str,
    name: str,
    scopes: Sequence[str],
    expires_at: datetime | None = None,
    allowed_networks: Sequence[str] | None = None,
    dry_run: bool = False,
) -> IssuedKey:
    """Create an API key of the workspace. Without `expires_at`, the key expires after API_KEY_DEFAULT_DAYS.

    `allowed_networks`: as `normalize_network` returns them; without them the key may be used from anywhere.

    Raises ScopeMissing, Forbidden (an agent), ReauthenticationRequired, ValidationFailed, Conflict
    (MAX_LIVE_KEYS), WorkspacePaused, PlanChanged.
    """
    require_access(caller, workspace_id, "api_keys.write", body_field="workspace_id")
    forbid_agent_callers(caller)
    require_grantable_scopes(caller, scopes)
    require_recent_sign_in(caller)
    if expires_at and expires_at <= timezone.now():
        raise ValidationFailed.for_field("expires_at", gettext_noop("Must be in the future."))
    networks = list(dict.fromkeys(allowed_networks)) if allowed_networks else None
    with transaction.atomic():
        lock_workspace(workspace_id)  # so that concurrent calls cannot exceed the limit together
        if selectors.active_keys_without_agent_keys(workspace_id=workspace_id).count() >= MAX_LIVE_KEYS:
            raise Conflict(
                f"The workspace already has {MAX_LIVE_KEYS} keys.", suggested_action=gettext_noop("Revoke unused keys first.")
            )
        # The default expiry is counted from now, which is no part of a plan.
        terms = {"name": name, "scopes": list(scopes), "allowed_networks": networks, "expires_at": expires_at}
        accept_plan(ResourcePlan("api_keys.create", workspace_id, None, terms))
        issued = issue_key(
            workspace_id=workspace_id,
            name=name,
            scopes=scopes,
            expires_at=expires_at or default_key_expiry_or_none(),
            allowed_networks=networks,
            save=not dry_run,
        )
        record_entry(
            caller=caller,
            operation="api_keys.create",
            resource_type="api_key",
            resource_id="" if dry_run else issued.api_key.id,
            dry_run=dry_run,
            metadata={"scopes": list(scopes), "allowed_networks": issued.api_key.allowed_networks},
        )
    return issued


def revoke_api_key(*, caller: Caller, api_key_id: str, dry_run: bool = False) -> ApiKey:
    """Revoke an API key, which then stops working at once. If the key is already revoked, nothing changes.

    Raises NotFound, Forbidden, ReauthenticationRequired, PlanChanged.
    """
    found = selectors.get_manageable_api_key(caller=caller, api_key_id=api_key_id)
    forbid_agent_callers(caller)
    require_recent_sign_in(caller)
    with transaction.atomic():
        key = _locked_keys().get(pk=found.pk)
        _plan_and_revoke("api_keys.revoke", key, dry_run=dry_run)
        record_entry(caller=caller, operation="api_keys.revoke", resource_type="api_key", resource_id=key.id, dry_run=dry_run)
    return key


def revoke_key_as_operator(
    *, caller: Caller, token: str | None = None, api_key_id: str | None = None, dry_run: bool = False
) -> ApiKey:
    """Revoke an API key, found by token or id, as an operator of the service. A revoked key stays as it is.

    Raises Forbidden (not an operator), ValidationFailed on `token` or `id` if the key does not exist, PlanChanged.
    """
    require_operator(caller)
    lookup = {"token_sha256": tokens.token_digest(token)} if token is not None else {"pk": api_key_id}
    with transaction.atomic():
        key = _locked_keys().filter(**lookup).first()
        if key is None:
            raise missing_or_foreign_id_error("id" if token is None else "token", "API key")
        _plan_and_revoke("ops.revoke_key", key, dry_run=dry_run)
        record_entry(
            caller=caller,
            operation="ops.revoke_key",
            workspace_id=key.workspace_id,
            resource_type="api_key",
            resource_id=key.id,
            dry_run=dry_run,
        )
    return key


def _locked_keys() -> QuerySet[ApiKey]:
    return ApiKey.objects.select_related("agent").select_for_update(of=("self",))


def _plan_and_revoke(operation: str, key: ApiKey, *, dry_run: bool) -> None:
    """Plan to revoke a locked API key, and save it unless this is a dry run. A revoked key stays as it is."""
    content = row_fields(key, "agent_id", "name", "held_scopes")
    revoked = key.revoked_at is not None
    accept_plan(ResourcePlan(operation, key.id, {**content, "revoked": revoked}, {**content, "revoked": True}))
    if not revoked:
        key.revoked_at = timezone.now()
        if not dry_run:
            key.save(update_fields=["revoked_at", "updated_at"])


def rotate_key(*, caller: Caller, agent_id: str, dry_run: bool = False) -> AgentKeyRotation:
    """Rotate an agent's key: issue a new one. The previous key works for 24 more hours; older ones stop at once.

    The agent's claim token stops working, so this also serves an agent that was never claimed. An agent may rotate its
    own key without any scope; others need api_keys.write and, because they get the token, every scope of the agent.
    Raises NotFound, ScopeMissing, Forbidden (an agent, for another), ReauthenticationRequired, InvalidState (revoked),
    WorkspacePaused, PlanChanged.
    """
    itself = caller.agent_id is not None and caller.agent_id == agent_id
    if not itself and not caller.is_user:
        require_scope(caller, "api_keys.write")
    found = selectors.get_accessible_agent(
        caller=caller, agent_id=agent_id, scope=None if itself else "api_keys.write", write=True
    )
    if not itself:
        forbid_agent_callers(caller)
    require_recent_sign_in(caller)
    with transaction.atomic():
        # The row's lock serializes rotation, revocation and changes of the agent.
        agent = Agent.objects.select_for_update(no_key=True).get(pk=found.pk)
        if not itself:
            require_grantable_scopes(caller, agent.scopes)
        if agent.status == Agent.Status.REVOKED:
            raise InvalidState(gettext_noop("The agent is revoked and cannot get a new key."))
        now = timezone.now()
        # A request that exchanges the claim token has issued its key when this lock is free, or fails afterwards.
        claim_tokens = list(ClaimToken.objects.select_for_update().filter(agent=agent, burned_at=None))
        keys = _live_keys(agent, now)
        before, after = {"api_keys": [key.id for key in keys]}, {"retiring": keys[-1].id if keys else None}
        accept_plan(ResourcePlan("agents.rotate_key", agent.id, before, {**after, **row_fields(agent, "name", "scopes")}))
        retiring = None if dry_run else _retire(claim_tokens, keys, now)
        issued = issue_key(
            workspace_id=agent.workspace_id,
            name=agent.name,
            scopes=(),
            agent=agent,
            expires_at=default_key_expiry_or_none(),
            save=not dry_run,
        )
        record_entry(
            caller=caller,
            operation="agents.rotate_key",
            resource_type="agent",
            resource_id=agent.id,
            dry_run=dry_run,
            metadata={} if dry_run else {"api_key_id": issued.api_key.id},
        )
    return AgentKeyRotation(issued.api_key, issued.token, retiring)


def _live_keys(agent: Agent, now: datetime) -> list[ApiKey]:
    """Return an agent's API keys that still work, the current one last."""
    live = ApiKey.objects.filter(Q(expires_at=None) | Q(expires_at__gt=now), agent=agent, revoked_at=None)
    return sorted(live, key=lambda key: (key.retiring_since is None, key.pk))


def _retire(claim_tokens: Sequence[ClaimToken], keys: Sequence[ApiKey], now: datetime) -> ApiKey | None:
    """Let an agent's current API key expire within 24 hours, because a new key replaces it; returns the current key.

    Ends the agent's claim tokens and its older keys.
    """
    ClaimToken.objects.filter(pk__in=[token.pk for token in claim_tokens]).update(burned_at=now)
    if not keys:
        return None
    *older, last = keys
    ApiKey.objects.filter(pk__in=[key.pk for key in older]).update(revoked_at=now, updated_at=now)
    end = now + timedelta(hours=KEY_ROTATION_OVERLAP_HOURS)
    last.retiring_since, last.expires_at = last.retiring_since or now, min(last.expires_at or end, end)
    last.save(update_fields=["retiring_since", "expires_at", "updated_at"])
    return last


def issue_key(
    *,
    workspace_id: str,
    name: str,
    scopes: Sequence[str],
    agent: Agent | None = None,
    expires_at: datetime | None = None,
    allowed_networks: list[str] | None = None,
    save: bool = True,
) -> IssuedKey:
    """Issue an API key: create its row and its token, without a check of the caller's permission."""
    token = tokens.generate_token(tokens.AGENT_KEY_PREFIX if agent else tokens.WORKSPACE_KEY_PREFIX)
    key = ApiKey(
        workspace_id=workspace_id,
        agent=agent,
        name=name,
        prefix=token[: tokens.SHOWN_KEY_PREFIX_LENGTH],
        token_sha256=tokens.token_digest(token),
        scopes=[] if agent else list(scopes),
        expires_at=expires_at,
        allowed_networks=allowed_networks,
    )
    if not save:
        key.prefix = ""
        return IssuedKey(key, None)
    key.save(force_insert=True)
    return IssuedKey(key, token)


def default_key_expiry_or_none() -> datetime | None:
    """Return when a new API key expires by default: API_KEY_DEFAULT_DAYS from now; None if never."""
    days = settings.API_KEY_DEFAULT_DAYS
    return timezone.now() + timedelta(days=days) if days else None


def require_grantable_scopes(caller: Caller, scopes: Sequence[str]) -> None:
    """Raise ScopeMissing if the caller lacks one of the scopes that a new API key or an agent is to get."""
    missing = [scope for scope in scopes if scope not in caller.scopes]
    if missing:
        raise ScopeMissing(
            f"The caller does not hold {', '.join(missing)} and so cannot grant it.",
            suggested_action="Grant only scopes that the calling key holds, or use a key with more scopes.",
        )
