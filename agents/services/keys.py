"""Create, list and revoke API keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from agents import selectors, tokens
from agents.models import Agent, ApiKey
from auditlog.services import record
from config.api.caller import Caller, require, require_recent_sign_in
from config.api.errors import Conflict, Forbidden, ScopeMissing, ValidationFailed
from config.api.paging import Page
from workspaces.services import lock_workspace

MAX_LIVE_KEYS = 100  # maximum number of active keys of a workspace, without agent keys


@dataclass(frozen=True)
class IssuedKey:
    """An API key and its token, which is shown once (None in a preview)."""

    api_key: ApiKey
    token: str | None


def list_api_keys(*, caller: Caller, workspace_id: str, limit: int, cursor: str | None = None) -> Page[ApiKey]:
    """Return the keys of a workspace and its agents, newest first. Raises ScopeMissing, NotFound, Forbidden (an agent)."""
    require(caller, workspace_id, "api_keys.write", write=False)
    forbid_agent_callers(caller)
    return selectors.api_keys_of(workspace_id=workspace_id, limit=limit, cursor=cursor)


def create_api_key(
    *,
    caller: Caller,
    workspace_id: str,
    name: str,
    scopes: Sequence[str],
    expires_at: datetime | None = None,
    allowed_networks: Sequence[str] | None = None,
    dry_run: bool = False,
) -> IssuedKey:
    """Create a workspace key. Without `expires_at` it expires after API_KEY_DEFAULT_DAYS.

    `allowed_networks`: as `parse_network` returns them; without them the key may be used from anywhere.

    Raises ScopeMissing, Forbidden (an agent), ReauthenticationRequired, ValidationFailed, Conflict
    (MAX_LIVE_KEYS), WorkspacePaused.
    """
    require(caller, workspace_id, "api_keys.write", body_field="workspace_id")
    forbid_agent_callers(caller)
    require_grantable_scopes(caller, scopes)
    require_recent_sign_in(caller)
    if expires_at and expires_at <= timezone.now():
        raise ValidationFailed.of("expires_at", "Must be in the future.")
    with transaction.atomic():
        lock_workspace(workspace_id)  # so that concurrent calls cannot exceed the limit together
        if selectors.live_keys(workspace_id=workspace_id).count() >= MAX_LIVE_KEYS:
            raise Conflict(
                f"The workspace already has {MAX_LIVE_KEYS} keys.", suggested_action="Revoke unused keys first."
            )
        issued = issue_key(
            workspace_id=workspace_id,
            name=name,
            scopes=scopes,
            expires_at=expires_at or default_expiry(),
            allowed_networks=list(dict.fromkeys(allowed_networks)) if allowed_networks else None,
            save=not dry_run,
        )
        record(
            caller=caller,
            operation="api_keys.create",
            resource_type="api_key",
            resource_id="" if dry_run else issued.api_key.id,
            dry_run=dry_run,
            metadata={"scopes": list(scopes), "allowed_networks": issued.api_key.allowed_networks},
        )
    return issued


def revoke_api_key(*, caller: Caller, api_key_id: str, dry_run: bool = False) -> ApiKey:
    """Revoke an API key, which stops working at once. Revoking it again changes nothing.

    Raises NotFound, Forbidden, ReauthenticationRequired.
    """
    key = selectors.api_key_of(caller=caller, api_key_id=api_key_id)
    forbid_agent_callers(caller)
    require_recent_sign_in(caller)
    key.revoked_at = key.revoked_at or timezone.now()
    with transaction.atomic():
        if not dry_run:
            ApiKey.objects.filter(pk=key.pk, revoked_at=None).update(
                revoked_at=key.revoked_at, updated_at=timezone.now()
            )
        record(
            caller=caller,
            operation="api_keys.revoke",
            resource_type="api_key",
            resource_id=key.id,
            dry_run=dry_run,
        )
    return key


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
    """Create a key and its token without any permission check, which is up to the calling service or command."""
    token = tokens.new_token(tokens.AGENT_KEY_PREFIX if agent else tokens.WORKSPACE_KEY_PREFIX)
    key = ApiKey(
        workspace_id=workspace_id,
        agent=agent,
        name=name,
        prefix=token[: tokens.SHOWN_KEY_LENGTH],
        token_sha256=tokens.digest(token),
        scopes=[] if agent else list(scopes),
        expires_at=expires_at,
        allowed_networks=allowed_networks,
    )
    if not save:
        key.prefix = ""
        return IssuedKey(key, None)
    key.save(force_insert=True)
    return IssuedKey(key, token)


def default_expiry() -> datetime | None:
    """Return the default expiry of a new key by API_KEY_DEFAULT_DAYS; None means never."""
    days = settings.API_KEY_DEFAULT_DAYS
    return timezone.now() + timedelta(days=days) if days else None


def forbid_agent_callers(caller: Caller) -> None:
    """Raise Forbidden if the caller is an agent, because agents may not manage agents or keys, whatever their scopes."""
    if caller.agent_id:
        raise Forbidden("An agent's key cannot manage agents or keys.")


def require_grantable_scopes(caller: Caller, scopes: Sequence[str]) -> None:
    """Raise ScopeMissing if the caller lacks one of the scopes that it wants to grant."""
    missing = [scope for scope in scopes if scope not in caller.scopes]
    if missing:
        raise ScopeMissing(
            f"The caller does not hold {', '.join(missing)} and so cannot grant it.",
            suggested_action="Grant only scopes that the calling key holds, or use a key with more scopes.",
        )
