"""Completion of an OAuth connection: attaches the account to which a person granted access at the platform.

Over the API, only the caller that began the attempt can complete it: the state is bound to the caller. In the browser, the
account is attached at once only in the session that began the attempt. In any other session, a person who may connect
accounts in that workspace sees the account and confirms. So nobody can be tricked into giving an account away or into
connecting a stranger's account.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_noop

from accounts.errors import OAuthStateInvalid
from accounts.models import ConnectedAccount, ConnectionAttempt
from accounts.platforms.types import AuthorizedAccount, Identity
from accounts.services.connect import insert_or_update_account
from accounts.services.connection_attempts import (
    exchange_code_once_and_store_choices,
    find_unexpired_attempt_or_none,
    require_usable_code,
    was_code_sent_to_platform,
)
from auditlog.services import record_entry
from config.api.caller import Caller, require_access
from config.api.errors import ValidationFailed
from config.api.plan import ResourcePlan, accept_plan

SCOPE = "accounts.write"


@dataclass(frozen=True)
class AccountChoices:
    """The accounts to choose from before an OAuth connection is complete, if the login gives access to several.

    Each is attached by a call with its `external_id`, the state and the code.
    """

    attempt_id: str
    identities: tuple[Identity, ...]
    expires_at: datetime


@dataclass(frozen=True)
class ConnectionAttemptAfterReturn:
    """An OAuth connection attempt after the browser's return, with the attached account or the accounts to choose from."""

    attempt: ConnectionAttempt
    connections: tuple[AuthorizedAccount, ...] = ()
    attached_account: ConnectedAccount | None = None


def complete_connection(
    *, caller: Caller, state: str, code: str, choice: str | None = None, dry_run: bool = False
) -> ConnectedAccount | AccountChoices:
    """Complete an OAuth connection: exchange the code, and connect the account or return the accounts to choose from.

    Choices are returned if the login has several accounts and `choice` is None. A dry run calls no platform, uses nothing up
    and returns an unsaved account without an identity. Raises ScopeMissing, Forbidden, NotFound (the caller lost access to
    the workspace), WorkspacePaused, OAuthStateInvalid (also for the state of another caller), ValidationFailed (choice),
    CredentialsRejected, ConnectionUnavailable, PlatformFault, RateLimited, PlanChanged.
    """
    if caller.workspace_id:
        require_access(caller, caller.workspace_id, SCOPE)
    attempt = find_unexpired_attempt_or_none(state)
    if attempt is None or not attempt.was_begun_by(caller):
        raise OAuthStateInvalid()
    require_access(caller, attempt.workspace_id, SCOPE)
    require_usable_code(attempt, code)
    # Only the platform's answer says which accounts the code opens; a choice names one of them.
    accept_plan(
        ResourcePlan("accounts.complete_connection", attempt.id, None, {"platform": attempt.platform, "choice": choice})
    )
    if dry_run:
        return _preview(caller, attempt)
    connections = exchange_code_once_and_store_choices(attempt, code)
    if choice is None and len(connections) > 1:
        _record(caller, attempt)
        return AccountChoices(attempt.id, tuple(each.identity for each in connections), attempt.expires_at)
    return _attach(caller, attempt, connections, choice or connections[0].identity.external_id)


def exchange_code_for_account_choices(*, caller: Caller, state: str, code: str) -> ConnectionAttemptAfterReturn:
    """Exchange the code of an OAuth connection after the browser's return; return the accounts to choose from.

    Attaches nothing. If the code was used before and its only account is attached, returns that account. Raises
    OAuthStateInvalid, NotFound (not a member), Forbidden (a member without the right), WorkspacePaused, CredentialsRejected,
    ConnectionUnavailable, PlatformFault, RateLimited.
    """
    attempt = find_unexpired_attempt_or_none(state)
    if attempt is None or not code:
        raise OAuthStateInvalid()
    require_access(caller, attempt.workspace_id, SCOPE)
    if attempt.account and attempt.opened is None and was_code_sent_to_platform(attempt, code):
        return ConnectionAttemptAfterReturn(attempt, attached_account=attempt.account)
    return ConnectionAttemptAfterReturn(attempt, exchange_code_once_and_store_choices(attempt, code))


def attach_chosen_account(*, caller: Caller, state: str, code: str, choice: str) -> ConnectedAccount:
    """Connect to the workspace the account that a person chose or confirmed after OAuth, and return it.

    If the login's only account is already attached, returns that account, whatever `choice` is. Raises ValidationFailed
    (choice), and the errors of `exchange_code_for_account_choices`.
    """
    returned = exchange_code_for_account_choices(caller=caller, state=state, code=code)
    return returned.attached_account or _attach(caller, returned.attempt, returned.connections, choice)


def _preview(caller: Caller, attempt: ConnectionAttempt) -> ConnectedAccount:
    account = ConnectedAccount(
        workspace_id=attempt.workspace_id, platform=attempt.platform, method=ConnectedAccount.Method.OAUTH
    )
    account.updated_at = account.created_at
    _record(caller, attempt, dry_run=True)
    return account


def _attach(
    caller: Caller, attempt: ConnectionAttempt, connections: Sequence[AuthorizedAccount], choice: str
) -> ConnectedAccount:
    chosen = next((each for each in connections if each.identity.external_id == choice), None)
    if chosen is None:
        raise ValidationFailed.for_field("choice", gettext_noop("This login opens no such account."), "not_found")
    with transaction.atomic():
        account = insert_or_update_account(attempt.workspace_id, attempt.platform, ConnectedAccount.Method.OAUTH, chosen)
        # A login with one account ends the attempt. With several, more can be attached until the attempt expires.
        over = {"opened": None} if len(connections) == 1 else {}
        ConnectionAttempt.objects.filter(pk=attempt.pk).update(account_id=account.id, **over)
        _record(caller, attempt, account=account)
    return account


def _record(
    caller: Caller, attempt: ConnectionAttempt, *, account: ConnectedAccount | None = None, dry_run: bool = False
) -> None:
    record_entry(
        caller=caller,
        operation="accounts.complete_connection",
        resource_type="account" if account else "connection_attempt",
        resource_id=account.id if account else attempt.id,
        dry_run=dry_run,
        metadata={"platform": attempt.platform},
    )
