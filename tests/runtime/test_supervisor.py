"""The process supervisor, with small Python programs as children."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from config.runtime import supervisor as supervisor_module
from config.runtime.supervisor import Child, Supervisor

BOUND_SECONDS = 20
# Both write "u" to the lifeline when they are up, and have it open while they run.
POLITE = """
import os, signal, sys
lifeline = os.open(sys.argv[1], os.O_WRONLY)
def leave(*_):
    os.write(lifeline, b"left")
    sys.exit(0)
signal.signal(signal.SIGTERM, leave)
os.write(lifeline, b"u")
while True:
    signal.pause()
"""
STUBBORN = """
import os, signal, sys
lifeline = os.open(sys.argv[1], os.O_WRONLY)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.fork()
os.write(lifeline, b"u")
while True:
    signal.pause()
"""


class Lifeline:
    """A named pipe that a program and its children have open; it closes when the last of them exits."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = path
        self.received = b""
        self.descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def has(self, expected: bytes) -> Callable[[], bool]:
        """Return whether the programs have written `expected` so far."""

        def has_received() -> bool:
            if select.select([self.descriptor], [], [], 0)[0]:
                self.received += os.read(self.descriptor, 100)
            return self.received == expected

        return has_received

    def ends(self) -> bool:
        """Wait until all programs have exited; return False after the time-out."""
        while select.select([self.descriptor], [], [], BOUND_SECONDS)[0]:
            received = os.read(self.descriptor, 100)
            self.received += received
            if not received:
                return True
        return False

    def close(self) -> None:
        os.close(self.descriptor)


@pytest.fixture
def lifeline(tmp_path: Path) -> Iterator[Lifeline]:
    line = Lifeline(tmp_path / "lifeline")
    yield line
    line.close()


def python(name: str, program: str, *arguments: str | Path) -> Child:
    return Child(name, [sys.executable, "-c", program, *map(str, arguments)])


def test_a_child_that_dies_starts_again_with_growing_delay(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor_module, "MAX_RESTART_DELAY", 0.03)
    starts = tmp_path / "starts"
    dying = python("worker", "import sys; open(sys.argv[1], 'a').write('x'); sys.exit(3)", starts)
    supervisor = Supervisor([dying], first_delay=0.01)

    restarted = supervisor.keep_children_running(until=lambda: len(caplog.messages) == 4, timeout=BOUND_SECONDS)
    supervisor.stop()

    assert restarted
    assert starts.read_text() == "xxxx"
    assert caplog.messages == [
        f"worker ended with exit code 3; starting it again in {delay} s" for delay in ("0.01", "0.02", "0.03", "0.03")
    ]


def test_a_child_that_ran_for_a_minute_starts_again_with_the_first_delay(caplog: pytest.LogCaptureFixture) -> None:
    child = python("worker", "raise SystemExit(3)")
    child.failures = 5
    supervisor = Supervisor([child], first_delay=7)
    supervisor.keep_children_running(until=lambda: child.process is not None)
    child.started_at -= 60

    assert supervisor.keep_children_running(until=lambda: child.process is None, timeout=BOUND_SECONDS)
    assert caplog.messages == ["worker ended with exit code 3; starting it again in 7 s"]


def test_stop_lets_every_child_finish(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    lines = [Lifeline(tmp_path / name) for name in ("web", "worker")]
    supervisor = Supervisor([python(line.path.name, POLITE, line.path) for line in lines])
    assert supervisor.keep_children_running(until=lambda: all(line.has(b"u")() for line in lines), timeout=BOUND_SECONDS)

    supervisor.stop()

    assert [line.ends() for line in lines] == [True, True]
    assert [line.received for line in lines] == [b"uleft", b"uleft"]
    assert caplog.messages == []
    for line in lines:
        line.close()


@pytest.mark.parametrize(
    ("grace", "stop_requests"),
    [pytest.param(0.1, 1, id="when the grace is over"), pytest.param(3600.0, 2, id="at the second request")],
)
def test_stop_kills_a_child_that_does_not_end_and_its_processes(
    lifeline: Lifeline, caplog: pytest.LogCaptureFixture, grace: float, stop_requests: int
) -> None:
    supervisor = Supervisor([python("web", STUBBORN, lifeline.path)], grace=grace)
    assert supervisor.keep_children_running(until=lifeline.has(b"uu"), timeout=BOUND_SECONDS)

    for _ in range(stop_requests):
        supervisor.stop_or_kill_if_repeated(signal.SIGINT, None)
    supervisor.stop()

    assert lifeline.ends()
    assert caplog.messages == ["web did not stop in time and is killed"]


def test_after_a_child_died_its_processes_are_killed(lifeline: Lifeline, caplog: pytest.LogCaptureFixture) -> None:
    child = python("web", STUBBORN, lifeline.path)
    supervisor = Supervisor([child], first_delay=15)
    assert supervisor.keep_children_running(until=lifeline.has(b"uu"), timeout=BOUND_SECONDS)

    assert child.process is not None
    child.process.kill()
    assert supervisor.keep_children_running(until=lambda: child.process is None, timeout=BOUND_SECONDS)

    assert lifeline.ends()
    assert caplog.messages == ["web ended with exit code -9; starting it again in 15 s"]


def test_watch_ends_at_a_stop_request() -> None:
    supervisor = Supervisor([python("web", "raise SystemExit('must not start')")])
    supervisor.stop_or_kill_if_repeated(signal.SIGTERM, None)

    assert not supervisor.keep_children_running()


def test_ctrl_c_in_the_terminal_does_not_reach_the_children(lifeline: Lifeline) -> None:
    child = python("web", POLITE, lifeline.path)
    supervisor = Supervisor([child])
    assert supervisor.keep_children_running(until=lifeline.has(b"u"), timeout=BOUND_SECONDS)

    assert child.process is not None
    assert os.getpgid(child.process.pid) == child.process.pid
    supervisor.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ties children to their parent")
def test_children_end_with_a_supervisor_that_is_killed(lifeline: Lifeline) -> None:
    program = """
import sys
from config.runtime.supervisor import Child, Supervisor
Supervisor([Child("web", [sys.executable, "-c", *sys.argv[1:]])]).keep_children_running()
"""
    supervisor = subprocess.Popen([sys.executable, "-c", program, POLITE, lifeline.path])
    select.select([lifeline.descriptor], [], [], BOUND_SECONDS)
    supervisor.kill()
    supervisor.wait()

    assert lifeline.ends()
    assert lifeline.received == b"uleft"
