"""The webhook receiver: what it records and how it misbehaves."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from tests.fakes.receiver import Manner, Receiver, answer_with, redirect_to


@pytest.fixture
def http() -> Iterator[requests.Session]:
    with requests.Session() as session:
        session.trust_env = False
        yield session


def test_bodies_and_headers_are_stored_as_sent(http: requests.Session) -> None:
    with Receiver() as receiver:
        http.post(receiver.url + "/hook?a=1", data=b'{"b": 1,\n"a":\xc3\xa9}', headers={"X-Signature": "t=1"}, timeout=5)

        (delivery,) = receiver.wait_for(1)
    assert (delivery.method, delivery.path, delivery.query) == ("POST", "/hook", {"a": "1"})
    assert delivery.body == b'{"b": 1,\n"a":\xc3\xa9}'
    assert delivery.headers["x-signature"] == "t=1"


def test_script_is_answered_step_by_step_then_200(http: requests.Session) -> None:
    with Receiver(500, answer_with(503, {"Retry-After": "7"}), redirect_to("http://127.0.0.1:1/")) as receiver:
        answers = [http.post(receiver.url, timeout=5, allow_redirects=False) for _ in range(4)]

    assert [answer.status_code for answer in answers] == [500, 503, 302, 200]
    assert answers[1].headers["Retry-After"] == "7"
    assert answers[2].headers["Location"] == "http://127.0.0.1:1/"


def test_dropped_delivery_has_arrived_all_the_same(http: requests.Session) -> None:
    with Receiver(Manner.DROP) as receiver:
        with pytest.raises(requests.ConnectionError):
            http.post(receiver.url, timeout=5)
        assert len(receiver.requests) == 1


@pytest.mark.parametrize("manner", [Manner.HANG, Manner.DRIP_HEAD])
def test_answer_stays_away_until_it_is_released(http: requests.Session, manner: Manner) -> None:
    with Receiver(manner) as receiver, ThreadPoolExecutor(1) as pool:
        posting = pool.submit(http.post, receiver.url, timeout=5)
        receiver.wait_for(1)
        assert not posting.done()

        receiver.release()
        assert posting.result(timeout=5).status_code == 200


def test_dripping_body_never_trips_a_read_timeout(http: requests.Session) -> None:
    with Receiver(Manner.DRIP_BODY) as receiver:
        answer = http.post(receiver.url, timeout=2, stream=True)
        first = answer.raw.read(2)
        receiver.release()

        assert (answer.status_code, first) == (200, b"..")
        assert set(answer.raw.read()) <= {ord(".")}


def test_waiting_in_vain_fails() -> None:
    with Receiver() as receiver, pytest.raises(AssertionError, match="0 of 1 requests"):
        receiver.wait_for(1, timeout=0.01)


def test_closing_frees_a_hanging_client(http: requests.Session) -> None:
    with Receiver(Manner.HANG) as receiver, pytest.raises(requests.ReadTimeout):
        http.post(receiver.url, timeout=0.05)
    with pytest.raises(requests.ConnectionError):
        http.post(receiver.url, timeout=5)
