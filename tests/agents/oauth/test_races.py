"""Codes and refresh tokens that are sent several times at the same moment."""

from __future__ import annotations

import pytest
from django.test import Client

from agents.models import OAuthGrant, OAuthToken
from tests.in_threads import in_threads
from tests.oauth_programs import Program, allow, decide

pytestmark = pytest.mark.django_db(transaction=True)


def test_of_several_exchanges_of_one_code_only_one_succeeds(browser: Client, program: Program) -> None:
    code = allow(browser, program.authorize_path())["code"]
    answers = in_threads(6, lambda _: program.exchange(code))

    assert sorted(answer.status_code for answer in answers) == [200] + [400] * 5
    assert OAuthToken.objects.count() == 1
    assert OAuthGrant.objects.get().ended_at


def test_simultaneous_identical_refreshes_get_the_same_tokens(browser: Client, program: Program) -> None:
    issued = program.connect(browser)
    answers = in_threads(6, lambda _: program.refresh(issued["refresh_token"]))

    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.json()["refresh_token"] for answer in answers}) == 1
    assert len({answer.json()["access_token"] for answer in answers}) == 1
    assert OAuthToken.objects.count() == 2
    assert OAuthGrant.objects.get().ended_at is None


def test_a_device_code_is_exchanged_once(browser: Client, program: Program) -> None:
    started = program.begin_device_flow().json()
    path = f"/oauth/device/decide?user_code={started['user_code']}"
    assert decide(browser, path).status_code == 200
    answers = in_threads(6, lambda _: program.poll(started["device_code"]))

    assert sorted(answer.status_code for answer in answers) == [200] + [400] * 5
    assert OAuthToken.objects.count() == 1
