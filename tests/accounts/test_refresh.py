"""Renewing tokens: one worker at a time, and never over what a person did meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from accounts import services
from accounts.models import ConnectedAccount
from accounts.platforms.errors import AccountDisconnected, Transient
from accounts.platforms.types import Grant
from tests.at_once import at_once
from tests.conftest import ApiClient
from tests.fakes.bluesky import FakeBluesky

REFRESH_SESSION = "com.atproto.server.refreshSession"


def refresh(account: ConnectedAccount, stale: Grant) -> Grant | str:
    """What one worker gets: the working grant, or the name of the error."""
    try:
        return services.refresh_grant(account_id=account.id, stale=stale)
    except (Transient, AccountDisconnected) as error:
        return type(error).__name__


@pytest.mark.django_db(transaction=True)
def test_ten_who_find_the_tokens_stale_at_once_make_one_refresh(connected: ConnectedAccount, pds: FakeBluesky) -> None:
    stale = connected.grant()

    outcomes = at_once(10, lambda _: refresh(connected, stale))

    renewed = ConnectedAccount.objects.get().grant()
    assert pds.requests_to(REFRESH_SESSION) == 1
    assert renewed in outcomes
    assert renewed.tokens["refresh"] != stale.tokens["refresh"]
    assert all(outcome == renewed for outcome in outcomes if isinstance(outcome, Grant))


@pytest.mark.django_db(transaction=True)
def test_while_one_refreshes_the_others_are_told_to_come_again(connected: ConnectedAccount, pds: FakeBluesky) -> None:
    stale, before = connected.grant(), len(pds.requests)
    release = pds.hold_next(REFRESH_SESSION)

    def meanwhile(n: int) -> Any:
        if n == 0:
            return refresh(connected, stale)
        pds.wait_for(before + 1)
        try:
            with pytest.raises(Transient) as caught:
                services.refresh_grant(account_id=connected.id, stale=stale)
            return caught.value.retry_after
        finally:
            release.set()

    renewed, wait = at_once(2, meanwhile)

    assert (isinstance(renewed, Grant), wait) == (True, 2.0)
    assert pds.requests_to(REFRESH_SESSION) == 1


def test_tokens_that_another_has_renewed_are_taken_without_a_call(
    connected: ConnectedAccount, pds: FakeBluesky
) -> None:
    stale = connected.grant()
    renewed = services.refresh_grant(account_id=connected.id, stale=stale)

    assert services.refresh_grant(account_id=connected.id, stale=stale) == renewed
    assert pds.requests_to(REFRESH_SESSION) == 1


def test_the_lease_of_a_worker_that_died_runs_out(connected: ConnectedAccount, pds: FakeBluesky) -> None:
    stale = connected.grant()
    ConnectedAccount.objects.update(refresh_lease_until=timezone.now() + timedelta(seconds=60))
    assert refresh(connected, stale) == "BeingRenewed"
    assert pds.requests_to(REFRESH_SESSION) == 0

    with time_machine.travel(timezone.now() + timedelta(seconds=61)):
        assert isinstance(refresh(connected, stale), Grant)
    assert ConnectedAccount.objects.get().refresh_lease_until is None


def test_a_refresh_that_failed_can_be_tried_again_at_once(connected: ConnectedAccount, pds: FakeBluesky) -> None:
    stale = connected.grant()
    pds.fail_next(REFRESH_SESSION)

    assert refresh(connected, stale) == "Transient"
    assert ConnectedAccount.objects.get().status == "active"
    assert isinstance(refresh(connected, stale), Grant)


def test_a_refusal_marks_the_account_and_the_platform_is_not_asked_again(
    connected: ConnectedAccount, pds: FakeBluesky
) -> None:
    stale = connected.grant()
    pds.take_down(connected.external_id)

    assert refresh(connected, stale) == "AccountDisconnected"
    requests = len(pds.requests)
    assert refresh(connected, stale) == "AccountDisconnected"

    account = ConnectedAccount.objects.get()
    assert (account.status, account.refresh_lease_until) == ("needs_reauth", None)
    assert len(pds.requests) == requests


@pytest.mark.django_db(transaction=True)
def test_tokens_of_a_reconnection_meanwhile_are_kept(
    api: ApiClient, connect: Callable[..., Any], connected: ConnectedAccount, pds: FakeBluesky
) -> None:
    stale, before = connected.grant(), len(pds.requests)
    release = pds.hold_next(REFRESH_SESSION)

    def meanwhile(n: int) -> Any:
        if n == 0:
            return refresh(connected, stale)
        pds.wait_for(before + 1)
        try:
            connect(api)
            return ConnectedAccount.objects.get().grant()
        finally:
            release.set()

    refreshed, reconnected = at_once(2, meanwhile)

    assert isinstance(refreshed, Grant)
    assert ConnectedAccount.objects.get().grant() == reconnected != refreshed


def test_a_refusal_of_old_tokens_does_not_mark_a_reconnected_account(
    api: ApiClient, connect: Callable[..., Any], connected: ConnectedAccount
) -> None:
    stale = connected.grant()
    connect(api)

    services.mark_needs_reauth(account_id=connected.id, stale=stale)

    assert ConnectedAccount.objects.get().status == "active"
