"""Check of a connected account: asks the platform whether the stored credentials still work."""

from __future__ import annotations

import logging
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts import selectors
from accounts.errors import platform_error_as_api_error
from accounts.models import Avatar, ConnectedAccount
from accounts.platforms.errors import PlatformError, ReauthRequired, TokenExpired
from accounts.platforms.registry import adapter_or_simulator
from accounts.platforms.types import Identity
from accounts.services.avatars import avatar_url_from_identity_or_previous, schedule_avatar_fetch
from accounts.services.tokens import mark_needs_reauth_unless_renewed, renew_or_await_tokens
from config.api.caller import Caller
from config.api.request_limits import OUTBOUND_SECONDS, limit_outbound_threads_and_seconds
from config.db.encryption import SealedValueError
from config.outbound import total_deadline

logger = logging.getLogger(__name__)
# Half of the time is reserved for a token refresh, whose answer must not be lost.
FIRST_CHECK_TIMEOUT_SECONDS = OUTBOUND_SECONDS / 2


def verify_and_update_account(*, caller: Caller, account_id: str) -> ConnectedAccount:
    """Check the credentials of a connected account with its platform, and return the updated account.

    If they work, the account becomes active and gets its current names and limits. Expired tokens are renewed first. The
    account becomes needs_reauth if the platform rejects the credentials, or if no encryption key decrypts them. A
    disconnected account is returned unchanged. Raises NotFound, ScopeMissing, RateLimited, and PlatformFault or
    ConnectionUnavailable if the platform could not be asked; then at most the tokens have changed.
    """
    account = selectors.get_accessible_account(caller=caller, account_id=account_id, scope="accounts.read", write=False)
    if account.status == ConnectedAccount.Status.DISCONNECTED:
        return account
    adapter = adapter_or_simulator(account.platform, sandbox=account.sandbox)
    try:
        grant = account.decrypted_grant()
    except SealedValueError as error:
        return _mark_undecryptable(account, error)
    try:
        with limit_outbound_threads_and_seconds(account.workspace_id):
            try:
                with total_deadline(FIRST_CHECK_TIMEOUT_SECONDS):
                    identity = adapter.check_and_identify(grant)
            except TokenExpired:
                grant = renew_or_await_tokens(account_id=account.id, stale=grant)
                identity = adapter.check_and_identify(grant)
    except ReauthRequired:
        mark_needs_reauth_unless_renewed(account_id=account.id, stale=grant)
    except PlatformError as error:
        raise platform_error_as_api_error(error) from error
    else:
        _store_identity(account, identity)
    _connected_row(account).update(last_checked_at=timezone.now())
    account.refresh_from_db()
    return account


def _store_identity(account: ConnectedAccount, identity: Identity) -> None:
    """Store the identity that a platform reports for a checked account, and schedule fetching its picture if necessary.

    The picture is fetched if it is new or was never fetched. Nothing is stored if the account was disconnected meanwhile.
    """
    picture = avatar_url_from_identity_or_previous(account, identity)
    with transaction.atomic():
        connected = _connected_row(account).update(
            handle=identity.handle[:255],
            display_name=identity.display_name[:255] or account.display_name,
            avatar_url=picture,
            limits=dict(identity.limits) or account.limits,
            status=ConnectedAccount.Status.ACTIVE,
        )
        # Accounts that were connected by a release without avatars have no row.
        if connected and (picture != account.avatar_url or not Avatar.objects.filter(pk=account.pk).exists()):
            schedule_avatar_fetch(account)


def _mark_undecryptable(account: ConnectedAccount, error: SealedValueError) -> ConnectedAccount:
    """Set a checked account to needs_reauth because its secrets cannot be decrypted, unless it was reconnected meanwhile."""
    logger.error("%s has to be connected again: %s", account.id, error)
    now = timezone.now()
    changes: dict[str, Any] = {"last_checked_at": now}
    # `updated_at` is the time of the first failure, so a later failure does not change it.
    if account.status != ConnectedAccount.Status.NEEDS_REAUTH:
        changes |= {"status": ConnectedAccount.Status.NEEDS_REAUTH, "updated_at": now}
    _connected_row(account).filter(updated_at=account.updated_at).update(**changes)
    return ConnectedAccount.objects.get(pk=account.pk)  # refresh_from_db would decrypt the secrets


def _connected_row(account: ConnectedAccount) -> QuerySet[ConnectedAccount]:
    """Return a queryset with only the account that is checked, or with none if it was disconnected meanwhile."""
    return ConnectedAccount.objects.filter(pk=account.pk).exclude(status=ConnectedAccount.Status.DISCONNECTED)
