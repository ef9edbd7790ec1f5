"""Renewal of OAuth tokens, which only one worker at a time does for an account.

The platform is called outside of transactions. Platforms that rotate refresh tokens accept each token once. If the answer of
such a platform is lost, the new tokens are lost with it. The old refresh token is then tried again, which some platforms
allow for a while. Only when the platform says that it is no longer valid does the account become needs_reauth. New tokens are
stored even if the database is down for a while. A periodic task renews tokens before they expire, so that posts find valid
tokens and unused accounts stay connected.
"""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from datetime import datetime, timedelta

from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_noop

from accounts.models import ConnectedAccount
from accounts.platforms.errors import PlatformError, ReauthRequired, TokenExpired, Transient
from accounts.platforms.registry import adapter_or_simulator
from accounts.platforms.types import Grant
from config.db.connection import close_connection_before_waiting
from config.db.outage import retry_while_database_down
from config.jobs.backoff import exponential_retry_pause

logger = logging.getLogger(__name__)
REFRESH_LEASE = timedelta(seconds=90)  # longer than a platform's answer plus a wait for the database
CHECKS, CHECK_SECONDS = 50, 0.1  # how often, and at what interval, to check for tokens that another worker is renewing
RETRY_SECONDS = 2.0
LIFETIME_SHARE_AT_RENEWAL = 0.2  # the share of a token's lifetime that is left when it is renewed: 24 minutes of two hours
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 60.0, 3600.0  # after failed renewals by `renew_expiring_tokens`


class RenewalInProgress(Transient):
    """Raised when another worker is still renewing the account's OAuth tokens."""


def new_token_renewal_due_at(expires_at: datetime | None) -> datetime | None:
    """Return when an OAuth token that is issued now is due for renewal; None for a token that does not expire."""
    if expires_at is None:
        return None
    now = timezone.now()
    return now + max(expires_at - now, timedelta(0)) * (1 - LIFETIME_SHARE_AT_RENEWAL)


def renew_or_await_tokens(*, account_id: str, stale: Grant, checks: int = CHECKS) -> Grant:
    """Renew an account's OAuth tokens, or wait while another worker renews them; return the account's new secrets.

    If another worker has renewed them since, that worker's tokens are returned. While another worker is renewing them, the
    account is read up to `checks` times. Raises RenewalInProgress if the tokens are not renewed by then, ReauthRequired
    (the account is then needs_reauth), Transient.
    """
    while True:
        account = _connected(account_id)
        if account.decrypted_grant() != stale:
            return account.decrypted_grant()
        lease = _take_lease(account)
        if lease is not None:
            return _renew(account, stale, lease, marks=True)
        if checks <= 0:
            raise RenewalInProgress(gettext_noop("The account's tokens are being renewed."), retry_after=RETRY_SECONDS)
        checks -= 1
        close_connection_before_waiting()
        time.sleep(CHECK_SECONDS)


def renew_tokens_unless_in_progress(*, account_id: str, stale: Grant) -> bool:
    """Renew an account's OAuth tokens unless another worker renews them; returns whether this call renewed them.

    It also does nothing if they were renewed since `stale` was read. Raises ReauthRequired (without changing the
    account's status: the old token may still work), Transient.
    """
    account = _connected(account_id)
    lease = _take_lease(account) if account.decrypted_grant() == stale else None
    if lease is not None:
        _renew(account, stale, lease, marks=False)
    return lease is not None


def _connected(account_id: str) -> ConnectedAccount:
    account = ConnectedAccount.objects.get(pk=account_id)
    if account.status != ConnectedAccount.Status.ACTIVE:
        raise ReauthRequired(gettext_noop("The account is not connected any more."))
    return account


def mark_needs_reauth_unless_renewed(*, account_id: str, stale: Grant) -> None:
    """Set an account to needs_reauth after its tokens failed, unless the tokens (`stale`) were renewed meanwhile."""
    account = ConnectedAccount.objects.get(pk=account_id)
    if account.decrypted_grant() == stale:
        ConnectedAccount.objects.filter(
            pk=account_id, status=ConnectedAccount.Status.ACTIVE, updated_at=account.updated_at
        ).update(status=ConnectedAccount.Status.NEEDS_REAUTH, updated_at=timezone.now())


def _take_lease(account: ConnectedAccount) -> datetime | None:
    """Reserve the renewal of an account's OAuth tokens for this worker; returns the end of the reservation (lease).

    Returns None if another worker was faster.
    """
    now = timezone.now()
    held = account.refresh_lease_until
    if held is not None and held > now:
        return None
    taken = ConnectedAccount.objects.filter(pk=account.pk, refresh_lease_until=held, updated_at=account.updated_at).update(
        refresh_lease_until=now + REFRESH_LEASE, updated_at=now
    )
    return now + REFRESH_LEASE if taken else None


