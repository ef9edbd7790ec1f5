"""Refresh of OAuth tokens: one worker at a time renews an account's tokens; it calls the platform outside any transaction.

Platforms that rotate refresh tokens accept each token once. If the answer of such a platform is lost, the new tokens are
lost with it. The old refresh token is then tried again, which some platforms allow for a while. Only when the platform says
that it is no longer valid does the account become needs_reauth. New tokens are stored even if the database is down for a
while.
"""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import datetime, timedelta

from django.utils import timezone

from accounts.models import ConnectedAccount
from accounts.platforms.errors import AccountDisconnected, Transient
from accounts.platforms.registry import publisher
from accounts.platforms.types import Grant
from config.db.connection import release_connection
from config.db.outage import retry_while_database_down

REFRESH_LEASE = timedelta(seconds=90)  # longer than a platform's answer plus a wait for the database
LOOKS, LOOK_SECONDS = 50, 0.1  # how often, and at what interval, to check for tokens that another worker is renewing
LOOK_AGAIN_SECONDS = 2.0
AHEAD_SHARE = 0.2  # the share of a token's lifetime that is left when it is renewed: 24 minutes of two hours


class BeingRenewed(Transient):
    """Raised when another worker is still renewing the account's OAuth tokens."""


def ahead_of(expires_at: datetime | None) -> datetime | None:
    """The time at which an OAuth token issued now is to be renewed; None for a token that does not expire."""
    if expires_at is None:
        return None
    now = timezone.now()
    return now + max(expires_at - now, timedelta(0)) * (1 - AHEAD_SHARE)


def refresh_grant(*, account_id: str, stale: Grant, looks: int = LOOKS) -> Grant:
    """Renew the OAuth tokens of a stale grant; returns the new grant.

    If another worker has renewed them since, that worker's tokens are returned. While another worker is renewing them, the
    account is read up to `looks` times. Raises BeingRenewed if the tokens are not renewed by then, AccountDisconnected (the
    account is then needs_reauth), Transient.
    """
    while True:
        account = _connected(account_id)
        if account.grant() != stale:
            return account.grant()
        lease = _take_lease(account)
        if lease is not None:
            return _renew(account, stale, lease, marks=True)
        if looks <= 0:
            raise BeingRenewed("The account's tokens are being renewed.", retry_after=LOOK_AGAIN_SECONDS)
        looks -= 1
        release_connection()
        time.sleep(LOOK_SECONDS)


def renew_unless_taken(*, account_id: str, stale: Grant) -> bool:
    """Renew an account's OAuth tokens unless another worker has done so or is doing so; returns whether this call did.

    Raises AccountDisconnected (without changing the account's status: the old token may still work), Transient.
    """
    account = _connected(account_id)
    lease = _take_lease(account) if account.grant() == stale else None
    if lease is not None:
        _renew(account, stale, lease, marks=False)
    return lease is not None


def _connected(account_id: str) -> ConnectedAccount:
    account = ConnectedAccount.objects.get(pk=account_id)
    if account.status != ConnectedAccount.Status.ACTIVE:
        raise AccountDisconnected("The account is not connected any more.")
    return account


def mark_needs_reauth(*, account_id: str, stale: Grant) -> None:
    """Set a connected account to needs_reauth, unless its tokens have changed since this grant was read."""
    account = ConnectedAccount.objects.get(pk=account_id)
    if account.grant() == stale:
        ConnectedAccount.objects.filter(
            pk=account_id, status=ConnectedAccount.Status.ACTIVE, updated_at=account.updated_at
        ).update(status=ConnectedAccount.Status.NEEDS_REAUTH, updated_at=timezone.now())


def _take_lease(account: ConnectedAccount) -> datetime | None:
    """Take the token refresh lease of an account; returns its end, or None if another worker has it or the row changed."""
    now = timezone.now()
    held = account.refresh_lease_until
    if held is not None and held > now:
        return None
    taken = ConnectedAccount.objects.filter(
        pk=account.pk, refresh_lease_until=held, updated_at=account.updated_at
    ).update(refresh_lease_until=now + REFRESH_LEASE, updated_at=now)
    return now + REFRESH_LEASE if taken else None


def _renew(account: ConnectedAccount, stale: Grant, lease: datetime, *, marks: bool) -> Grant:
    leased = ConnectedAccount.objects.filter(pk=account.pk, refresh_lease_until=lease)
    release_connection()
    try:
        renewed = publisher(account.platform, sandbox=account.sandbox).refresh(stale)
    except AccountDisconnected:
        if marks:  # before the lease ends, so that no waiting worker asks the platform again
            mark_needs_reauth(account_id=account.id, stale=stale)
        leased.update(refresh_lease_until=None)
        raise
    except BaseException:
        leased.update(refresh_lease_until=None)
        raise
    # Values that the platform left out or sent empty keep their old value, above all the refresh token.
    tokens = {**stale.tokens, **{name: value for name, value in renewed.tokens.items() if value not in ("", None)}}
    retry_while_database_down(
        leased.update,
        tokens=ConnectedAccount._meta.get_field("tokens").seal(account.id, tokens),
        token_expires_at=renewed.expires_at,
        refresh_lease_until=None,
        refresh_at=ahead_of(renewed.expires_at),
        refresh_failures=0,
        updated_at=timezone.now(),
    )
    return replace(stale, tokens=tokens, expires_at=renewed.expires_at)
