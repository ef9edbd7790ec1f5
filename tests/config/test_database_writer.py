"""The writer thread batches concurrent writes and returns each result to its caller."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

import pytest
from django.db import IntegrityError, OperationalError

from config.api.trace import current_trace_id, start_or_continue_trace
from config.jobs import database_writer as writer_module
from config.jobs.database_writer import BatchingDatabaseWriter, DatabaseWriter, write_all_or_each

SECONDS = 30


class Journal:
    """Writes numbers: even ones take effect, negative ones fail, and zero meets a database that is down."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.writers: set[int] = set()
        self.writing = threading.Event()
        self.go_on = threading.Event()
        self.go_on.set()
        self.write_all = self._write_all  # one object each time, as a module's functions are

    def _write_all(self, numbers: Sequence[int]) -> list[bool]:
        self.writing.set()
        assert self.go_on.wait(SECONDS)
        self.batches.append(sorted(numbers))
        self.writers.add(threading.get_ident())
        if 0 in numbers:
            raise OperationalError("away")
        if min(numbers) < 0:
            raise IntegrityError("no")
        return [number % 2 == 0 for number in numbers]


@pytest.fixture
def journal() -> Journal:
    return Journal()


@pytest.fixture
def writer() -> Iterator[BatchingDatabaseWriter]:
    made = BatchingDatabaseWriter()
    made.start()
    yield made
    made.stop(SECONDS)


def behind_another(journal: Journal, writer: BatchingDatabaseWriter, numbers: list[int]) -> list[Future[bool]]:
    """Write these numbers, all submitted while 2 was being written."""
    journal.go_on.clear()
    with ThreadPoolExecutor(1 + len(numbers)) as threads:
        first = threads.submit(writer.write, journal.write_all, 2)
        assert journal.writing.wait(SECONDS)
        others = [threads.submit(writer.write, journal.write_all, number) for number in numbers]
        while writer._requests.qsize() < len(numbers):
            threading.Event().wait(0.001)
        journal.go_on.set()
        wait([first, *others], SECONDS)
    assert first.result()
    return others


def test_a_plain_store_writes_in_the_calling_thread(journal: Journal) -> None:
    assert [DatabaseWriter().write(journal.write_all, number) for number in (2, 3)] == [True, False]
    assert (journal.batches, journal.writers) == ([[2], [3]], {threading.get_ident()})


def test_items_that_arrive_during_a_write_are_written_together(journal: Journal, writer: BatchingDatabaseWriter) -> None:
    others = behind_another(journal, writer, [4, 5, 6])

    assert [other.result() for other in others] == [True, False, True]
    assert journal.batches == [[2], [4, 5, 6]]
    assert len(journal.writers) == 1


def test_an_item_that_cannot_be_written_fails_alone(journal: Journal, writer: BatchingDatabaseWriter) -> None:
    good, bad = behind_another(journal, writer, [4, -1])

    assert good.result() is True
    assert isinstance(bad.exception(), IntegrityError)


def test_all_callers_get_the_error_when_the_database_is_down_and_the_writer_continues(
    journal: Journal, writer: BatchingDatabaseWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "_database_answers", lambda: False)
    others = behind_another(journal, writer, [4, 0])

    assert [type(other.exception()) for other in others] == [OperationalError] * 2
    assert len(journal.batches) == 2
    assert writer.write(journal.write_all, 8) is True


@pytest.fixture
def database_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The database is up; errors it raises come from locks held by others."""
    monkeypatch.setattr(writer_module, "_database_answers", lambda: True)


@pytest.mark.usefixtures("database_is_up")
def test_an_item_whose_row_is_locked_fails_alone(journal: Journal, writer: BatchingDatabaseWriter) -> None:
    *good, locked = behind_another(journal, writer, [4, 5, 0])

    assert [each.result() for each in good] == [True, False]
    assert isinstance(locked.exception(), OperationalError)


@pytest.mark.usefixtures("database_is_up")
def test_a_lock_that_all_items_need_is_not_waited_for_by_each(journal: Journal) -> None:
    assert [type(result) for result in write_all_or_each(journal.write_all, [0] * 9)] == [OperationalError] * 9
    assert len(journal.batches) == 1 + 2


def test_a_call_runs_alone_on_the_writers_thread(journal: Journal, writer: BatchingDatabaseWriter) -> None:
    with ThreadPoolExecutor(2) as threads:
        written_by = {threads.submit(writer.call, threading.get_ident).result() for _ in range(3)}
        fault = threads.submit(writer.call, int, "x").exception()

    assert written_by == {writer._thread.ident}
    assert isinstance(fault, ValueError)


def test_a_call_has_the_callers_trace(writer: BatchingDatabaseWriter) -> None:
    def traces() -> tuple[str, str]:
        start_or_continue_trace("a" * 32)
        return current_trace_id(), writer.call(current_trace_id)

    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(traces).result() == ("a" * 32, "a" * 32)


def test_stopping_completes_pending_writes(journal: Journal) -> None:
    writer = BatchingDatabaseWriter()
    journal.go_on.clear()
    with ThreadPoolExecutor(3) as threads:
        asked = [threads.submit(writer.write, journal.write_all, number) for number in (2, 4)]
        while writer._requests.qsize() < 2:
            threading.Event().wait(0.001)
        writer.start()
        stopping = threads.submit(writer.stop, SECONDS)
        journal.go_on.set()
        stopping.result(SECONDS)

        assert [each.result(SECONDS) for each in asked] == [True, True]
