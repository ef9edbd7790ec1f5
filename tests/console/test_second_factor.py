"""The second factor of operators: set-up at the first sign-in, check at later ones, and reset by a command."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.test import Client
from django.utils import timezone

from auditlog.models import AuditEntry
from config.console.models import SecondFactor
from config.console.operators.second_factor_removal import UnconfirmedOrFormerSecondFactorsRule
from tests.console.console_rows import SECRET
from tests.console.second_factor import (
    CODE,
    INSIDE,
    LOGIN,
    PASSWORD,
    RECOVERY_CODE,
    SET_UP,
    code_of,
    give_code,
    give_password,
    is_inside,
    set_up,
    shown_key,
)
from tests.fakes.openid import FakeOpenIdProvider
from tests.pages import words
from tests.workspaces.browsers import ALICE, person, sign_in, use_provider
from workspaces.models import User


@pytest.fixture(autouse=True)
def clock(settings: Any) -> Iterator[time_machine.Traveller]:
    settings.OPERATOR_SECOND_FACTOR = True
    with time_machine.travel(timezone.now(), tick=False) as traveller:
        yield traveller


@pytest.fixture
def operator_user(db: None) -> User:
    return User.objects.create_superuser("operator", PASSWORD)


def test_the_first_sign_in_sets_up_the_second_factor(operator_user: User) -> None:
    browser = Client()
    answer = give_password(browser)
    assert (answer.status_code, answer["Location"]) == (302, CODE)
    assert browser.get(CODE)["Location"] == SET_UP
    assert not is_inside(browser)
    key = shown_key(browser)
    assert shown_key(browser) == key  # a reload shows the same one
    page = give_code(browser, code_of(key), SET_UP)

    assert len(set(RECOVERY_CODE.findall(page.content.decode()))) == 10
    assert f'href="{INSIDE}"' in page.content.decode()
    assert is_inside(browser)
    assert browser.get(SET_UP)["Location"] == LOGIN
    operations = list(AuditEntry.objects.order_by("pk").values_list("operation", "actor_id", "outcome"))
    assert operations == [
        ("operators.set_up_second_factor", operator_user.pk, "succeeded"),
        ("operators.sign_in", operator_user.pk, "succeeded"),
    ]


def test_the_qr_code_contains_the_key(operator_user: User) -> None:
    device = SecondFactor.create_or_replace_unconfirmed(operator_user)
    address = urlsplit(device.otpauth_url)

    assert (address.scheme, address.netloc) == ("otpauth", "totp")
    assert "operator%40127.0.0.1" in address.path
    assert parse_qs(address.query)["secret"] == [device.key_in_base32]
    browser = Client()
    give_password(browser)
    assert 'src="data:image/svg+xml' in browser.get(SET_UP).content.decode()


def test_the_password_alone_gives_no_access(operator_user: User) -> None:
    set_up(Client())
    browser = Client()
    answer = give_password(browser)

    assert answer["Location"] == CODE
    assert not is_inside(browser)
    assert browser.get("/dashboard/?all=1").status_code == 302
    assert browser.get(CODE).status_code == 200
    assert browser.get(SET_UP)["Location"] == CODE  # which would be a way round it


def test_a_code_is_accepted_once_and_for_a_short_time(operator_user: User, clock: time_machine.Traveller) -> None:
    key, _ = set_up(Client())
    used = code_of(key)
    clock.shift(timedelta(seconds=30))
    first, second = Client(), Client()
    give_password(first)
    give_password(second)
    assert give_code(first, used).status_code == 200  # the code of the set-up
    clock.shift(timedelta(seconds=2))  # the pause after a wrong one
    code = code_of(key)
    assert give_code(first, code)["Location"] == INSIDE
    assert "wrong or was already used" in words_of(give_code(second, code))
    clock.shift(timedelta(seconds=120))
    assert give_code(second, code).status_code == 200

    assert (is_inside(first), is_inside(second)) == (True, False)


def test_a_recovery_code_is_accepted_once(operator_user: User, clock: time_machine.Traveller) -> None:
    _, codes = set_up(Client())
    first, second = Client(), Client()
    for browser in (first, second):
        give_password(browser)
    answer = give_code(first, codes[3].upper().replace("-", " "))

    assert answer["Location"] == INSIDE
    assert "9 are left" in first.get(INSIDE).content.decode()
    assert give_code(second, codes[3]).status_code == 200
    clock.shift(timedelta(seconds=1))
    assert give_code(second, codes[4])["Location"] == INSIDE


def test_wrong_codes_delay_the_next_attempt_by_a_limited_time(operator_user: User, clock: time_machine.Traveller) -> None:
    key, _ = set_up(Client())
    browser = Client()
    give_password(browser)
    assert give_code(browser, "000000").status_code == 200
    assert "Too many wrong codes" in words_of(give_code(browser, "000001"))
    for _ in range(20):
        give_password(browser)
        clock.shift(timedelta(minutes=9))
        give_code(browser, "000002")
        clock.shift(timedelta(minutes=9))
    clock.shift(timedelta(minutes=8, seconds=5))  # 17 minutes after the last wrong code
    give_password(browser)

    assert give_code(browser, code_of(key))["Location"] == INSIDE
    refused = AuditEntry.objects.filter(operation="operators.sign_in", outcome="refused")
    assert set(refused.values_list("resource_id", "metadata__reason")) == {(operator_user.pk, "wrong_code")}
    assert refused.count() == 21


@pytest.mark.parametrize("code", ["", "12345", "1234567", "abcdef", "٣٣٣٣٣٣", "-12345", "0x1234", "1" * 41])
def test_an_invalid_code_is_refused(operator_user: User, code: str) -> None:
    set_up(Client())
    browser = Client()
    give_password(browser)

    assert give_code(browser, code).status_code == 200
    assert not is_inside(browser)


def test_the_second_step_must_follow_within_ten_minutes(operator_user: User, clock: time_machine.Traveller) -> None:
    key, _ = set_up(Client())
    browser = Client()
    give_password(browser)
    clock.shift(timedelta(minutes=10, seconds=1))

    assert give_code(browser, code_of(key))["Location"] == LOGIN
    assert not is_inside(browser)
    assert Client().get(CODE)["Location"] == LOGIN
    assert Client().post(SET_UP, {"code": "123456"})["Location"] == LOGIN


def test_an_unconfirmed_key_of_an_earlier_sign_in_is_replaced(operator_user: User) -> None:
    """Somebody who knows only the password could see the key before the operator's first sign-in."""
    stranger, browser = Client(), Client()
    give_password(stranger)
    seen = shown_key(stranger)
    key, _ = set_up(browser)

    assert key != seen
    assert give_code(stranger, code_of(seen), SET_UP)["Location"] == CODE
    assert not is_inside(stranger)


