"""Connecting an account on a social platform: with credentials in one request, or with OAuth in two requests."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from django.db import transaction
from django.utils import timezone
from jsonschema import ValidationError

from accounts.errors import ConnectionUnavailable, platform_error_as_api_error
from accounts.models import ConnectedAccount
from accounts.platforms.base import Platform
from accounts.platforms.errors import PlatformError
from accounts.platforms.registry import PLATFORMS, get_adapter
from accounts.platforms.schemas import MAX_VIOLATIONS, first_schema_violations
from accounts.platforms.types import AuthorizedAccount
from accounts.services.avatars import schedule_avatar_fetch
from accounts.services.connection_attempts import BegunConnectionAttempt, begin_connection_attempt
from accounts.services.tokens import new_token_renewal_due_at
from auditlog.services import record_entry
from config.api.caller import Caller, require_access
from config.api.errors import ValidationFailed
from config.api.plan import ResourcePlan, accept_plan
from config.api.request_limits import limit_outbound_threads_and_seconds

NO_INPUT_SCHEMA: Mapping[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


def connect_account_or_begin_oauth(
    *,
    caller: Caller,
    workspace_id: str,
    platform_name: str,
    method: str | None = None,
    credentials: Mapping[str, Any] | None = None,
    dry_run: bool = False,
) -> ConnectedAccount | BegunConnectionAttempt:
    """Connect a social account with credentials, or begin an OAuth connection attempt.

    The platform checks the credentials first; it is called outside any transaction. Connecting an account a second time
    updates the existing account under the same id. Raises ScopeMissing, ValidationFailed (platform, method, credentials),
    ConnectionUnavailable, CredentialsRejected, PlatformFault, WorkspacePaused, RateLimited, PlanChanged.
    """
    require_access(caller, workspace_id, "accounts.write", body_field="workspace_id")
    chosen, method = _connectable(platform_name, method)
    by_oauth = method == ConnectedAccount.Method.OAUTH
    given = _checked(chosen.oauth_input_schema if by_oauth else chosen.credentials_schema, credentials)
    # Which account these credentials belong to, and whether it is connected already, only the platform's answer says.
    content = {"platform": chosen.name, "method": method, "credentials_given": sorted(given)}
    accept_plan(ResourcePlan("accounts.connect", workspace_id, None, content))
    if dry_run:
        account = ConnectedAccount(workspace_id=workspace_id, platform=chosen.name, method=method)
        account.updated_at = account.created_at
        _record(caller, account, dry_run=True)
        return account
    if by_oauth:
        return begin_connection_attempt(caller=caller, workspace_id=workspace_id, chosen=chosen, given=given)
    try:
        with limit_outbound_threads_and_seconds(workspace_id):
            connection = chosen.connect_with_credentials(given)
    except PlatformError as error:
        raise platform_error_as_api_error(error) from error
    with transaction.atomic():
        account = insert_or_update_account(workspace_id, chosen.name, method, connection)
        _record(caller, account)
    return account


def _connectable(name: str, method: str | None) -> tuple[Platform, str]:
    if name not in PLATFORMS:
        raise ValidationFailed.for_field("platform", f"Must be one of {', '.join(PLATFORMS)}.", "unknown_platform")
    chosen = get_adapter(name)
    method = method or chosen.methods[0]
    if method not in chosen.methods:
        raise ValidationFailed.for_field("method", f"{chosen.label} is connected by {' or '.join(chosen.methods)}.")
    reason = chosen.unavailable_reason(method)
    if reason:
        raise ConnectionUnavailable(reason)
    return chosen, method


def _checked(schema: Mapping[str, Any] | None, credentials: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the credentials of an account to connect after validating them against the platform's JSON Schema.

    Raises ValidationFailed, whose message never repeats a submitted value.
    """
    given = credentials or {}
    details: dict[str, dict[str, str]] = {}
    for problem in first_schema_violations(schema or NO_INPUT_SCHEMA, given):
        for suffix, code, message in _problems_of(problem):
            field = ".".join(["credentials", *map(str, problem.absolute_path)]) + suffix
            details.setdefault(field, {"field": field, "code": code, "message": message})
    if details:
        raise ValidationFailed(details=list(details.values())[:MAX_VIOLATIONS])
    return given


def _problems_of(problem: ValidationError) -> list[tuple[str, str, str]]:
    """Return the API errors for one violation of the JSON Schema in the credentials with which to connect an account.

    Each is (end of the field's path, code, message).
    """
    rule, value, instance = str(problem.validator), problem.validator_value, problem.instance
    if rule == "required":
        return [(f".{name}", "required", "This field is required.") for name in value if name not in instance]
    if rule == "additionalProperties":
        allowed = problem.schema["properties"]
        return [
            (f".{name[:100]}", "unknown_field", "Unknown field.")
            for name in islice(instance, len(allowed) + MAX_VIOLATIONS)
            if name not in allowed
        ]
    return [("", rule, f"Does not fit the credentials_schema of GET /capabilities: {rule} {value}.")]


def insert_or_update_account(
    workspace_id: str, platform_name: str, method: str, connection: AuthorizedAccount
) -> ConnectedAccount:
    """Insert the row of a newly connected account, or update it if it was connected before, in the caller's transaction.

    The row is locked, so that two simultaneous connections produce one account.
    """
    identity = connection.identity
    account, _ = ConnectedAccount.objects.select_for_update(no_key=True).get_or_create(
        workspace_id=workspace_id, platform=platform_name, external_id=identity.external_id, defaults={"method": method}
    )
    account.method = method
    account.handle, account.display_name = identity.handle[:255], identity.display_name[:255]
    account.avatar_url, account.profile_url = identity.avatar_url[:2048], identity.profile_url[:2048]
    account.limits = dict(identity.limits) or account.limits
    account.status = ConnectedAccount.Status.ACTIVE
    account.scopes = list(connection.scopes)
    account.credentials, account.tokens = dict(connection.grant.credentials), dict(connection.grant.tokens)
    account.token_expires_at, account.refresh_lease_until = connection.grant.expires_at, None
    account.refresh_at, account.refresh_failures = new_token_renewal_due_at(connection.grant.expires_at), 0
    account.last_checked_at = timezone.now()
    account.save()
    schedule_avatar_fetch(account)
    return account


def _record(caller: Caller, account: ConnectedAccount, *, dry_run: bool = False) -> None:
    record_entry(
        caller=caller,
        operation="accounts.connect",
        resource_type="account",
        resource_id="" if dry_run else account.id,
        dry_run=dry_run,
        metadata={"platform": account.platform},
    )
