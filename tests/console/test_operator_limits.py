"""Limits on wrong passwords at the console, and their audit entries and warnings."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from auditlog.models import AuditEntry
from tests.conftest import ApiClient
from tests.console.test_metrics import Scrape
from tests.fakes.openid import FakeOpenIdProvider
from tests.workspaces.browsers import sign_in, use_provider
from workspaces.models import User

PASSWORD = "correct horse battery staple"
HOME, ELSEWHERE = "203.0.113.9", "203.0.113.10"


@pytest.fixture
def operator_user(db: None) -> User:
    return User.objects.create_superuser("operator", PASSWORD)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(timezone.now(), tick=False) as traveller:
        yield traveller


@pytest.fixture
def provider(settings: Any) -> Iterator[FakeOpenIdProvider]:
    with FakeOpenIdProvider() as fake:
        fake.add_person("alice")
        use_provider(settings, fake)
        yield fake


def try_password(password: str, *, name: str = "operator", address: str = HOME) -> Any:
    return Client(REMOTE_ADDR=address).post("/admin/login/?next=/admin/", {"username": name, "password": password})


def attack(times: int, *, clock: time_machine.Traveller, name: str = "operator") -> None:
    """Send wrong passwords, each from another address and a minute after the previous one."""
    for number in range(times):
        assert try_password("wrong", name=name, address=f"198.51.100.{number}").status_code == 200
        clock.shift(timedelta(seconds=60))


def test_five_wrong_passwords_lock_the_name_at_that_address_for_15_minutes(
    operator_user: User, clock: time_machine.Traveller
) -> None:
    attempts = [try_password("wrong").status_code for _ in range(5)]
    locked = try_password(PASSWORD)

    assert attempts == [200] * 4 + [429]
    assert (locked.status_code, locked["Retry-After"]) == (429, "900")
    assert "Wait for 15 minutes" in locked.content.decode()
    assert try_password(PASSWORD, address=ELSEWHERE).status_code == 302
    clock.shift(timedelta(minutes=10))
    assert try_password("wrong")["Retry-After"] == "300"  # which does not prolong it
    clock.shift(timedelta(minutes=5, seconds=1))
    assert try_password(PASSWORD).status_code == 302


def test_twenty_wrong_passwords_lock_the_address_for_all_names(operator_user: User) -> None:
    attempts = [try_password("wrong", name=f"somebody-{number}").status_code for number in range(20)]

    assert attempts == [200] * 20
    assert try_password(PASSWORD).status_code == 429
    assert try_password(PASSWORD, address=ELSEWHERE).status_code == 302


def test_an_attack_from_many_addresses_slows_the_name_down_without_locking_it(
    operator_user: User, clock: time_machine.Traveller
) -> None:
    attack(9, clock=clock)
    clock.shift(timedelta(seconds=-60))
    assert try_password("wrong", address="198.51.100.200").status_code == 200  # the tenth
    assert try_password(PASSWORD)["Retry-After"] == "1"
    waits = []
    for number in range(201, 209):
        refused = try_password(PASSWORD)
        waits.append(int(refused["Retry-After"]))
        clock.shift(timedelta(seconds=waits[-1]))
        assert try_password("wrong", address=f"198.51.100.{number}").status_code == 200

    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]
    assert "Wait for 60 seconds" in refused.content.decode()
    clock.shift(timedelta(seconds=60))
    assert try_password(PASSWORD).status_code == 302


def test_an_address_with_an_earlier_sign_in_is_not_slowed_down(operator_user: User, clock: time_machine.Traveller) -> None:
    assert try_password(PASSWORD).status_code == 302
    clock.shift(timedelta(days=29))
    attack(14, clock=clock)
    clock.shift(timedelta(seconds=-60))

    assert try_password(PASSWORD, address=ELSEWHERE).status_code == 429
    assert try_password(PASSWORD).status_code == 302


def test_unknown_names_have_the_same_limits(operator_user: User, clock: time_machine.Traveller) -> None:
    attack(12, clock=clock, name="nobody")
    clock.shift(timedelta(seconds=-60))

    assert try_password("wrong", name="nobody")["Retry-After"] == "4"
    assert try_password(PASSWORD).status_code == 302


def test_the_addresses_of_one_ipv6_network_are_counted_as_one(operator_user: User) -> None:
    for number in range(5):
        try_password("wrong", address=f"2001:db8:1:2::{number}")

    assert try_password(PASSWORD, address="2001:db8:1:2:ffff::1").status_code == 429
    assert try_password(PASSWORD, address="2001:db8:1:3::1").status_code == 302


def test_behind_a_proxy_only_the_attackers_address_is_locked(operator_user: User) -> None:
    def through_proxy(password: str, address: str) -> int:
        form = {"username": "operator", "password": password}
        browser = Client(REMOTE_ADDR="127.0.0.1", headers={"x-forwarded-for": address})
        return browser.post("/admin/login/?next=/admin/", form).status_code

    for _ in range(5):
        through_proxy("wrong", HOME)

    assert through_proxy(PASSWORD, HOME) == 429
    assert through_proxy(PASSWORD, ELSEWHERE) == 302


def test_a_successful_sign_in_does_not_reset_the_count(operator_user: User, provider: FakeOpenIdProvider) -> None:
    for _ in range(4):
        try_password("wrong")
    assert try_password(PASSWORD).status_code == 302
    sign_in(provider, "alice", Client(REMOTE_ADDR=HOME))

    assert try_password("wrong").status_code == 429


def test_a_locked_address_can_still_sign_in_by_identity_provider(operator_user: User, provider: FakeOpenIdProvider) -> None:
    for _ in range(6):
        try_password("wrong")

    for _ in range(6):
        assert sign_in(provider, "alice", Client(REMOTE_ADDR=HOME)).status_code == 302


def test_only_operators_can_sign_in_by_password(owner: User, operator_user: User) -> None:
    User.objects.filter(pk=owner.pk).update(password=operator_user.password)

    assert try_password(PASSWORD, name=owner.username).status_code == 200
    assert try_password(PASSWORD).status_code == 302


def test_sign_ins_are_audited_without_the_typed_text(operator_user: User, caplog: pytest.LogCaptureFixture) -> None:
    typed = "a password in the field of the name"
    with caplog.at_level(logging.WARNING, logger="config"):
        try_password("a wrong one")
        try_password("a wrong one", name=typed)
        try_password(PASSWORD)

    entries = AuditEntry.objects.filter(operation="operators.sign_in").order_by("pk")
    assert list(entries.values_list("actor_id", "resource_id", "outcome", "code", "metadata", "ip", "workspace_id")) == [
        ("operator", operator_user.pk, "refused", "UNAUTHENTICATED", {"reason": "wrong_password"}, HOME, ""),
        ("operator", "", "refused", "UNAUTHENTICATED", {"reason": "wrong_password"}, HOME, ""),
        (operator_user.pk, operator_user.pk, "succeeded", None, {"by": "password"}, HOME, ""),
    ]
    assert [entry.retention_tier for entry in entries] == ["pro", "pro", "enterprise"]
    logged = [record.getMessage() for record in caplog.records if record.name.startswith("config.console.operators")]
    assert len(logged) == 2
    assert operator_user.pk in logged[0]
    assert "no operator has the name" in logged[1]
    assert typed not in " ".join(logged)


def test_an_attempt_refused_by_a_limit_is_counted_but_not_audited(operator_user: User, operator: ApiClient) -> None:
    before = Scrape(operator)
    for _ in range(8):
        try_password("wrong")
    try_password(PASSWORD, address=ELSEWHERE)
    after = Scrape(operator)

    def counted(outcome: str) -> float:
        name = "sps_operator_sign_ins_total"
        return after.of(name, outcome=outcome) - before.of(name, outcome=outcome)

    assert [counted(each) for each in ("wrong_password", "refused", "signed_in")] == [5, 3, 1]
    assert AuditEntry.objects.filter(operation="operators.sign_in", outcome="refused").count() == 5


def test_the_operator_sees_the_number_of_failed_attempts_since_the_last_sign_in(operator_user: User) -> None:
    try_password(PASSWORD)
    for _ in range(3):
        try_password("wrong", address=ELSEWHERE)
    browser = Client()
    page = browser.post("/admin/login/", {"username": "operator", "password": PASSWORD, "next": "/admin/"}, follow=True)

    assert "since your last sign-in: 3" in page.content.decode()
    again = Client().post("/admin/login/", {"username": "operator", "password": PASSWORD, "next": "/admin/"}, follow=True)
    assert "since your last sign-in" not in again.content.decode()
