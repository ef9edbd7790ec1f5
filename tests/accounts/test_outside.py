"""Requests that call platforms get a share of the web threads, and one time limit for all calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from accounts.models import ConnectedAccount, ConnectionAttempt
from tests.accounts.browser import Browser, text_of
from tests.accounts.conftest import APP_PASSWORD, HANDLE
from tests.accounts.oauth_calls import begin, complete, granted
from tests.config.outbound_servers import Server, hangs
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.fakes.bluesky import FakeBluesky
from tests.fakes.oauth_platform import FakeOAuthPlatform
from tests.in_threads import in_threads
from tests.occupied_threads import occupy_all_outbound_threads
from tests.pages import Pages, words
from tests.until import wait_until
from workspaces.models import User, Workspace

Connect = Callable[..., Any]
SENTENCE = "Too many requests are waiting for other servers."
CREATE_SESSION = "com.atproto.server.createSession"


def assert_refused(answer: Any) -> None:
    assert_envelope(answer, 429, "RATE_LIMITED")
    assert answer["Retry-After"] == "5"


def test_connecting_with_credentials_can_be_repeated_when_threads_are_free(
    api: ApiClient, connect: Connect, pds: FakeBluesky
) -> None:
    with occupy_all_outbound_threads():
        assert connect(api, dry_run=True).status_code == 200
        assert_refused(connect(api, idempotency_key="one"))
    assert (pds.requests, ConnectedAccount.objects.count()) == ((), 0)
    assert connect(api, idempotency_key="one").status_code == 200


def test_checking_an_account_can_be_repeated_when_threads_are_free(
    api: ApiClient, connected: ConnectedAccount, pds: FakeBluesky
) -> None:
    asked = len(pds.requests)
    with occupy_all_outbound_threads():
        assert_refused(api.get(f"/accounts/{connected.id}/status"))
    assert len(pds.requests) == asked
    assert api.get(f"/accounts/{connected.id}/status").status_code == 200


def test_an_account_keeps_its_secrets_until_it_can_be_revoked(
    api: ApiClient, connected: ConnectedAccount, pds: FakeBluesky
) -> None:
    with occupy_all_outbound_threads():
        assert_refused(api.delete(f"/accounts/{connected.id}"))
    assert ConnectedAccount.objects.get().decrypted_grant() == connected.decrypted_grant()
    assert api.delete(f"/accounts/{connected.id}").status_code == 200
    assert api.delete(f"/accounts/{connected.id}").status_code == 200  # which asks nobody
    assert pds.requests_to("com.atproto.server.deleteSession") == 1


def test_a_code_is_not_used_up_while_no_thread_is_free(
    api: ApiClient, workspace: Workspace, provider: FakeOAuthPlatform
) -> None:
    with occupy_all_outbound_threads():
        assert_refused(begin(api, workspace))
        assert not ConnectionAttempt.objects.exists()
    brought = granted(api, workspace, provider)
    with occupy_all_outbound_threads():
        assert_refused(complete(api, brought))
    assert complete(api, brought).status_code == 200


def test_pages_show_that_no_thread_is_free(
    owner: User, workspace: Workspace, connected: ConnectedAccount, pds: FakeBluesky
) -> None:
    pages = Pages(workspace, owner)
    form = {"identifier": HANDLE, "app_password": APP_PASSWORD, "service": pds.url}

    with occupy_all_outbound_threads():
        connecting = pages.post("account-connect", form, platform_name="bluesky")
        checking = pages.post("account-check", follow=True, account_id=connected.id)
        disconnecting = pages.post("account-disconnect", follow=True, account_id=connected.id)

    assert connecting.status_code == 429
    for page in (connecting, checking, disconnecting):
        assert SENTENCE in words(page)


def test_oauth_pages_show_that_no_thread_is_free(owner: User, workspace: Workspace, provider: FakeOAuthPlatform) -> None:
    browser = Browser(owner)
    brought = browser.begin_and_grant(workspace, provider)
    with occupy_all_outbound_threads():
        pages = [browser.begin(workspace), browser.land(brought)]

    assert [page.status_code for page in pages] == [429, 429]
    assert all(SENTENCE in text_of(page) for page in pages)
    assert browser.land(brought).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_a_workspace_whose_platform_hangs_uses_two_threads(api: ApiClient, connect: Connect, pds: FakeBluesky) -> None:
    releases = [pds.hold_next(CREATE_SESSION) for _ in range(2)]

    def ask(number: int) -> Any:
        if number < 2:
            return connect(api)
        wait_until(lambda: pds.requests_to(CREATE_SESSION) == 2)
        try:
            return connect(api)
        finally:
            for release in releases:
                release.set()

    first, second, third = in_threads(3, ask)

    assert_refused(third)
    assert (first.status_code, second.status_code) == (200, 200)


def test_a_hanging_platform_is_given_up_in_time(api: ApiClient, connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("config.api.request_limits.OUTBOUND_SECONDS", 0.3)
    with Server(hangs) as server:
        credentials = {"identifier": HANDLE, "app_password": APP_PASSWORD, "service": f"http://127.0.0.1:{server.port}"}
        assert_envelope(connect(api, credentials=credentials), 502, "PLATFORM_ERROR")
