"""The identity provider's keys: caching, fetching new ones, and outages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.agents.oidc_calls import NOON, answer_to, later
from tests.config.test_errors import assert_envelope
from tests.fakes.openid import DISCOVERY, KEYS, FakeOpenIdProvider, new_key
from tests.in_threads import in_threads
from tests.occupied_threads import occupy_all_outbound_threads


@pytest.mark.django_db
def test_published_keys_are_fetched_once_an_hour(provider: FakeOpenIdProvider) -> None:
    for minutes, asked in ((0, 1), (59, 1), (61, 2)):
        with later(minutes=minutes):
            assert [answer_to(provider.access_token("alice")).status_code for _ in range(5)] == [200] * 5
            assert (provider.requests_to(DISCOVERY), provider.requests_to(KEYS)) == (asked, asked)


@pytest.mark.django_db
def test_a_new_key_is_fetched_at_once_and_the_old_one_dropped(provider: FakeOpenIdProvider) -> None:
    with later():
        old = provider.access_token("alice")
        assert answer_to(old).status_code == 200
    provider.rotate()
    with later(seconds=31):
        assert answer_to(provider.access_token("alice")).status_code == 200
        assert_envelope(answer_to(old), 401, "UNAUTHENTICATED")


@pytest.mark.django_db
def test_unknown_key_ids_do_not_cause_a_fetch_each_time(provider: FakeOpenIdProvider) -> None:
    made_up = [provider.signed({"sub": "alice"}, new_key(f"made-up-{number}")) for number in range(6)]
    for seconds, asked in ((0, 1), (29, 1), (31, 2), (60, 2), (62, 3)):
        with later(seconds=seconds):
            assert {answer_to(token).status_code for token in made_up} == {401}
            assert provider.requests_to(KEYS) == asked


@pytest.mark.django_db
@pytest.mark.parametrize("call", [DISCOVERY, KEYS])
def test_without_keys_the_service_is_unavailable(provider: FakeOpenIdProvider, call: str) -> None:
    provider.fail_next(call, 503, times=2)
    token = provider.access_token("alice", exp=int(NOON.timestamp()) + 3600, iat=None)
    for seconds, status in ((0, 503), (1, 503), (4, 503), (6, 503), (12, 200)):
        with later(seconds=seconds):
            answer = answer_to(token)
            assert answer.status_code == status
            if status == 503:
                assert_envelope(answer, 503, "SERVICE_UNAVAILABLE")
                assert answer["Retry-After"] == "5"

    assert provider.requests_to(call) == 3  # one try in five seconds


@pytest.mark.django_db
def test_cached_keys_work_for_a_day_while_the_provider_is_unavailable(provider: FakeOpenIdProvider) -> None:
    token = provider.access_token("alice", exp=int(NOON.timestamp()) + 200_000, iat=None)
    unknown = provider.signed({"sub": "alice"}, new_key("made-up"))
    with later():
        assert answer_to(token).status_code == 200
    provider.fail_next(DISCOVERY, 503, times=100)
    provider.fail_next(KEYS, 503, times=100)
    for hours, status in ((2, 200), (23, 200), (25, 503)):
        with later(hours=hours):
            assert answer_to(token).status_code == status
            assert_envelope(answer_to(unknown), 503, "SERVICE_UNAVAILABLE")  # nobody can say that it is not one of theirs


@pytest.mark.django_db(transaction=True)
def test_a_provider_that_hangs_holds_only_one_request(provider: FakeOpenIdProvider) -> None:
    token = provider.access_token("alice", exp=int(NOON.timestamp()) + 200_000, iat=None)
    with later():
        assert answer_to(token).status_code == 200
    held = provider.hold_next(KEYS)
    with later(hours=2):
        answers = in_threads(2, lambda _: _then(held.set, answer_to(token)))

    assert [answer.status_code for answer in answers] == [200, 200]
    with later(hours=2, seconds=6):
        answer_to(token)
    assert provider.requests_to(KEYS) == 2  # the one that was held came to its end, since the other did not wait for it


@pytest.mark.django_db
def test_requests_to_the_provider_use_the_outbound_guard(provider: FakeOpenIdProvider, settings: Any) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = False

    assert_envelope(answer_to(provider.access_token("alice")), 503, "SERVICE_UNAVAILABLE")
    assert not provider.requests


def _then(after: Callable[[], None], value: Any) -> Any:
    after()
    return value


@pytest.mark.django_db
def test_cached_keys_are_used_while_no_thread_is_free_to_fetch(provider: FakeOpenIdProvider) -> None:
    with later():
        with occupy_all_outbound_threads():
            refused = answer_to(provider.access_token("alice"))
        assert_envelope(refused, 429, "RATE_LIMITED")
        assert (refused["Retry-After"], provider.requests) == ("5", ())
        assert answer_to(provider.access_token("alice")).status_code == 200
    with later(minutes=61), occupy_all_outbound_threads():
        assert answer_to(provider.access_token("alice")).status_code == 200
    assert provider.requests_to(KEYS) == 1
