"""Disconnecting accounts: deletes the stored secrets and the picture, and revokes the secrets where platforms support it."""

from __future__ import annotations

import logging
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts import selectors
from accounts.models import Avatar, ConnectedAccount
from accounts.platforms.errors import PlatformError
from accounts.platforms.registry import adapter_or_simulator
from accounts.platforms.types import Grant
from auditlog.services import record_entry
from config.api.caller import Caller, WorkspaceStatus, check_account_allowlist
from config.api.plan import ResourcePlan, accept_plan, row_fields
from config.api.request_limits import limit_outbound_threads_and_seconds
from config.db.encryption import SealedValueError

logger = logging.getLogger(__name__)
# Fields that are cleared when an account is disconnected. Without the lease, a running refresh stores nothing.
CLEARED_FIELDS: dict[str, Any] = {
    **dict.fromkeys(("credentials", "tokens", "token_expires_at", "refresh_lease_until", "refresh_at")),
    "avatar_digest": "",
}


def disconnect_account(*, caller: Caller, account_id: str, dry_run: bool = False) -> ConnectedAccount:
    """Disconnect an account: delete its stored secrets, and revoke them if the platform supports revocation.

    Raises NotFound, ScopeMissing, AccountNotAllowed, WorkspacePaused, RateLimited (then nothing is changed), PlanChanged.
    """
    account = selectors.get_accessible_account(caller=caller, account_id=account_id, scope="accounts.write", write=True)
    check_account_allowlist(caller, [account.id])
    clears = account.status != ConnectedAccount.Status.DISCONNECTED and not dry_run
    grant = _decrypted_grant(account) if clears else None
    if grant is None:
        return _clear_secrets(caller, account, clears=clears, dry_run=dry_run)
    # The slot is entered before the secrets are deleted: without secrets, nothing can be revoked later.
    with limit_outbound_threads_and_seconds(account.workspace_id):
        _clear_secrets(caller, account, clears=clears, dry_run=dry_run)
        _revoke(account, grant)
    return account


def _clear_secrets(caller: Caller, account: ConnectedAccount, *, clears: bool, dry_run: bool) -> ConnectedAccount:
    disconnected = ConnectedAccount.Status.DISCONNECTED
    with transaction.atomic():
        stored = ConnectedAccount.objects.select_for_update(no_key=True).get(pk=account.pk)
        before = row_fields(stored, "platform", "external_id", "handle", "status")
        accept_plan(ResourcePlan("accounts.disconnect", account.id, before, {**before, "status": disconnected}))
        account.status = disconnected
        for name, empty in CLEARED_FIELDS.items():
            setattr(account, name, empty)
        if clears:
            account.save(update_fields=["status", *CLEARED_FIELDS, "updated_at"])
            Avatar.objects.filter(pk=account.pk).delete()
        record_entry(
            caller=caller,
            operation="accounts.disconnect",
            resource_type="account",
            resource_id=account.id,
            dry_run=dry_run,
            metadata={"platform": account.platform},
        )
    return account


def disconnect_accounts_of_deleted_workspaces(*, limit: int = 200) -> int:
    """Disconnect up to `limit` accounts of deleted workspaces; returns the number of disconnected accounts.

    All stored secrets are deleted before the first platform is called, so that a slow platform delays no deletion.
    """
    connected = ConnectedAccount.objects.exclude(status=ConnectedAccount.Status.DISCONNECTED)
    cleared = []
    for account in connected.filter(workspace__status=WorkspaceStatus.DELETED).order_by("pk")[:limit]:
        grant = _decrypted_grant(account)
        # An account whose secrets were renewed since it was read waits for the next run, which revokes the new secrets.
        with transaction.atomic():
            if connected.filter(pk=account.pk, updated_at=account.updated_at).update(
                status=ConnectedAccount.Status.DISCONNECTED, updated_at=timezone.now(), **CLEARED_FIELDS
            ):
                Avatar.objects.filter(pk=account.pk).delete()
                cleared.append((account, grant))
    for account, grant in cleared:
        if grant is not None:
            _revoke(account, grant)
    return len(cleared)


def _decrypted_grant(account: ConnectedAccount) -> Grant | None:
    """Return an account's decrypted secrets, with which its access is revoked; None if decryption fails."""
    try:
        return account.decrypted_grant()
    except SealedValueError as error:
        logger.error("%s cannot be revoked at its platform: %s", account.id, error)
        return None


def _revoke(account: ConnectedAccount, grant: Grant) -> None:
    try:
        adapter_or_simulator(account.platform, sandbox=account.sandbox).revoke_grant(grant)
    except PlatformError as error:
        logger.warning("%s was disconnected, but not revoked at its platform: %s", account.id, error.message)
