"""Completing a connection that a person has granted at the platform (OAuth).

Over the API whoever began completes: the state is bound to the caller. In the browser the grant is attached at once only
where it was begun; anywhere else a person who may connect accounts in that workspace is shown what it is, and confirms.
So nobody can be lured into giving an account away or into taking one on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from accounts.errors import OAuthStateInvalid
from accounts.models import ConnectedAccount, ConnectionAttempt
from accounts.platforms.types import Connection, Identity
from accounts.services.attempts import check_usable, exchange, holds_code, note_attached, open_attempt
from accounts.services.connect import keep_account
from auditlog.services import record
from config.api.caller import Caller, require
from config.api.errors import ValidationFailed

SCOPE = "accounts.write"


@dataclass(frozen=True)
class Choices:
    """One login opened several accounts: each is attached by the same state and code with its `external_id`."""

    attempt_id: str
    identities: tuple[Identity, ...]
    expires_at: datetime


@dataclass(frozen=True)
class Landing:
    """What a browser that came back from a platform has brought: the accounts to pick from, or the one attached before."""

    attempt: ConnectionAttempt
    connections: tuple[Connection, ...] = ()
    attached: ConnectedAccount | None = None


def complete_connection(
    *, caller: Caller, state: str, code: str, choice: str | None = None, dry_run: bool = False
) -> ConnectedAccount | Choices:
    """The account that the platform's code opens, attached; where it opens several and `choice` names none: the choices.

    A dry run asks no platform and uses nothing up. Raises ScopeMissing, WorkspacePaused, OAuthStateInvalid (also for
    another's state), ValidationFailed (choice), CredentialsRejected, ConnectionUnavailable, PlatformFault.
    """
    if caller.workspace_id:
        require(caller, caller.workspace_id, SCOPE)
    attempt = open_attempt(state)
    if attempt is None or not attempt.was_begun_by(caller):
        raise OAuthStateInvalid()
    require(caller, attempt.workspace_id, SCOPE)
    if dry_run:
        return _preview(caller, attempt, code)
    connections = exchange(attempt, code)
    if choice is None and len(connections) > 1:
        _record(caller, attempt)
        return Choices(attempt.id, tuple(each.identity for each in connections), attempt.expires_at)
    return _attach(caller, attempt, connections, choice or connections[0].identity.external_id)


def look_at_connection(*, caller: Caller, state: str, code: str) -> Landing:
    """What a browser has brought, for a person who may connect accounts in the attempt's workspace; nothing is attached.

    Raises OAuthStateInvalid, NotFound (a stranger), Forbidden (a member), WorkspacePaused, CredentialsRejected,
    ConnectionUnavailable, PlatformFault.
    """
    attempt = open_attempt(state)
    if attempt is None or not code:
        raise OAuthStateInvalid()
    require(caller, attempt.workspace_id, SCOPE)
    if attempt.account and attempt.opened is None and holds_code(attempt, code):
        return Landing(attempt, attached=attempt.account)
    return Landing(attempt, exchange(attempt, code))


def attach_connection(*, caller: Caller, state: str, code: str, choice: str) -> ConnectedAccount:
    """Attach the account that a person has seen and chosen. Raises as `look_at_connection`, ValidationFailed (choice)."""
    landing = look_at_connection(caller=caller, state=state, code=code)
    return landing.attached or _attach(caller, landing.attempt, landing.connections, choice)


def _preview(caller: Caller, attempt: ConnectionAttempt, code: str) -> ConnectedAccount:
    check_usable(attempt, code)
    account = ConnectedAccount(
        workspace_id=attempt.workspace_id, platform=attempt.platform, method=ConnectedAccount.Method.OAUTH
    )
    account.updated_at = account.created_at
    _record(caller, attempt, dry_run=True)
    return account


def _attach(
    caller: Caller, attempt: ConnectionAttempt, connections: Sequence[Connection], choice: str
) -> ConnectedAccount:
    chosen = next((each for each in connections if each.identity.external_id == choice), None)
    if chosen is None:
        raise ValidationFailed.of("choice", "This login opens no such account.", "not_found")
    with transaction.atomic():
        account = keep_account(attempt.workspace_id, attempt.platform, ConnectedAccount.Method.OAUTH, chosen)
        note_attached(attempt, account_id=account.id, connections=connections)
        _record(caller, attempt, account=account)
    return account


def _record(
    caller: Caller, attempt: ConnectionAttempt, *, account: ConnectedAccount | None = None, dry_run: bool = False
) -> None:
    record(
        caller=caller,
        operation="accounts.complete_connection",
        resource_type="account" if account else "connection_attempt",
        resource_id=account.id if account else attempt.id,
        dry_run=dry_run,
        metadata={"platform": attempt.platform},
    )
