"""Connecting an account by credentials, and disconnecting it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import jsonschema
from django.db import transaction
from django.utils import timezone

from accounts import selectors
from accounts.errors import ConnectionUnavailable, as_api_error
from accounts.models import ConnectedAccount
from accounts.platforms.base import Platform
from accounts.platforms.errors import PlatformError
from accounts.platforms.registry import PLATFORMS, platform, publisher
from accounts.platforms.types import Connection
from auditlog.services import record
from config.api.caller import Caller, require
from config.api.errors import ValidationFailed

logger = logging.getLogger(__name__)


def connect_account(
    *,
    caller: Caller,
    workspace_id: str,
    platform_name: str,
    method: str | None = None,
    credentials: Mapping[str, Any] | None = None,
    dry_run: bool = False,
) -> ConnectedAccount:
    """Connect an account after the platform has accepted its credentials; the network is asked outside any transaction.

    Connecting an account again renews it under its id. Raises ScopeMissing, ValidationFailed (platform, method,
    credentials), ConnectionUnavailable, CredentialsRejected, PlatformFault, WorkspacePaused.
    """
    require(caller, workspace_id, "accounts.write", body_field="workspace_id")
    chosen = _connectable(platform_name, method)
    given = _checked(chosen, credentials)
    if dry_run:
        account = ConnectedAccount(workspace_id=workspace_id, platform=chosen.name, method=chosen.method)
        _record(caller, "accounts.connect", account, dry_run=True)
        return account
    try:
        connection = chosen.connect(given)
    except PlatformError as error:
        raise as_api_error(error) from error
    with transaction.atomic():
        account = _keep(workspace_id, chosen, connection)
        _record(caller, "accounts.connect", account)
    return account


def disconnect_account(*, caller: Caller, account_id: str, dry_run: bool = False) -> ConnectedAccount:
    """Forget the account's secrets and revoke them at the platform, where that can be done. Raises NotFound, ScopeMissing."""
    account = selectors.account_of(caller=caller, account_id=account_id, scope="accounts.write", write=True)
    connected = account.status != ConnectedAccount.Status.DISCONNECTED
    grant = account.grant() if connected and not dry_run else None
    account.status = ConnectedAccount.Status.DISCONNECTED
    secrets = ("credentials", "tokens", "token_expires_at", "refresh_lease_until")  # a refresh under way stores nothing
    for name in secrets:
        setattr(account, name, None)
    with transaction.atomic():
        if grant is not None:
            account.save(update_fields=["status", *secrets, "updated_at"])
        _record(caller, "accounts.disconnect", account, dry_run=dry_run)
    if grant is not None:
        try:
            publisher(account.platform, sandbox=account.sandbox).revoke(grant)
        except PlatformError as error:
            logger.warning("%s was disconnected, but not revoked at its platform: %s", account.id, error.message)
    return account


def _connectable(name: str, method: str | None) -> Platform:
    if name not in PLATFORMS:
        raise ValidationFailed.of("platform", f"Must be one of {', '.join(PLATFORMS)}.", "unknown_platform")
    chosen = platform(name)
    reason = chosen.unavailable_reason()
    if reason:
        raise ConnectionUnavailable(reason)
    if method and method != chosen.method:
        raise ValidationFailed.of("method", f"{chosen.label} is connected by {chosen.method}.")
    return chosen


def _checked(chosen: Platform, credentials: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The credentials, as the platform's schema asks for them. Raises ValidationFailed, which never repeats a value."""
    given = credentials or {}
    details: dict[str, dict[str, str]] = {}
    for problem in jsonschema.Draft202012Validator(chosen.credentials_schema or {}).iter_errors(given):
        for suffix, code, message in _faults(problem):
            field = ".".join(["credentials", *map(str, problem.absolute_path)]) + suffix
            details.setdefault(field, {"field": field, "code": code, "message": message})
    if details:
        raise ValidationFailed(details=list(details.values()))
    return given


def _faults(problem: jsonschema.ValidationError) -> list[tuple[str, str, str]]:
    """What does not fit, as (what its field has behind the problem's path, code, message)."""
    rule, value, instance = str(problem.validator), problem.validator_value, problem.instance
    if rule == "required":
        return [(f".{name}", "required", "This field is required.") for name in value if name not in instance]
    if rule == "additionalProperties":
        known = problem.schema["properties"]
        return [
            (f".{name}", "unknown_field", "This field is not known here.") for name in instance if name not in known
        ]
    return [("", rule, f"Does not fit the credentials_schema of GET /capabilities: {rule} {value}.")]


def _keep(workspace_id: str, chosen: Platform, connection: Connection) -> ConnectedAccount:
    """Insert or renew the row of this identity; the row is locked, so that two connections at once end as one."""
    identity = connection.identity
    account, _ = ConnectedAccount.objects.select_for_update().get_or_create(
        workspace_id=workspace_id,
        platform=chosen.name,
        external_id=identity.external_id,
        defaults={"method": chosen.method},
    )
    account.method = chosen.method
    account.handle, account.display_name = identity.handle[:255], identity.display_name[:255]
    account.avatar_url, account.profile_url = identity.avatar_url[:2048], identity.profile_url[:2048]
    account.status = ConnectedAccount.Status.ACTIVE
    account.scopes = list(connection.scopes)
    account.credentials, account.tokens = dict(connection.grant.credentials), dict(connection.grant.tokens)
    account.token_expires_at, account.refresh_lease_until = connection.token_expires_at, None
    account.last_checked_at = timezone.now()
    account.save()
    return account


def _record(caller: Caller, operation: str, account: ConnectedAccount, *, dry_run: bool = False) -> None:
    made_now = dry_run and operation == "accounts.connect"
    record(
        caller=caller,
        operation=operation,
        resource_type="account",
        resource_id="" if made_now else account.id,
        dry_run=dry_run,
        metadata={"platform": account.platform},
    )
