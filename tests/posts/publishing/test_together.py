"""What threads want to write at the same moment is written together, and each is told what came of its own."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

import pytest
from django.db import IntegrityError, OperationalError

from posts.publishing import together
from posts.publishing.together import WrittenTogether

SECONDS = 30


class Journal:
    """Writes numbers: an even one takes effect, a negative one cannot be written, and zero finds no database."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.writing = threading.Event()
        self.go_on = threading.Event()
        self.go_on.set()

    def write_all(self, numbers: Sequence[int]) -> list[bool]:
        self.writing.set()
        assert self.go_on.wait(SECONDS)
        self.batches.append(sorted(numbers))
        if 0 in numbers:
            raise OperationalError("away")
        if min(numbers) < 0:
            raise IntegrityError("no")
        return [number % 2 == 0 for number in numbers]


def behind_another(journal: Journal, written: WrittenTogether[int], numbers: list[int]) -> list[Future[bool]]:
    """These numbers, all of which came while 2 was being written."""
    journal.go_on.clear()
    threads = ThreadPoolExecutor(1 + len(numbers))
    first = threads.submit(written.write, 2)
    assert journal.writing.wait(SECONDS)
    others = [threads.submit(written.write, number) for number in numbers]
    while len(written._waiting) < len(numbers):
        threading.Event().wait(0.001)
    journal.go_on.set()
    wait([first, *others], SECONDS)
    threads.shutdown()
    assert first.result()
    return others


def test_who_is_alone_writes_at_once() -> None:
    journal = Journal()
    written = WrittenTogether(journal.write_all)

    assert [written.write(number) for number in (2, 3)] == [True, False]
    assert journal.batches == [[2], [3]]


def test_those_who_come_meanwhile_are_written_together() -> None:
    journal = Journal()
    others = behind_another(journal, WrittenTogether(journal.write_all), [4, 5, 6])

    assert [other.result() for other in others] == [True, False, True]
    assert journal.batches == [[2], [4, 5, 6]]


def test_one_that_cannot_be_written_fails_alone() -> None:
    journal = Journal()
    good, bad = behind_another(journal, WrittenTogether(journal.write_all), [4, -1])

    assert good.result() is True
    assert isinstance(bad.exception(), IntegrityError)


def test_when_the_database_is_away_all_of_them_are_told() -> None:
    journal = Journal()
    others = behind_another(journal, WrittenTogether(journal.write_all), [4, 0])

    assert [type(other.exception()) for other in others] == [OperationalError] * 2
    assert len(journal.batches) == 2


def test_right_after_another_thread_one_waits_for_company(monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal()
    written = WrittenTogether(journal.write_all)
    monkeypatch.setattr(together, "GATHER_AFTER_SECONDS", 3600.0)
    came = threading.Event()

    def gather(_: float) -> None:
        came.wait(SECONDS)

    monkeypatch.setattr(together.time, "sleep", gather)
    with ThreadPoolExecutor(1) as another, ThreadPoolExecutor(2) as threads:
        another.submit(written.write, 2).result()
        both = [threads.submit(written.write, number) for number in (4, 6)]
        while len(written._waiting) < 2:
            threading.Event().wait(0.001)
        came.set()

    assert [each.result() for each in both] == [True, True]
    assert journal.batches[-1] == [4, 6]
