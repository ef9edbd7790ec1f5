"""The device flow: a program without a browser shows a code, and a person decides about it elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.conf import settings
from django.test import Client

from agents.models import Agent, DeviceAuthorization
from tests.conftest import ApiClient
from tests.oauth_programs import Program, browser_of, decide
from tests.pages import words
from workspaces.models import User

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
API = settings.BASE_URL
DECIDE = "/oauth/device/decide"


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """The frozen clock, set to noon."""
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture
def started(clock: Any, program: Program) -> dict[str, Any]:
    """The answer to a program that begins the flow for the API."""
    answer = program.begin_device_flow(resource=API, unknown="ignored")
    assert (answer.status_code, answer["cache-control"]) == (200, "no-store")
    return dict(answer.json())


def poll(clock: time_machine.Traveller, program: Program, started: dict[str, Any], seconds: int = 5) -> Any:
    """Wait, ask for the tokens, and return the error or the answer with the tokens."""
    clock.shift(timedelta(seconds=seconds))
    answer = program.poll(started["device_code"])
    return answer.json() if answer.status_code == 200 else answer.json()["error"]


def test_the_program_gets_both_codes(started: dict[str, Any]) -> None:
    assert started["verification_uri"] == f"{API}/oauth/device"
    assert started["verification_uri_complete"] == f"{API}/oauth/device?user_code={started['user_code']}"
    assert (started["expires_in"], started["interval"]) == (900, 5)
    assert len(started["user_code"]) == 9
    assert started["device_code"] not in str(DeviceAuthorization.objects.values().get())


def test_programs_get_english_answers(program: Program) -> None:
    refused = program.send("/oauth/device", {"client_id": "unknown"})
    with_german = program.send("/oauth/device", {"client_id": "unknown"}, **{"Accept-Language": "de"})

    assert with_german.json() == refused.json()
    assert "Content-Language" not in with_german


def test_the_person_enters_the_code_and_the_program_gets_its_tokens(
    clock: time_machine.Traveller, program: Program, started: dict[str, Any], browser: Client
) -> None:
    assert poll(clock, program, started) == "authorization_pending"
    entered = browser.get("/oauth/device", {"user_code": started["user_code"]})
    assert started["user_code"] in entered.content.decode()
    entered_by_hand = started["user_code"].lower().replace("-", " ")
    page = browser.get(DECIDE, {"user_code": entered_by_hand})
    assert "runs on another device" in words(page)

    done = decide(browser, f"{DECIDE}?user_code={started['user_code']}")

    assert "connected now" in words(done)
    issued = poll(clock, program, started)
    assert issued["token_type"] == "Bearer"
    assert ApiClient(issued["access_token"]).get("/capabilities").status_code == 200
    assert program.refresh(issued["refresh_token"]).status_code == 200


def test_a_program_that_asks_too_often_must_slow_down(
    clock: time_machine.Traveller, program: Program, started: dict[str, Any]
) -> None:
    answers = [poll(clock, program, started, seconds) for seconds in (0, 1, 5, 15)]

    assert answers == ["authorization_pending", "slow_down", "slow_down", "authorization_pending"]


def test_a_refused_program_gets_nothing(
    clock: time_machine.Traveller, program: Program, started: dict[str, Any], browser: Client
) -> None:
    done = decide(browser, f"{DECIDE}?user_code={started['user_code']}", "cancel")

    assert "gets no access" in words(done)
    assert poll(clock, program, started) == "access_denied"
    assert not Agent.objects.exists()
    assert browser.get(DECIDE, {"user_code": started["user_code"]}).status_code == 404


def test_codes_expire(
    clock: time_machine.Traveller, program: Program, started: dict[str, Any], owner: User, workspace: object
) -> None:
    assert poll(clock, program, started, 901) == "expired_token"
    assert browser_of(owner).get(DECIDE, {"user_code": started["user_code"]}).status_code == 404


def test_a_device_code_used_twice_ends_everything(
    clock: time_machine.Traveller, program: Program, started: dict[str, Any], browser: Client
) -> None:
    decide(browser, f"{DECIDE}?user_code={started['user_code']}")
    issued = poll(clock, program, started)

    assert poll(clock, program, started) == "invalid_grant"
    assert ApiClient(issued["access_token"]).get("/capabilities").status_code == 401


def test_a_device_code_belongs_to_its_program(clock: time_machine.Traveller, started: dict[str, Any]) -> None:
    other = Program()
    other.register()

    assert poll(clock, other, started) == "invalid_grant"


def test_unknown_programs_and_resources_are_refused(program: Program) -> None:
    assert program.begin_device_flow(resource="https://elsewhere.example").json()["error"] == "invalid_target"
    unknown = program.begin_device_flow(client_id="ocl_unknown")
    assert (unknown.status_code, unknown.json()["error"]) == (401, "invalid_client")


def test_codes_cannot_be_guessed_in_numbers(browser: Client) -> None:
    statuses = [browser.get(DECIDE, {"user_code": "BCDF-GHJK"}).status_code for _ in range(11)]

    assert statuses == [404] * 10 + [429]


def test_an_address_may_begin_20_flows_a_minute(program: Program) -> None:
    statuses = [program.begin_device_flow().status_code for _ in range(21)]

    assert statuses == [200] * 20 + [429]


def test_the_pages_need_a_sign_in_and_the_decision_a_csrf_token(started: dict[str, Any], browser: Client) -> None:
    for path in ("/oauth/device", DECIDE):
        assert Client().get(path)["location"].startswith("/dashboard/sign-in?next=/oauth/device")
    forged = browser.post(f"{DECIDE}?user_code={started['user_code']}", {"decision": "allow"})
    assert forged.status_code == 403
    assert not Agent.objects.exists()
