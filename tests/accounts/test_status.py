"""GET /accounts/{id}/status."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from cryptography.fernet import Fernet
from pytest_django import Settings

from accounts.models import ConnectedAccount
from config.db.ids import new_id
from tests import factories
from tests.accounts.conftest import HANDLE
from tests.accounts.test_list import FIELDS
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.fakes.bluesky import FakeBluesky
from tests.in_threads import in_threads
from tests.people import as_user
from workspaces.models import User, Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
GET_SESSION = "com.atproto.server.getSession"
REFRESH_SESSION = "com.atproto.server.refreshSession"
CREATE_SESSION = "com.atproto.server.createSession"


def status_of(client: ApiClient, account: ConnectedAccount) -> Any:
    return client.get(f"/accounts/{account.id}/status")


def test_a_check_calls_the_platform_and_updates_the_account(
    api: ApiClient, connected: ConnectedAccount, pds: FakeBluesky
) -> None:
    ConnectedAccount.objects.update(handle="former-name.test")
    with time_machine.travel(NOON, tick=False):
        answer = status_of(api, connected)

    shown = answer.json()["account"]
    assert (answer.status_code, set(answer.json()), set(shown)) == (200, {"account"}, FIELDS)
    assert (shown["id"], shown["handle"], shown["status"]) == (connected.id, HANDLE, "active")
    assert shown["last_checked_at"] == "2027-03-10T12:00:00Z"
    assert pds.requests_to(GET_SESSION) == 1
    assert pds.requests_to(REFRESH_SESSION) == 0


def test_an_expired_session_is_refreshed_and_stored(api: ApiClient, connected: ConnectedAccount, pds: FakeBluesky) -> None:
    pds.expire_access_tokens()

    shown = [status_of(api, connected).json()["account"]["status"] for _ in range(2)]

    assert shown == ["active", "active"]
    assert (pds.refreshes, pds.requests_to(REFRESH_SESSION), pds.sessions_created) == (1, 1, 1)
    renewed = ConnectedAccount.objects.get()
    assert renewed.decrypted_grant().tokens["refresh"] != connected.decrypted_grant().tokens["refresh"]
    assert renewed.credentials == connected.credentials


def test_an_expired_refresh_token_is_replaced_by_a_new_sign_in(
    api: ApiClient, connected: ConnectedAccount, pds: FakeBluesky
) -> None:
    pds.expire_access_tokens()
    pds.expire_refresh_tokens()

    assert status_of(api, connected).json()["account"]["status"] == "active"
    assert pds.sessions_created == 2


@pytest.mark.usefixtures("wide_outside_share")
@pytest.mark.django_db(transaction=True)
def test_of_several_concurrent_checks_one_refreshes_and_all_succeed(
    api: ApiClient, connected: ConnectedAccount, pds: FakeBluesky
) -> None:
    pds.expire_access_tokens()

    answers = in_threads(6, lambda _: status_of(api, connected))

    assert [(answer.status_code, answer.json()["account"]["status"]) for answer in answers] == [(200, "active")] * 6
    assert pds.requests_to(REFRESH_SESSION) == 1


def test_secrets_that_no_key_decrypts_need_a_reconnection_until_the_key_is_back(
    api: ApiClient, connected: ConnectedAccount, pds: FakeBluesky, settings: Settings
) -> None:
    keys, asked = settings.ENCRYPTION_KEYS, len(pds.requests)
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    with time_machine.travel(NOON, tick=False):
        answer = status_of(api, connected)

    shown = answer.json()["account"]
    assert (answer.status_code, shown["status"]) == (200, "needs_reauth")
    assert shown["last_checked_at"] == "2027-03-10T12:00:00Z"
    assert (ConnectedAccount.objects.get().status, len(pds.requests)) == ("needs_reauth", asked)

    settings.ENCRYPTION_KEYS = keys
    assert status_of(api, connected).json()["account"]["status"] == "active"


@pytest.mark.parametrize("session", ["fresh", "expired"])
def test_a_taken_down_account_becomes_needs_reauth(
    api: ApiClient, connected: ConnectedAccount, pds: FakeBluesky, session: str
) -> None:
    pds.take_down(connected.external_id)
    if session == "expired":
        pds.expire_access_tokens()

    answer = status_of(api, connected)

    assert (answer.status_code, answer.json()["account"]["status"]) == (200, "needs_reauth")
    assert ConnectedAccount.objects.get().status == "needs_reauth"


@pytest.mark.django_db(transaction=True)
def test_an_account_deleted_during_the_refresh_becomes_needs_reauth(
    api: ApiClient, connected: ConnectedAccount, pds: FakeBluesky
) -> None:
    pds.expire_access_tokens()
    before, release = len(pds.requests), pds.hold_next(REFRESH_SESSION)

    def meanwhile(n: int) -> Any:
        if n == 0:
            return status_of(api, connected)
        pds.wait_for(before + 2)
        pds.take_down(connected.external_id)
        return release.set()

    answer, _ = in_threads(2, meanwhile)

    assert (answer.status_code, answer.json()["account"]["status"]) == (200, "needs_reauth")


def test_a_revoked_app_password_sets_needs_reauth(api: ApiClient, connected: ConnectedAccount, pds: FakeBluesky) -> None:
    pds.expire_access_tokens()
    pds.expire_refresh_tokens()
    connected.credentials = {**connected.decrypted_grant().credentials, "app_password": "revoked"}
    connected.save()

    assert status_of(api, connected).json()["account"]["status"] == "needs_reauth"


def test_an_account_that_works_again_is_active_again(api: ApiClient, connected: ConnectedAccount) -> None:
    ConnectedAccount.objects.update(status="needs_reauth")

    assert status_of(api, connected).json()["account"]["status"] == "active"


@pytest.mark.parametrize("fault", ["503", "dropped", "limited", "refresh", "sign in"])
def test_a_platform_error_changes_nothing(api: ApiClient, connected: ConnectedAccount, pds: FakeBluesky, fault: str) -> None:
    if fault == "503":
        pds.fail_next(GET_SESSION)
    elif fault == "dropped":
        pds.drop_next(GET_SESSION)
    elif fault == "limited":
        pds.rate_limit_next(1)
    else:
        pds.expire_access_tokens()
        pds.fail_next(REFRESH_SESSION)
    if fault == "sign in":
        pds.expire_refresh_tokens()
        pds.fail_next(CREATE_SESSION)

    assert_envelope(status_of(api, connected), 502, "PLATFORM_ERROR")
    account = ConnectedAccount.objects.get()
    assert (account.status, account.last_checked_at) == ("active", connected.last_checked_at)
    assert (account.tokens, account.refresh_lease_until) == (connected.tokens, None)


def test_a_disconnected_account_is_returned_without_calling_the_platform(
    api: ApiClient, connected: ConnectedAccount, pds: FakeBluesky
) -> None:
    api.delete(f"/accounts/{connected.id}")
    before = len(pds.requests)

    assert status_of(api, connected).json()["account"]["status"] == "disconnected"
    assert len(pds.requests) == before


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("held", [GET_SESSION, REFRESH_SESSION])
def test_an_account_disconnected_during_the_check_stays_disconnected(
    api: ApiClient, connected: ConnectedAccount, pds: FakeBluesky, held: str
) -> None:
    before = len(pds.requests)
    if held == REFRESH_SESSION:
        pds.expire_access_tokens()
        before += 1
    release = pds.hold_next(held)

    def meanwhile(n: int) -> Any:
        if n == 0:
            return status_of(api, connected)
        pds.wait_for(before + 1)
        try:
            return api.delete(f"/accounts/{connected.id}")
        finally:
            release.set()

    asked, disconnected = in_threads(2, meanwhile)

    assert (asked.status_code, disconnected.status_code) == (200, 200)
    assert asked.json()["account"]["status"] == "disconnected"
    account = ConnectedAccount.objects.get()
    assert (account.status, account.tokens, account.credentials) == ("disconnected", None, None)


def test_a_sandbox_account_always_works(api: ApiClient, account: ConnectedAccount) -> None:
    shown = status_of(api, account).json()["account"]

    assert (shown["status"], shown["sandbox"], shown["external_id"]) == ("active", True, account.external_id)


def test_every_member_may_check_even_in_a_paused_workspace(
    owner: User, teammate: User, account: ConnectedAccount, key_with: Callable[..., ApiClient]
) -> None:
    clients = [as_user(owner), as_user(teammate), key_with("accounts.read")]
    Workspace.objects.update(status="paused")

    for client in clients:
        assert status_of(client, account).json()["account"]["id"] == account.id


def test_a_check_needs_the_scope(connected: ConnectedAccount, pds: FakeBluesky, key_with: Callable[..., ApiClient]) -> None:
    before = len(pds.requests)

    assert_envelope(status_of(key_with("accounts.write"), connected), 403, "SCOPE_MISSING")
    assert_envelope(status_of(ApiClient(), connected), 401, "UNAUTHENTICATED")
    assert len(pds.requests) == before


def test_foreign_missing_and_malformed_ids_get_the_same_answer(
    connected: ConnectedAccount, pds: FakeBluesky, stranger: User
) -> None:
    before = len(pds.requests)
    foreign_key = ApiClient(factories.workspace_key(stranger.owned_workspaces.get()))
    asked = [connected, *(ConnectedAccount(id=one) for one in (new_id("acc"), "acc_1", "%F0%9F%90%A6"))]

    for client in (as_user(stranger), foreign_key):
        bodies = [assert_envelope(status_of(client, one), 404, "NOT_FOUND") | {"trace_id": ""} for one in asked]
        assert all(body == bodies[0] for body in bodies)
    assert len(pds.requests) == before
