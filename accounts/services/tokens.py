"""The care of tokens: one refresh at a time, the network outside any transaction."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from accounts.models import ConnectedAccount
from accounts.platforms.errors import AccountDisconnected, Transient
from accounts.platforms.registry import publisher
from accounts.platforms.types import Grant

REFRESH_LEASE = timedelta(seconds=60)
LOOK_AGAIN_SECONDS = 2.0


class BeingRenewed(Transient):
    """Another worker is at the account's tokens at this moment."""


def refresh_grant(*, account_id: str, stale: Grant) -> Grant:
    """A grant with working tokens in place of a stale one.

    When another worker has renewed them meanwhile, its tokens are taken; while it is at it, BeingRenewed says to come again.
    Raises AccountDisconnected (the account is then marked needs_reauth), Transient.
    """
    account = ConnectedAccount.objects.get(pk=account_id)
    if account.status != ConnectedAccount.Status.ACTIVE:
        raise AccountDisconnected("The account is not connected any more.")
    if account.grant() != stale:
        return account.grant()
    lease = timezone.now() + REFRESH_LEASE
    free = Q(refresh_lease_until=None) | Q(refresh_lease_until__lte=timezone.now())
    if not ConnectedAccount.objects.filter(free, pk=account_id, updated_at=account.updated_at).update(
        refresh_lease_until=lease, updated_at=timezone.now()
    ):
        raise BeingRenewed("The account's tokens are being renewed.", retry_after=LOOK_AGAIN_SECONDS)
    leased = ConnectedAccount.objects.filter(pk=account_id, refresh_lease_until=lease)
    try:
        renewed = publisher(account.platform, sandbox=account.sandbox).refresh(stale)
    except AccountDisconnected:
        leased.update(refresh_lease_until=None)
        mark_needs_reauth(account_id=account_id, stale=stale)
        raise
    except Exception:
        leased.update(refresh_lease_until=None)
        raise
    sealed = ConnectedAccount._meta.get_field("tokens").seal(account_id, dict(renewed.tokens))
    leased.update(
        tokens=sealed, token_expires_at=renewed.expires_at, refresh_lease_until=None, updated_at=timezone.now()
    )
    return renewed


def mark_needs_reauth(*, account_id: str, stale: Grant) -> None:
    """Note that a person has to reconnect, unless somebody did so since this grant was read."""
    account = ConnectedAccount.objects.get(pk=account_id)
    if account.grant() == stale:
        ConnectedAccount.objects.filter(
            pk=account_id, status=ConnectedAccount.Status.ACTIVE, updated_at=account.updated_at
        ).update(status=ConnectedAccount.Status.NEEDS_REAUTH, updated_at=timezone.now())
