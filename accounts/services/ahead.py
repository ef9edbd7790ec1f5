"""Renewal of OAuth tokens before they expire, so that posts find valid tokens and unused accounts stay connected."""

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
    """Renew the OAuth tokens of connected accounts that are due for renewal; returns the number of renewed accounts.

    Handles at most `limit` accounts and takes about `seconds`. If a platform does not answer, its other accounts wait for the
    next run, so that it delays no other platform. A failed renewal is tried again after a pause that doubles. Only a refusal
    by the platform sets an account to needs_reauth.
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
    """Renew the OAuth tokens of a connected account; returns whether this call renewed them.

    Raises PlatformError, SealedValueError.
    """
    grant = account.grant()
    try:
        return renew_unless_taken(account_id=account.id, stale=grant)
    except AccountDisconnected:
        _settle_refusal(account, grant)
        return False


def _settle_refusal(account: ConnectedAccount, grant: Grant) -> None:
    """Handle a refused token renewal: set the account to needs_reauth unless its current access token still works.

    An account whose token still works is tried again when that token expires. Raises PlatformError.
    """
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
    """Postpone the token renewal of a connected account after a failed attempt."""
    pause = doubling_pause(
        account.refresh_failures + 1,
        first=FIRST_PAUSE_SECONDS,
        longest=LONGEST_PAUSE_SECONDS,
        retry_after=getattr(fault, "retry_after", None) or 0.0,
    )
    _read(account).update(refresh_at=timezone.now() + pause, refresh_failures=F("refresh_failures") + 1)


def _read(account: ConnectedAccount) -> QuerySet[ConnectedAccount]:
    """Queryset of a connected account; empty if its tokens were renewed after the account was read."""
    return ConnectedAccount.objects.filter(pk=account.pk, refresh_at=account.refresh_at)
