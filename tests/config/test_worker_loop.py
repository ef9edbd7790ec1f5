"""WorkerLoop: it polls, runs at once when woken, and continues after an exception."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from config.jobs import wake_up, worker_loop
from config.jobs.worker_loop import WorkerLoop

PATIENCE = 10.0
pytestmark = pytest.mark.django_db(transaction=True)  # a duty asks the database for its time


class Counting(WorkerLoop):
    """A loop that counts its runs; `rounds` gives the result of each."""

    name = "counting"

    def __init__(self, *rounds: Callable[[], bool]) -> None:
        super().__init__()
        self.rounds = list(rounds)
        self.count = 0
        self.finished: list[float] = []
        self.changed = threading.Condition()

    def run_once(self) -> bool:
        step = self.rounds.pop(0) if self.rounds else bool
        with self.changed:
            self.count += 1
            self.changed.notify_all()
        return step()

    def finish_current_work_and_stop(self, seconds: float) -> None:
        self.finished.append(seconds)

    def wait_for(self, count: int) -> bool:
        with self.changed:
            return self.changed.wait_for(lambda: self.count >= count, PATIENCE)

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()


@pytest.fixture
def begin(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Counting]]:
    """Start a loop that never polls."""
    monkeypatch.setattr(worker_loop, "POLL_SECONDS", 3600)
    monkeypatch.setattr(worker_loop, "PAUSE_AFTER_FAULT", 0.01)
    begun: list[Counting] = []

    def start(*rounds: Callable[[], bool]) -> Counting:
        begun.append(Counting(*rounds))
        begun[-1].start()
        return begun[-1]

    yield start
    for each in begun:
        each.stop_and_wait(PATIENCE)


def fault() -> bool:
    raise OSError("the database is away")


def test_the_loop_polls_four_times_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    assert worker_loop.POLL_SECONDS == 0.25
    monkeypatch.setattr(worker_loop, "POLL_SECONDS", 0.01)
    polling = Counting()
    polling.start()
    polled = polling.wait_for(3)
    polling.stop_and_wait(PATIENCE)

    assert polled


def test_the_loop_runs_again_at_once_while_there_is_more_work(begin: Callable[..., Counting]) -> None:
    assert begin(lambda: True, lambda: True, lambda: False).wait_for(3)


def test_a_wake_up_starts_a_run(begin: Callable[..., Counting]) -> None:
    sleeping = begin()
    assert sleeping.wait_for(1)
    wake_up.wake_worker_loop_now("counting")

    assert sleeping.wait_for(2)


def test_a_wake_up_during_a_run_is_not_lost(begin: Callable[..., Counting]) -> None:
    def wake_during_run() -> bool:
        wake_up.wake_worker_loop_now("counting")
        return False

    assert begin(wake_during_run).wait_for(2)


def test_an_exception_is_logged_and_the_loop_continues(
    begin: Callable[..., Counting], caplog: pytest.LogCaptureFixture
) -> None:
    troubled = begin(fault, fault)
    assert troubled.wait_for(1)
    troubled.wake()
    assert troubled.wait_for(2)
    troubled.wake()

    assert troubled.wait_for(3)
    logged = [record for record in caplog.records if record.name == worker_loop.__name__]
    assert [str(record.exc_info[1]) for record in logged if record.exc_info] == ["the database is away"] * 2


@pytest.mark.parametrize(("round_", "shown"), [(bool, True), (fault, False)], ids=["well", "failed"])
def test_only_a_successful_run_updates_last_run(round_: Callable[[], bool], shown: bool) -> None:
    running = Counting(round_)
    born = running.last_run
    running.start()
    begun = running.wait_for(1)
    running.stop_and_wait(PATIENCE)

    assert (begun, running.last_run > born) == (True, shown)


def test_stop_ends_the_loop_and_finishes_work_in_progress(begin: Callable[..., Counting]) -> None:
    running = begin()
    assert running.wait_for(1)
    running.stop_and_wait(PATIENCE)
    rounds = running.count
    wake_up.wake_worker_loop_now("counting")

    assert (running.alive, running.finished, running.count) == (False, [PATIENCE], rounds)
