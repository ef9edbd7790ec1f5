from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from accounts.platforms.bluesky.feed_post import TID_ALPHABET, TidClock, encode_tid


@pytest.mark.parametrize(
    ("microseconds", "clock_id", "tid"),
    [
        (0, 0, "2222222222222"),
        (0, 1, "2222222222223"),
        (0, 1023, "22222222222zz"),
        (1, 0, "2222222222322"),
        (1_724_171_495_793_000, 512, "3l25zusnsfck2"),
        (2**53 - 1, 1023, "bzzzzzzzzzzzz"),
    ],
)
def test_a_tid_is_the_microseconds_and_the_clock_id_in_sortable_base32(microseconds: int, clock_id: int, tid: str) -> None:
    assert encode_tid(microseconds, clock_id) == tid


def test_a_tid_contains_the_time_of_its_creation() -> None:
    moment = datetime(2026, 11, 20, 15, 42, 7, 123_456, tzinfo=UTC)
    with time_machine.travel(moment, tick=False):
        tid = TidClock().next()

    assert re.fullmatch("[2-7a-j][2-7a-z]{12}", tid)
    assert _moment(tid) == moment


def test_tids_of_one_clock_grow_even_when_the_time_stands_still_or_steps_back() -> None:
    clock = TidClock()
    with time_machine.travel(datetime(2026, 11, 20, tzinfo=UTC), tick=False) as traveller:
        tids = [clock.next(), clock.next()]
        traveller.shift(timedelta(seconds=-60))
        tids.append(clock.next())

    assert sorted(set(tids)) == tids


def test_threads_never_get_the_same_tid() -> None:
    clock = TidClock()
    with ThreadPoolExecutor(8) as threads:
        tids = list(threads.map(lambda _: clock.next(), range(2000)))

    assert len(set(tids)) == 2000


def test_each_tid_has_a_new_random_clock_id() -> None:
    clock = TidClock()

    clock_ids = {_number(clock.next()) & 1023 for _ in range(200)}

    assert len(clock_ids) > 100


def _number(tid: str) -> int:
    value = 0
    for char in tid:
        value = value << 5 | TID_ALPHABET.index(char)
    return value


def _moment(tid: str) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=_number(tid) >> 10)
