"""Asking the platform whether an account's credentials still work."""

from __future__ import annotations

from django.utils import timezone

from accounts import selectors
from accounts.errors import as_api_error
from accounts.models import ConnectedAccount
from accounts.platforms.errors import AccountDisconnected, PlatformError, TokenExpired
from accounts.platforms.registry import publisher
from accounts.platforms.types import Grant, Identity
from accounts.services.tokens import mark_needs_reauth, refresh_grant
from config.api.caller import Caller


def check_account(*, caller: Caller, account_id: str) -> ConnectedAccount:
    """The account as it stands after asking its platform; credentials that it refuses turn it to needs_reauth.

    Raises NotFound, ScopeMissing, PlatformFault (the platform could not be asked; nothing is changed).
    """
    account = selectors.account_of(caller=caller, account_id=account_id, scope="accounts.read", write=False)
    if account.status == ConnectedAccount.Status.DISCONNECTED:
        return account
    try:
        identity = _identify(account)
    except AccountDisconnected:
        mark_needs_reauth(account_id=account.id, stale=account.grant())
    except PlatformError as error:
        raise as_api_error(error) from error
    else:
        ConnectedAccount.objects.filter(pk=account.pk).update(
            handle=identity.handle[:255],
            display_name=identity.display_name[:255] or account.display_name,
            status=ConnectedAccount.Status.ACTIVE,
        )
    ConnectedAccount.objects.filter(pk=account.pk).update(last_checked_at=timezone.now())
    account.refresh_from_db()
    return account


def _identify(account: ConnectedAccount) -> Identity:
    adapter, grant = publisher(account.platform, sandbox=account.sandbox), account.grant()
    try:
        return adapter.identify(grant)
    except TokenExpired:
        return adapter.identify(_renewed(account, grant))


def _renewed(account: ConnectedAccount, stale: Grant) -> Grant:
    return refresh_grant(account_id=account.id, stale=stale)
