"""The care of tokens: one refresh at a time, the network outside any transaction.

A platform that rotates refresh tokens takes each of them once. When its answer is lost on the way, the new pair is lost
with it: the old one is tried again, which some platforms allow for a while; where the platform says that it has ended,
the account needs its owner. So nothing but that word turns an account to needs_reauth, and a pair that has arrived is
stored though the database be away for a while.
"""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.db import InterfaceError, OperationalError, connection
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import ConnectedAccount
from accounts.platforms.errors import AccountDisconnected, Transient
from accounts.platforms.registry import publisher
from accounts.platforms.types import Grant
from config.db.connection import let_go

REFRESH_LEASE = timedelta(seconds=90)  # the platform's answer, and the wait for a database that is away
LOOKS, LOOK_SECONDS = 50, 0.1  # how long one waits for the tokens that another is renewing
LOOK_AGAIN_SECONDS = 2.0
DATABASE_LOOKS, DATABASE_LOOK_SECONDS = 60, 0.5
AHEAD_SHARE = 0.2  # of a token's life is left when it is renewed: 24 minutes of two hours, 12 days of 60


class BeingRenewed(Transient):
    """Another worker is at the account's tokens at this moment."""


def ahead_of(expires_at: datetime | None) -> datetime | None:
    """When a token that is new now is to be renewed; None for one that does not end."""
    if expires_at is None:
        return None
    now = timezone.now()
    return now + max(expires_at - now, timedelta(0)) * (1 - AHEAD_SHARE)


def refresh_grant(*, account_id: str, stale: Grant, looks: int = LOOKS) -> Grant:
    """A grant with working tokens in place of a stale one.

    When another worker has renewed them meanwhile, its tokens are taken; while it is at it, they are looked for `looks`
    times, and then BeingRenewed says to come again. Raises AccountDisconnected (the account is then marked needs_reauth),
    Transient.
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
        let_go()
        time.sleep(LOOK_SECONDS)


def renew_unless_taken(*, account_id: str, stale: Grant) -> bool:
    """Renew the tokens, unless another has done so since they were read or is at it; returns whether it was done here.

    Raises AccountDisconnected (and marks nothing: the old token may still work), Transient.
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
    """Note that a person has to reconnect, unless somebody did so since this grant was read."""
    account = ConnectedAccount.objects.get(pk=account_id)
    if account.grant() == stale:
        ConnectedAccount.objects.filter(
            pk=account_id, status=ConnectedAccount.Status.ACTIVE, updated_at=account.updated_at
        ).update(status=ConnectedAccount.Status.NEEDS_REAUTH, updated_at=timezone.now())


def _take_lease(account: ConnectedAccount) -> datetime | None:
    """The end of the lease that is ours now; None while another holds one, or when the row has changed since it was read."""
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
    let_go()
    try:
        renewed = publisher(account.platform, sandbox=account.sandbox).refresh(stale)
    except AccountDisconnected:
        if marks:  # before the lease ends, so that nobody who waits for it asks the platform again
            mark_needs_reauth(account_id=account.id, stale=stale)
        leased.update(refresh_lease_until=None)
        raise
    except BaseException:
        leased.update(refresh_lease_until=None)
        raise
    # What the platform left out or sent empty stays as it was: above all the refresh token.
    tokens = {**stale.tokens, **{name: value for name, value in renewed.tokens.items() if value not in ("", None)}}
    _surely_update(
        leased,
        tokens=ConnectedAccount._meta.get_field("tokens").seal(account.id, tokens),
        token_expires_at=renewed.expires_at,
        refresh_lease_until=None,
        refresh_at=ahead_of(renewed.expires_at),
        refresh_failures=0,
        updated_at=timezone.now(),
    )
    return replace(stale, tokens=tokens, expires_at=renewed.expires_at)


def _surely_update(rows: QuerySet[ConnectedAccount], **values: Any) -> None:
    """Write what the platform has answered, though the database be away for half a minute: nobody else knows it."""
    looks = DATABASE_LOOKS
    while True:
        try:
            rows.update(**values)
            return
        except (OperationalError, InterfaceError):
            looks -= 1
            if connection.in_atomic_block or looks <= 0:
                raise
            connection.close()
            time.sleep(DATABASE_LOOK_SECONDS)
