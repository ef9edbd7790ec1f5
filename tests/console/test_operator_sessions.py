"""Session lifetimes of operators, and the rules for their passwords."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
import time_machine
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.utils import timezone

from tests.fakes.openid import FakeOpenIdProvider
from tests.workspaces.browsers import ALICE, sign_in, use_provider
from workspaces.models import User, UserSession

PASSWORD = "correct horse battery staple"
WEAK = ["password1234", "496031275480", "tooshort", "operator-oper"]


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(timezone.now(), tick=False) as traveller:
        yield traveller


@pytest.fixture(params=["password", "provider"])
def browser(request: pytest.FixtureRequest, db: None, settings: Any, clock: Any) -> Iterator[Client]:
    """Return the browser of an operator, signed in by password or identity provider."""
    if request.param == "password":
        User.objects.create_superuser("operator", PASSWORD)
        browser = Client()
        browser.post("/admin/login/", {"username": "operator", "password": PASSWORD})
        yield browser
        return
    settings.OIDC_STAFF_CLAIM = "groups=operators"
    with FakeOpenIdProvider() as provider:
        provider.add_person("alice", **ALICE, groups=["operators"])
        use_provider(settings, provider)
        yield sign_in(provider, "alice").client


def is_inside(browser: Client) -> bool:
    return browser.get("/admin/").status_code == 200


def test_a_session_ends_after_half_an_hour_without_use(browser: Client, clock: time_machine.Traveller) -> None:
    for _ in range(3):
        assert is_inside(browser)
        clock.shift(timedelta(minutes=28))
    assert is_inside(browser)
    clock.shift(timedelta(minutes=30))
    page = browser.get("/admin/", follow=True)

    assert page.redirect_chain[0][0].startswith("/admin/login/")
    assert "You were signed out" in page.content.decode()
    assert not UserSession.objects.exists()


def test_a_session_ends_after_twelve_hours_of_use(browser: Client, clock: time_machine.Traveller) -> None:
    for _ in range(12 * 4):
        assert is_inside(browser)
        clock.shift(timedelta(minutes=15))

    assert not is_inside(browser)


def test_the_limits_are_settings(browser: Client, clock: time_machine.Traveller, settings: Any) -> None:
    settings.OPERATOR_SESSION_HOURS, settings.OPERATOR_IDLE_MINUTES = 1, 5
    assert is_inside(browser)
    clock.shift(timedelta(minutes=5))
    assert not is_inside(browser)


def test_the_limits_apply_to_earlier_sessions_of_a_new_operator(db: None, clock: time_machine.Traveller) -> None:
    user = User.objects.create_user("later", display_name="Later")
    browser = Client()
    browser.force_login(user)
    assert browser.get("/dashboard/?all=1").status_code == 200
    clock.shift(timedelta(hours=13))
    assert browser.get("/dashboard/?all=1").status_code == 200
    User.objects.update(is_staff=True, is_superuser=True)

    assert browser.get("/admin/").status_code == 302


def test_the_limits_do_not_apply_to_other_people(owner: User, clock: time_machine.Traveller) -> None:
    browser = Client()
    browser.force_login(owner)
    assert browser.get("/dashboard/?all=1").status_code == 200
    clock.shift(timedelta(days=2))

    assert browser.get("/dashboard/?all=1").status_code == 200


@pytest.mark.parametrize("weak", WEAK)
def test_createsuperuser_refuses_a_weak_password(db: None, weak: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", weak)
    with pytest.raises(CommandError):
        call_command("createsuperuser", interactive=False, username="operator", email="o@example.com")

    assert not User.objects.exists()


def test_createsuperuser_accepts_a_strong_password(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", PASSWORD)
    call_command("createsuperuser", interactive=False, username="operator", email="o@example.com", stdout=StringIO())

    assert User.objects.get().check_password(PASSWORD)


@pytest.mark.parametrize("weak", WEAK)
def test_changepassword_refuses_a_weak_password(db: None, weak: str, monkeypatch: pytest.MonkeyPatch) -> None:
    User.objects.create_superuser("operator", PASSWORD)
    monkeypatch.setattr("getpass.getpass", lambda prompt: weak)
    with pytest.raises(CommandError):
        call_command("changepassword", "operator", stdout=StringIO(), stderr=StringIO())

    assert User.objects.get().check_password(PASSWORD)


@pytest.mark.parametrize("weak", WEAK)
def test_the_console_refuses_a_weak_password(db: None, weak: str) -> None:
    User.objects.create_superuser("operator", PASSWORD)
    browser = Client()
    browser.post("/admin/login/", {"username": "operator", "password": PASSWORD})
    form = {"old_password": PASSWORD, "new_password1": weak, "new_password2": weak}
    page = browser.post("/admin/password_change/", form)

    assert page.status_code == 200
    assert User.objects.get().check_password(PASSWORD)