def test_secrets_are_encrypted_at_rest(operator_user: User) -> None:
    key, codes = set_up(Client())
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM site_secondfactor")
        row = str(cursor.fetchall())

    for secret in (key.hex(), base64.b32encode(key).decode(), *(code.replace("-", "") for code in codes)):
        assert secret not in row
    assert SECRET not in row


def test_an_operator_who_signs_in_at_the_provider_needs_no_second_factor(db: None, settings: Any) -> None:
    settings.OIDC_STAFF_CLAIM = "groups=operators"
    with FakeOpenIdProvider() as provider:
        provider.add_person("alice", **ALICE, groups=["operators"])
        use_provider(settings, provider)
        browser = sign_in(provider, "alice").client

        assert is_inside(browser)
        entry = AuditEntry.objects.get(operation="operators.sign_in")
        assert (entry.actor_id, entry.via, entry.metadata, entry.retention_tier) == (
            person(provider, "alice").pk,
            "operator",
            {"by": "provider"},
            "enterprise",
        )


def test_a_session_from_before_the_second_factor_was_required_is_refused(operator_user: User, settings: Any) -> None:
    settings.OPERATOR_SECOND_FACTOR = False
    browser = Client()
    assert give_password(browser)["Location"] == INSIDE
    assert is_inside(browser)
    settings.OPERATOR_SECOND_FACTOR = True

    assert browser.get(INSIDE)["Location"].startswith(LOGIN)
    assert browser.get("/admin/password_change/")["Location"].startswith(LOGIN)


def test_the_command_removes_the_second_factor_and_ends_the_sessions(operator_user: User) -> None:
    browser = Client()
    before, _ = set_up(browser)
    output = StringIO()
    call_command("reset_second_factor", "operator", stdout=output)

    assert "was removed" in output.getvalue()
    assert not is_inside(browser)
    entry = AuditEntry.objects.latest("pk")
    assert (entry.operation, entry.resource_id, entry.actor_id) == (
        "operators.reset_second_factor",
        operator_user.pk,
        "system",
    )
    again = Client()
    assert set_up(again)[0] != before
    assert is_inside(again)


@pytest.mark.parametrize("name", ["nobody", "person"])
def test_the_command_refuses_a_name_that_is_not_an_operators(operator_user: User, name: str) -> None:
    User.objects.create_user("person")

    with pytest.raises(CommandError, match="There is no operator"):
        call_command("reset_second_factor", name)


def test_unused_second_factors_are_deleted(operator_user: User, clock: time_machine.Traveller) -> None:
    rule, former = UnconfirmedOrFormerSecondFactorsRule(), User.objects.create_superuser("former", PASSWORD)
    for user in (operator_user, former):
        SecondFactor.create_or_replace_unconfirmed(user).mark_confirmed_and_issue_codes()
    SecondFactor.create_or_replace_unconfirmed(User.objects.create_superuser("third", PASSWORD))
    User.objects.filter(pk=former.pk).update(is_staff=False)
    assert (rule.count(), rule.purge(10)) == (1, 1)
    clock.shift(timedelta(days=1, seconds=1))

    assert (rule.count(), rule.purge(10)) == (1, 1)
    assert [device.user_id for device in SecondFactor.objects.all()] == [operator_user.pk]


def test_signing_out_of_the_console_is_recorded(operator_user: User) -> None:
    browser = Client()
    set_up(browser)
    browser.post("/admin/logout/")

    assert not is_inside(browser)
    entry = AuditEntry.objects.latest("pk")
    assert (entry.operation, entry.actor_id, entry.via) == ("operators.sign_out", operator_user.pk, "operator")


def test_the_code_of_another_operator_is_refused(operator_user: User, clock: time_machine.Traveller) -> None:
    User.objects.create_superuser("another", PASSWORD)
    key, codes = set_up(Client())
    browser = Client()
    browser.post(LOGIN, {"username": "another", "password": PASSWORD})
    shown_key(browser)

    assert give_code(browser, code_of(key), SET_UP).status_code == 200
    clock.shift(timedelta(seconds=time.time() % 1 + 3))
    assert give_code(browser, codes[0], SET_UP).status_code == 200
    assert not is_inside(browser)


def words_of(page: Any) -> str:
    return words(page) if b"<main" in page.content else page.content.decode()
