"""Renewing tokens ahead of their end, so that no post meets a stale one and no long-lived grant dies unused."""

from __future__ import annotations

import logging
import time
from datetime import timedelta

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from accounts.models import ConnectedAccount
from accounts.platforms.errors import AccountDisconnected, PlatformError, TokenExpired, Transient
from accounts.platforms.registry import publisher
from accounts.platforms.types import Grant
from accounts.services.tokens import mark_needs_reauth, renew_unless_taken

logger = logging.getLogger(__name__)
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 60.0, 3600.0


def refresh_ahead(*, limit: int = 200, seconds: float = 45.0) -> int:
    """Renew the tokens whose time has come, of at most `limit` accounts and for about so many seconds; returns how many.

    A platform that does not answer is left alone for the rest of the round, so that it holds up no other. What failed is
    put off, each time for longer; only the platform's word that a grant has ended turns an account to needs_reauth.
    """
    ends = time.monotonic() + seconds
    renewed, seen, away = 0, set[str](), set[str]()
    while len(seen) < limit and time.monotonic() < ends:
        account = _due().exclude(pk__in=seen).exclude(platform__in=away).first()
        if account is None:
            break
        seen.add(account.id)
        try:
            renewed += _renew(account)
        except PlatformError as error:
            _put_off(account, error)
            if isinstance(error, Transient):
                away.add(account.platform)
        except Exception as fault:
            logger.exception("The tokens of %s could not be renewed.", account.id)
            _put_off(account, fault)
    return renewed


def _due() -> QuerySet[ConnectedAccount]:
    now = timezone.now()
    free = Q(refresh_lease_until=None) | Q(refresh_lease_until__lte=now)
    active = ConnectedAccount.objects.filter(free, status=ConnectedAccount.Status.ACTIVE, refresh_at__lte=now)
    return active.order_by("refresh_at", "pk")


def _renew(account: ConnectedAccount) -> bool:
    """Whether the tokens were renewed here. Raises PlatformError, SealedValueError."""
    grant = account.grant()
    try:
        return renew_unless_taken(account_id=account.id, stale=grant)
    except AccountDisconnected:
        _settle_refusal(account, grant)
        return False


def _settle_refusal(account: ConnectedAccount, grant: Grant) -> None:
    """Nothing renews these tokens: a person is needed, but not before they stop working. Raises PlatformError."""
    if grant.expires_at and grant.expires_at > timezone.now():
        try:
            publisher(account.platform, sandbox=account.sandbox).identify(grant)
        except (AccountDisconnected, TokenExpired):
            pass
        else:
            _read(account).update(refresh_at=grant.expires_at, refresh_failures=0)
            return
    mark_needs_reauth(account_id=account.id, stale=grant)


def _put_off(account: ConnectedAccount, fault: Exception) -> None:
    """Come again later: each time twice as late, or when the platform says."""
    pause = min(FIRST_PAUSE_SECONDS * 2 ** min(account.refresh_failures, 10), LONGEST_PAUSE_SECONDS)
    pause = max(pause, getattr(fault, "retry_after", None) or 0.0)
    _read(account).update(
        refresh_at=timezone.now() + timedelta(seconds=pause), refresh_failures=F("refresh_failures") + 1
    )


def _read(account: ConnectedAccount) -> QuerySet[ConnectedAccount]:
    """The row, unless its tokens were renewed since it was read."""
    return ConnectedAccount.objects.filter(pk=account.pk, refresh_at=account.refresh_at)
