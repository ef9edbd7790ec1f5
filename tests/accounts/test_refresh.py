"""Renewal of OAuth tokens: one worker at a time, without overwriting a concurrent reconnection."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from queue import Queue
from typing import Any

import pytest
import time_machine
from django.conf import settings
from django.db import connection
from django.utils import timezone

from accounts import services
from accounts.models import ConnectedAccount
from accounts.platforms.errors import ReauthRequired, Transient
from accounts.platforms.types import Grant
from tests.conftest import ApiClient
from tests.fakes.bluesky import FakeBluesky
from tests.fakes.oauth_platform import RENEW, FakeOAuthPlatform
from tests.in_threads import in_threads

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
REFRESH_SESSION = "com.atproto.server.refreshSession"


def refresh(account: ConnectedAccount, stale: Grant, **options: Any) -> Grant | str:
    """Refresh as one worker and return the working grant, or the name of the error."""
    try:
        return services.renew_or_await_tokens(account_id=account.id, stale=stale, **options)
    except (Transient, ReauthRequired) as error:
        return type(error).__name__


@pytest.mark.django_db(transaction=True)
def test_ten_concurrent_workers_make_one_refresh_and_all_get_the_new_tokens(
    oauth_account: ConnectedAccount, provider: FakeOAuthPlatform
) -> None:
    """The refresh token is good once: a second refresh would end the grant."""
    stale, before = oauth_account.decrypted_grant(), len(provider.requests)
    release = provider.hold_next(RENEW)

    def meanwhile(n: int) -> Any:
        if n < 10:
            return refresh(oauth_account, stale)
        provider.wait_for(before + 1)
        return release.set()

    outcomes = in_threads(11, meanwhile)[:10]

    account = ConnectedAccount.objects.get()
    assert outcomes == [account.decrypted_grant()] * 10
    assert provider.requests_to(RENEW) == 1
    assert set(account.decrypted_grant().tokens.values()) <= provider.live_tokens
    assert stale.tokens["refresh_token"] not in provider.live_tokens
    assert (account.status, account.refresh_lease_until) == ("active", None)


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_does_not_wait_gets_a_transient_error(connected: ConnectedAccount, pds: FakeBluesky) -> None:
    stale, before = connected.decrypted_grant(), len(pds.requests)
    release = pds.hold_next(REFRESH_SESSION)

    def meanwhile(n: int) -> Any:
        if n == 0:
            return refresh(connected, stale)
        pds.wait_for(before + 1)
        try:
            with pytest.raises(Transient) as caught:
                services.renew_or_await_tokens(account_id=connected.id, stale=stale, checks=0)
            return caught.value.retry_after
        finally:
            release.set()

    renewed, wait = in_threads(2, meanwhile)

    assert (isinstance(renewed, Grant), wait) == (True, 2.0)
    assert pds.requests_to(REFRESH_SESSION) == 1


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_waited_for_a_refused_refresh_does_not_repeat_it(
    oauth_account: ConnectedAccount, provider: FakeOAuthPlatform
) -> None:
    stale, before = oauth_account.decrypted_grant(), len(provider.requests)
    provider.end_refresh()
    release = provider.hold_next(RENEW)

    def meanwhile(n: int) -> Any:
        if n < 3:
            return refresh(oauth_account, stale)
        provider.wait_for(before + 1)
        return release.set()

    assert in_threads(4, meanwhile)[:3] == ["ReauthRequired"] * 3
    assert provider.requests_to(RENEW) == 1
    assert ConnectedAccount.objects.get().status == "needs_reauth"


def test_tokens_renewed_by_another_worker_are_used_without_a_call(connected: ConnectedAccount, pds: FakeBluesky) -> None:
    stale = connected.decrypted_grant()
    renewed = services.renew_or_await_tokens(account_id=connected.id, stale=stale)

    assert services.renew_or_await_tokens(account_id=connected.id, stale=stale) == renewed
    assert pds.requests_to(REFRESH_SESSION) == 1


def test_the_lease_of_a_dead_worker_expires(connected: ConnectedAccount, pds: FakeBluesky) -> None:
    stale = connected.decrypted_grant()
    ConnectedAccount.objects.update(refresh_lease_until=timezone.now() + timedelta(seconds=90))
    assert refresh(connected, stale, checks=0) == "RenewalInProgress"
    assert pds.requests_to(REFRESH_SESSION) == 0

    with time_machine.travel(timezone.now() + timedelta(seconds=91)):
        assert isinstance(refresh(connected, stale), Grant)
    assert ConnectedAccount.objects.get().refresh_lease_until is None


def test_a_failed_refresh_can_be_repeated_at_once(connected: ConnectedAccount, pds: FakeBluesky) -> None:
    stale = connected.decrypted_grant()
    pds.fail_next(REFRESH_SESSION)

    assert refresh(connected, stale) == "Transient"
    assert ConnectedAccount.objects.get().status == "active"
    assert isinstance(refresh(connected, stale), Grant)


def test_a_refused_refresh_sets_needs_reauth_and_is_not_repeated(connected: ConnectedAccount, pds: FakeBluesky) -> None:
    stale = connected.decrypted_grant()
    pds.take_down(connected.external_id)

    assert refresh(connected, stale) == "ReauthRequired"
    requests = len(pds.requests)
    assert refresh(connected, stale) == "ReauthRequired"

    account = ConnectedAccount.objects.get()
    assert (account.status, account.refresh_lease_until) == ("needs_reauth", None)
    assert len(pds.requests) == requests


@pytest.mark.django_db(transaction=True)
def test_tokens_of_a_concurrent_reconnection_are_not_overwritten(
    api: ApiClient, connect: Callable[..., Any], connected: ConnectedAccount, pds: FakeBluesky
) -> None:
    stale, before = connected.decrypted_grant(), len(pds.requests)
    release = pds.hold_next(REFRESH_SESSION)

    def meanwhile(n: int) -> Any:
        if n == 0:
            return refresh(connected, stale)
        pds.wait_for(before + 1)
        try:
            connect(api)
            return ConnectedAccount.objects.get().decrypted_grant()
        finally:
            release.set()

    refreshed, reconnected = in_threads(2, meanwhile)

    assert isinstance(refreshed, Grant)
    assert ConnectedAccount.objects.get().decrypted_grant() == reconnected != refreshed


def test_a_refusal_of_old_tokens_does_not_change_a_reconnected_account(
    api: ApiClient, connect: Callable[..., Any], connected: ConnectedAccount
) -> None:
    stale = connected.decrypted_grant()
    connect(api)

    services.mark_needs_reauth_unless_renewed(account_id=connected.id, stale=stale)

    assert ConnectedAccount.objects.get().status == "active"


def test_a_refresh_token_is_never_replaced_by_an_empty_one(
    oauth_account: ConnectedAccount, provider: FakeOAuthPlatform
) -> None:
    stale = oauth_account.decrypted_grant()
    provider.keep_refresh_token()

    for _ in range(2):
        renewed = services.renew_or_await_tokens(
            account_id=oauth_account.id, stale=ConnectedAccount.objects.get().decrypted_grant()
        )
        assert renewed == ConnectedAccount.objects.get().decrypted_grant()
        assert renewed.tokens["refresh_token"] == stale.tokens["refresh_token"]
        assert renewed.tokens["access_token"] != stale.tokens["access_token"]


@pytest.mark.parametrize(("seconds", "expires_at"), [(3600, NOON + timedelta(hours=1)), (None, None)])
def test_the_expiry_of_the_new_tokens_is_stored(
    oauth_account: ConnectedAccount, provider: FakeOAuthPlatform, seconds: int | None, expires_at: datetime | None
) -> None:
    provider.issue_for(seconds)

    with time_machine.travel(NOON, tick=False):
        renewed = services.renew_or_await_tokens(account_id=oauth_account.id, stale=oauth_account.decrypted_grant())

    assert (renewed.expires_at, ConnectedAccount.objects.get().token_expires_at) == (expires_at, expires_at)


def test_a_lost_answer_of_a_platform_that_rotates_tokens_ends_the_grant(
    oauth_account: ConnectedAccount, provider: FakeOAuthPlatform
) -> None:
    """The new pair was lost on the way; that the account needs its owner is said only once the platform says so."""
    stale = oauth_account.decrypted_grant()
    provider.drop_next(RENEW, after_accept=True)

    assert refresh(oauth_account, stale) == "Transient"
    assert ConnectedAccount.objects.get().status == "active"
    assert refresh(oauth_account, stale) == "ReauthRequired"
    assert ConnectedAccount.objects.get().status == "needs_reauth"


def test_a_wrong_client_secret_does_not_change_the_account(
    oauth_account: ConnectedAccount, provider: FakeOAuthPlatform, settings: Any
) -> None:
    settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, "PINTEREST_CLIENT_SECRET": "wrong"}

    assert refresh(oauth_account, oauth_account.decrypted_grant()) == "Transient"
    assert ConnectedAccount.objects.get().status == "active"


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(settings.SQLITE, reason="SQLite has no connection that could be cut")
def test_new_tokens_are_stored_after_a_database_outage(oauth_account: ConnectedAccount, provider: FakeOAuthPlatform) -> None:
    stale, before = oauth_account.decrypted_grant(), len(provider.requests)
    release, backends = provider.hold_next(RENEW), Queue[int]()

    def meanwhile(n: int) -> Any:
        with connection.cursor() as cursor:
            if n == 0:
                cursor.execute("SELECT pg_backend_pid()")
                backends.put(cursor.fetchone()[0])
            else:
                provider.wait_for(before + 1)
                cursor.execute("SELECT pg_terminate_backend(%s)", [backends.get(timeout=5)])
                return release.set()
        return refresh(oauth_account, stale)

    renewed, _ = in_threads(2, meanwhile)

    assert renewed == ConnectedAccount.objects.get().decrypted_grant() != stale
