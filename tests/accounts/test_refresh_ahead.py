"""Renewal of OAuth tokens before they expire, by the periodic task."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from cryptography.fernet import Fernet
from django.conf import settings as service
from pytest_django import Settings

from accounts import tasks
from accounts.models import ConnectedAccount
from accounts.platforms import registry
from accounts.services import renew_expiring_tokens
from tests import factories
from tests.conftest import ApiClient
from tests.fakes.http_server import Answer
from tests.fakes.oauth_platform import ACCOUNTS, RENEW, FakeOAuthPlatform
from tests.in_threads import in_threads

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
AHEAD = timedelta(minutes=96)  # of the two hours that a token lives here


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """A clock that shows noon until it is moved."""
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture
def expiring(clock: time_machine.Traveller, oauth_account: ConnectedAccount) -> ConnectedAccount:
    """An account connected at noon whose token ends at two."""
    return oauth_account


def copy_of(account: ConnectedAccount, **fields: Any) -> ConnectedAccount:
    """Create another account with the same tokens; keyword arguments replace its fields."""
    same = {name: getattr(account, name) for name in ("workspace", "platform", "token_expires_at", "refresh_at")}
    tokens = fields.pop("tokens", None) or dict(account.decrypted_grant().tokens)
    return factories.AccountFactory.create(**{**same, "sandbox": False, "tokens": tokens, **fields})


def test_tokens_are_renewed_when_a_fifth_of_their_lifetime_is_left(
    expiring: ConnectedAccount, provider: FakeOAuthPlatform, clock: time_machine.Traveller
) -> None:
    clock.shift(AHEAD - timedelta(seconds=1))
    assert tasks.renew_expiring_tokens() == 0
    clock.shift(timedelta(seconds=1))
    assert tasks.renew_expiring_tokens() == 1
    assert tasks.renew_expiring_tokens() == 0

    account = ConnectedAccount.objects.get()
    assert account.decrypted_grant() != expiring.decrypted_grant()
    assert account.token_expires_at == NOON + AHEAD + timedelta(hours=2)
    assert account.refresh_at == NOON + 2 * AHEAD
    assert provider.requests_to(RENEW) == 1


def test_tokens_valid_for_weeks_are_renewed_when_a_fifth_is_left(
    expiring: ConnectedAccount, provider: FakeOAuthPlatform, clock: time_machine.Traveller
) -> None:
    provider.issue_for(60 * 86_400)
    clock.shift(AHEAD)
    tasks.renew_expiring_tokens()

    assert ConnectedAccount.objects.get().refresh_at == NOON + AHEAD + timedelta(days=48)


def test_the_beat_runs_the_renewal_every_minute() -> None:
    entry = service.CELERY_BEAT_SCHEDULE["refresh-tokens-ahead"]

    assert entry == {"task": tasks.renew_expiring_tokens.name, "schedule": 60.0}


@pytest.mark.parametrize("why", ["no end", "needs_reauth", "disconnected", "sandbox"])
def test_accounts_without_due_renewal_are_not_changed(
    api: ApiClient, expiring: ConnectedAccount, provider: FakeOAuthPlatform, clock: time_machine.Traveller, why: str
) -> None:
    if why == "no end":
        provider.issue_for(None)
        clock.shift(AHEAD)
        assert tasks.renew_expiring_tokens() == 1
    elif why == "sandbox":
        expiring.delete()
        factories.AccountFactory(workspace=expiring.workspace)
    elif why == "disconnected":
        api.delete(f"/accounts/{expiring.id}")
    else:
        ConnectedAccount.objects.update(status=why)
    asked = provider.requests_to(RENEW)

    clock.shift(timedelta(days=400))
    assert tasks.renew_expiring_tokens() == 0
    assert provider.requests_to(RENEW) == asked


def test_the_pause_after_a_failed_renewal_doubles(
    expiring: ConnectedAccount, provider: FakeOAuthPlatform, clock: time_machine.Traveller
) -> None:
    provider.fail_next(RENEW, times=3)
    clock.shift(AHEAD)
    for pause in (60, 120, 240):
        assert tasks.renew_expiring_tokens() == 0
        clock.shift(timedelta(seconds=pause - 1))
        before = provider.requests_to(RENEW)
        assert tasks.renew_expiring_tokens() == 0
        assert provider.requests_to(RENEW) == before
        clock.shift(timedelta(seconds=1))

    assert tasks.renew_expiring_tokens() == 1
    account = ConnectedAccount.objects.get()
    assert (account.status, account.refresh_failures) == ("active", 0)


def test_the_pause_follows_the_platforms_retry_after(
    expiring: ConnectedAccount, provider: FakeOAuthPlatform, clock: time_machine.Traveller
) -> None:
    provider.refuse_next(RENEW, Answer(429, b"", {"Retry-After": "900"}))
    clock.shift(AHEAD)
    tasks.renew_expiring_tokens()

    assert ConnectedAccount.objects.get().refresh_at == NOON + AHEAD + timedelta(minutes=15)


def test_an_unreachable_platform_is_called_once_per_run_and_delays_no_other(
    expiring: ConnectedAccount, provider: FakeOAuthPlatform, clock: time_machine.Traveller, monkeypatch: Any
) -> None:
    monkeypatch.setitem(registry.PLATFORMS, "threads", registry.PLATFORMS["pinterest"])
    later = expiring.refresh_at + timedelta(seconds=1) if expiring.refresh_at else None
    others = [copy_of(expiring) for _ in range(3)]
    elsewhere = copy_of(expiring, platform="threads", refresh_at=later)
    provider.fail_next(RENEW)
    clock.shift(AHEAD + timedelta(seconds=1))

    assert tasks.renew_expiring_tokens() == 1

    assert provider.requests_to(RENEW) == 2
    elsewhere.refresh_from_db()
    assert elsewhere.refresh_at == NOON + 2 * AHEAD + timedelta(seconds=1)
    assert ConnectedAccount.objects.filter(pk__in=[each.id for each in others], refresh_failures=0).count() == 3


def test_an_ended_grant_sets_needs_reauth(
    expiring: ConnectedAccount, provider: FakeOAuthPlatform, clock: time_machine.Traveller
) -> None:
    provider.end_refresh()
    provider.expire_access_tokens()
    clock.shift(AHEAD)

    assert tasks.renew_expiring_tokens() == 0
    assert ConnectedAccount.objects.get().status == "needs_reauth"


def test_tokens_that_cannot_be_renewed_are_used_until_they_expire(
    expiring: ConnectedAccount, provider: FakeOAuthPlatform, clock: time_machine.Traveller
) -> None:
    provider.end_refresh()
    clock.shift(AHEAD)
    assert tasks.renew_expiring_tokens() == 0
    account = ConnectedAccount.objects.get()
    assert (account.status, account.refresh_at) == ("active", account.token_expires_at)

    clock.shift(timedelta(minutes=24))
    assert tasks.renew_expiring_tokens() == 0
    assert ConnectedAccount.objects.get().status == "needs_reauth"
    assert provider.requests_to(RENEW) == 2


def test_an_inconclusive_check_of_the_current_token_is_repeated_later(
    expiring: ConnectedAccount, provider: FakeOAuthPlatform, clock: time_machine.Traveller
) -> None:
    provider.end_refresh()
    provider.fail_next(ACCOUNTS)
    clock.shift(AHEAD)

    assert tasks.renew_expiring_tokens() == 0
    account = ConnectedAccount.objects.get()
    assert (account.status, account.refresh_at) == ("active", NOON + AHEAD + timedelta(minutes=1))


def test_secrets_that_no_key_decrypts_delay_no_other_account(
    expiring: ConnectedAccount, provider: FakeOAuthPlatform, clock: time_machine.Traveller, settings: Settings
) -> None:
    keys = settings.ENCRYPTION_KEYS
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    sealed_otherwise = copy_of(expiring, tokens={"access_token": "x"}, refresh_at=NOON)
    settings.ENCRYPTION_KEYS = keys
    clock.shift(AHEAD)

    assert tasks.renew_expiring_tokens() == 1

    [unopened] = ConnectedAccount.objects.filter(pk=sealed_otherwise.id).values("status", "refresh_failures")
    assert unopened == {"status": "active", "refresh_failures": 1}


@pytest.mark.django_db(transaction=True)
def test_two_concurrent_runs_renew_each_account_once(
    expiring: ConnectedAccount, provider: FakeOAuthPlatform, clock: time_machine.Traveller
) -> None:
    clock.shift(AHEAD)

    assert sum(in_threads(2, lambda _: tasks.renew_expiring_tokens())) == 1
    assert provider.requests_to(RENEW) == 1
    assert ConnectedAccount.objects.get().status == "active"


def test_a_run_has_a_limit(expiring: ConnectedAccount, provider: FakeOAuthPlatform, clock: time_machine.Traveller) -> None:
    copy_of(expiring)
    clock.shift(AHEAD)

    assert renew_expiring_tokens(limit=1) == 1
    assert ConnectedAccount.objects.filter(refresh_at__lte=NOON + AHEAD).count() == 1
