"""The sessions page: list and end one's own sessions."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.sessions.models import Session
from django.test import Client

from auditlog.models import AuditEntry
from tests.conftest import ApiClient
from tests.fakes.openid import FakeOpenIdProvider
from tests.pages import words
from tests.workspaces.browsers import new_browser, send_form, sign_in, signed_in
from workspaces.dashboard.sessions import describe_user_agent
from workspaces.models import User, UserSession

PAGE, OTHERS = "/dashboard/sessions", "/dashboard/sessions/end-others"
NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
FIREFOX = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0"
PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148 Safari/604.1"


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


def browser_of(provider: FakeOpenIdProvider, subject: str, agent: str = FIREFOX, address: str = "192.0.2.1") -> Client:
    """Return a signed-in browser that has opened a page."""
    browser = Client(enforce_csrf_checks=True, REMOTE_ADDR=address, headers={"user-agent": agent})
    sign_in(provider, subject, browser)
    assert signed_in(browser)
    return browser


def row_of(browser: Client) -> UserSession:
    return UserSession.objects.get(session_id=browser.session.session_key)


def end_session(browser: Client, row: UserSession) -> Any:
    return send_form(browser, PAGE, f"{PAGE}/{row.pk}/end")


def test_the_page_shows_browser_address_and_times_of_each_session(
    provider: FakeOpenIdProvider, clock: time_machine.Traveller
) -> None:
    browser_of(provider, "alice", PHONE, "192.0.2.7")
    clock.shift(timedelta(hours=1))
    here = browser_of(provider, "alice")
    browser_of(provider, "bob", address="192.0.2.99")
    clock.shift(timedelta(minutes=5))
    text = words(here.get(PAGE))

    assert "This one Firefox on Windows at 192.0.2.1 signed in 10 Mar, 13:00 · last used 10 Mar, 13:05" in text
    assert "Safari on iPhone at 192.0.2.7 signed in 10 Mar, 12:00 · last used 10 Mar, 12:00" in text
    assert text.index("Firefox") < text.index("iPhone")
    assert "192.0.2.99" not in text


def test_ending_one_session_leaves_the_others(provider: FakeOpenIdProvider) -> None:
    here, there, third = (browser_of(provider, "alice") for _ in range(3))
    answer = end_session(here, row_of(there))

    assert answer["Location"] == PAGE
    assert [signed_in(browser) for browser in (here, there, third)] == [True, False, True]
    assert AuditEntry.objects.filter(operation="users.end_session").count() == 1


def test_ending_the_current_session_signs_out(provider: FakeOpenIdProvider) -> None:
    here, there = browser_of(provider, "alice"), browser_of(provider, "alice")
    answer = end_session(here, row_of(here))

    assert answer.status_code == 302
    assert [signed_in(browser) for browser in (here, there)] == [False, True]


def test_ending_other_sessions_keeps_the_current_one(provider: FakeOpenIdProvider) -> None:
    here, there, bob = (browser_of(provider, subject) for subject in ("alice", "alice", "bob"))
    unseen = sign_in(provider, "alice").client  # no page was opened, so it has no row
    before = here.session.session_key
    answer = send_form(here, PAGE, OTHERS)

    assert answer["Location"] == PAGE
    assert [signed_in(browser) for browser in (here, there, unseen, bob)] == [True, False, False, True]
    assert here.session.session_key != before
    assert words(here.get(PAGE)).count("Sign out") == 1
    assert AuditEntry.objects.filter(operation="users.end_other_sessions").count() == 1


def test_a_user_cannot_end_another_users_session(provider: FakeOpenIdProvider) -> None:
    alice, bob = browser_of(provider, "alice"), browser_of(provider, "bob")
    answer = end_session(bob, row_of(alice))

    assert answer.status_code == 404
    assert signed_in(alice)
    assert not AuditEntry.objects.filter(operation="users.end_session").exists()


def test_the_page_and_its_forms_need_a_sign_in_and_a_token(provider: FakeOpenIdProvider) -> None:
    alice = browser_of(provider, "alice")
    address = f"{PAGE}/{row_of(alice).pk}/end"

    assert new_browser().get(PAGE)["Location"].startswith("/dashboard/sign-in")
    assert (alice.get(address).status_code, alice.get(OTHERS).status_code) == (405, 405)
    assert (alice.post(address).status_code, alice.post(OTHERS).status_code) == (403, 403)
    assert signed_in(alice)


def test_sessions_that_have_ended_are_not_shown(provider: FakeOpenIdProvider, clock: time_machine.Traveller) -> None:
    for _ in range(2):
        browser_of(provider, "alice")
    user = User.objects.get()
    User.objects.update(session_epoch=user.session_epoch + 1)
    clock.shift(timedelta(hours=1))
    here = browser_of(provider, "alice")
    assert words(here.get(PAGE)).count("last used") == 1

    send_form(here, PAGE, "/dashboard/sign-out")
    assert not Session.objects.filter(user_session__user=user).exists()
    assert not UserSession.objects.exists()


def test_last_use_is_saved_at_most_once_a_minute(provider: FakeOpenIdProvider, clock: time_machine.Traveller) -> None:
    here = browser_of(provider, "alice")
    clock.shift(timedelta(seconds=59))
    here.get(PAGE)
    assert row_of(here).last_used_at == NOON
    clock.shift(timedelta(seconds=1))
    here.get(PAGE, REMOTE_ADDR="192.0.2.2")

    assert (row_of(here).last_used_at, row_of(here).ip) == (NOON + timedelta(minutes=1), "192.0.2.2")


def test_deleting_a_user_ends_their_sessions(provider: FakeOpenIdProvider) -> None:
    browser_of(provider, "alice")
    user = User.objects.get()
    assert ApiClient(provider.access_token("alice")).delete(f"/users/{user.id}").status_code == 200

    assert not UserSession.objects.exists()
    assert not Session.objects.exists()


@pytest.mark.parametrize(
    ("agent", "text"),
    [
        (FIREFOX, "Firefox on Windows"),
        (PHONE, "Safari on iPhone"),
        ("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0", "Edge on Linux"),
        ("Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36", "Chrome on Android"),
        ("curl/8.9", "Unknown browser"),
        ("", "Unknown browser"),
        ("<script>alert(1)</script>", "Unknown browser"),
    ],
)
def test_user_agents_are_described_in_words(agent: str, text: str) -> None:
    assert describe_user_agent(agent) == text