def _renew(account: ConnectedAccount, stale: Grant, lease: datetime, *, marks: bool) -> Grant:
    leased = ConnectedAccount.objects.filter(pk=account.pk, refresh_lease_until=lease)
    close_connection_before_waiting()
    try:
        renewed = adapter_or_simulator(account.platform, sandbox=account.sandbox).refresh_grant(stale)
    except ReauthRequired:
        if marks:  # before the lease ends, so that no waiting worker asks the platform again
            mark_needs_reauth_unless_renewed(account_id=account.id, stale=stale)
        leased.update(refresh_lease_until=None)
        raise
    except BaseException:
        leased.update(refresh_lease_until=None)
        raise
    # Values that the platform left out or sent empty keep their old value, above all the refresh token.
    tokens = {**stale.tokens, **{name: value for name, value in renewed.tokens.items() if value not in ("", None)}}
    retry_while_database_down(
        leased.update,
        tokens=ConnectedAccount._meta.get_field("tokens").encrypt_value(account.id, tokens),
        token_expires_at=renewed.expires_at,
        refresh_lease_until=None,
        refresh_at=new_token_renewal_due_at(renewed.expires_at),
        refresh_failures=0,
        updated_at=timezone.now(),
    )
    return replace(stale, tokens=tokens, expires_at=renewed.expires_at)


def renew_expiring_tokens(*, limit: int = 200, seconds: float = 45.0) -> int:
    """Renew OAuth tokens of connected accounts before they expire; returns the number of accounts with new tokens.

    Handles at most `limit` accounts and takes about `seconds`. If a platform does not answer, its other accounts wait for the
    next run, so that it delays no other platform. A failed renewal is tried again after a pause that doubles. Only a refusal
    by the platform sets an account to needs_reauth.
    """
    ends = time.monotonic() + seconds
    renewed, seen, unreachable = 0, set[str](), set[str]()
    while len(seen) < limit and time.monotonic() < ends:
        account = _due().exclude(pk__in=seen).exclude(platform__in=unreachable).first()
        if account is None:
            break
        seen.add(account.id)
        try:
            renewed += _renew_due(account)
        except PlatformError as error:
            _postpone(account, error)
            if isinstance(error, Transient):
                unreachable.add(account.platform)
        except Exception as fault:
            logger.exception("The tokens of %s could not be renewed.", account.id)
            _postpone(account, fault)
    return renewed


def _due() -> QuerySet[ConnectedAccount]:
    now = timezone.now()
    free = Q(refresh_lease_until=None) | Q(refresh_lease_until__lte=now)
    active = ConnectedAccount.objects.filter(free, status=ConnectedAccount.Status.ACTIVE, refresh_at__lte=now)
    return active.order_by("refresh_at", "pk")


def _renew_due(account: ConnectedAccount) -> bool:
    """Renew the OAuth tokens of an account whose renewal is due; returns whether this call renewed them.

    Raises PlatformError, SealedValueError.
    """
    grant = account.decrypted_grant()
    try:
        return renew_tokens_unless_in_progress(account_id=account.id, stale=grant)
    except ReauthRequired:
        _handle_refusal(account, grant)
        return False


def _handle_refusal(account: ConnectedAccount, grant: Grant) -> None:
    """Set an account to needs_reauth if its platform refuses new tokens and no longer accepts the old access token.

    An account whose token still works is tried again when that token expires. Raises PlatformError.
    """
    if grant.expires_at and grant.expires_at > timezone.now():
        try:
            adapter_or_simulator(account.platform, sandbox=account.sandbox).check_and_identify(grant)
        except (ReauthRequired, TokenExpired):
            pass
        else:
            _unchanged(account).update(refresh_at=grant.expires_at, refresh_failures=0)
            return
    mark_needs_reauth_unless_renewed(account_id=account.id, stale=grant)


def _postpone(account: ConnectedAccount, fault: Exception) -> None:
    """Postpone the next renewal of an account's OAuth tokens, because a renewal failed."""
    pause = exponential_retry_pause(
        account.refresh_failures + 1,
        first=FIRST_PAUSE_SECONDS,
        longest=LONGEST_PAUSE_SECONDS,
        retry_after=getattr(fault, "retry_after", None) or 0.0,
    )
    _unchanged(account).update(refresh_at=timezone.now() + pause, refresh_failures=F("refresh_failures") + 1)


def _unchanged(account: ConnectedAccount) -> QuerySet[ConnectedAccount]:
    """Return a queryset with only this account, or with none if its OAuth tokens have been renewed meanwhile."""
    return ConnectedAccount.objects.filter(pk=account.pk, refresh_at=account.refresh_at)
