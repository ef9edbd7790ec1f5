"""Token renewal ahead of expiry, so that posts find valid tokens and unused long-lived grants do not expire."""

from __future__ import annotations

import logging
import time

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from accounts.models import ConnectedAccount
from accounts.platforms.errors import AccountDisconnected, PlatformError, TokenExpired, Transient
from accounts.platforms.registry import publisher
from accounts.platforms.types import Grant
from accounts.services.tokens import mark_needs_reauth, renew_unless_taken
from config.jobs.backoff import doubling_pause

logger = logging.getLogger(__name__)
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 60.0, 3600.0


def refresh_ahead(*, limit: int = 200, seconds: float = 45.0) -> int:
    """Renew tokens that are due for renewal, of at most `limit` accounts and for about so many seconds; returns how many.

    After a platform did not answer, its other accounts are left for the next round, so that it delays no other platform. A
    failed renewal is tried again after a pause that doubles. Only a platform's refusal makes an account needs_reauth.
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
    """Renew an account's tokens; returns whether that was done here. Raises PlatformError, SealedValueError."""
    grant = account.grant()
    try:
        return renew_unless_taken(account_id=account.id, stale=grant)
    except AccountDisconnected:
        _settle_refusal(account, grant)
        return False


def _settle_refusal(account: ConnectedAccount, grant: Grant) -> None:
    """Mark an account whose renewal was refused needs_reauth, once its tokens stop working. Raises PlatformError."""
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
    """Postpone an account's renewal after a failure."""
    pause = doubling_pause(
        account.refresh_failures + 1,
        first=FIRST_PAUSE_SECONDS,
        longest=LONGEST_PAUSE_SECONDS,
        retry_after=getattr(fault, "retry_after", None) or 0.0,
    )
    _read(account).update(refresh_at=timezone.now() + pause, refresh_failures=F("refresh_failures") + 1)


def _read(account: ConnectedAccount) -> QuerySet[ConnectedAccount]:
    """A queryset of the account that is empty if its tokens were renewed after it was read."""
    return ConnectedAccount.objects.filter(pk=account.pk, refresh_at=account.refresh_at)
