"""The supervisor of `manage.py up`: runs child processes, restarts them when they exit, and stops them together."""

from __future__ import annotations

import logging
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from config.jobs.backoff import exponential_retry_pause

logger = logging.getLogger(__name__)

CHECK_INTERVAL_SECONDS = 0.1  # seconds between two checks of the children
MAX_RESTART_DELAY = 30.0  # seconds before a child is restarted
HEALTHY_SECONDS = 60.0  # after running this long, a child is restarted with the first delay again
PARENT_DEATH_WATCH = Path(__file__).with_name("parent_death_watch.py")


@dataclass
class Child:
    """A child process of the supervisor: its name in the log, its command (with an absolute path) and its state.

    It inherits this process's environment and output.
    """

    name: str
    command: Sequence[str]
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    started_at: float = field(default=0.0, init=False)  # monotonic seconds, as start_at
    start_at: float = field(default=0.0, init=False)
    failures: int = field(default=0, init=False)  # in a row

    def start(self) -> None:
        """Start the child process in a session of its own, so that Ctrl-C in the terminal reaches only the supervisor."""
        watch = [sys.executable, "-IS", str(PARENT_DEATH_WATCH), str(os.getpid())] if sys.platform == "linux" else []
        self.process = subprocess.Popen(  # noqa: S603 (commands are ours)
            [*watch, *self.command], stdin=subprocess.DEVNULL, start_new_session=True
        )
        self.started_at = time.monotonic()

    def exit_code(self) -> int | None:
        """Return the child process's exit code, negative after a signal; None while it runs."""
        return None if self.process is None else self.process.poll()

    def terminate(self) -> None:
        """Send SIGTERM to this child process of `manage.py up`."""
        if self.process is not None:
            self.process.terminate()

    def kill_process_group(self) -> None:
        """Kill the child process and all processes that it started (SIGKILL), so that none still uses its port."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None


class Supervisor:
    """Keeps child processes running, and stops them: first by SIGTERM, and by SIGKILL if they run `grace` seconds later.

    A child that ends is restarted after `first_delay` seconds, which double with each failure up to MAX_RESTART_DELAY.
    Use it from the main thread: call `keep_children_running`, and `stop` at the end.
    """

    def __init__(self, children: Sequence[Child], *, first_delay: float = 1.0, grace: float = 8.0) -> None:
        self._children = children
        self._first_delay = first_delay
        self._grace = grace
        self._stop_requests = 0

    @property
    def is_stopping(self) -> bool:
        return self._stop_requests > 0

    def stop_or_kill_if_repeated(self, *_signal: object) -> None:
        """Ask the supervisor to stop its child processes; a second call makes it kill them at once."""
        self._stop_requests += 1

    def keep_children_running(self, *, until: Callable[[], bool] | None = None, timeout: float = math.inf) -> bool:
        """Restart child processes that exit; return True once `until()` is true, False on a request to stop or a time-out."""
        deadline = time.monotonic() + timeout
        while not self.is_stopping:
            for child in self._children:
                self._keep_running(child)
            if until is not None and until():
                return True
            if time.monotonic() >= deadline:
                break
            time.sleep(CHECK_INTERVAL_SECONDS)
        return False

    def stop(self) -> None:
        """Stop the supervisor's child processes by SIGTERM, late ones by SIGKILL, and wait until all have ended."""
        running = [child for child in self._children if child.process is not None]
        for child in running:
            child.terminate()
        deadline = time.monotonic() + self._grace
        while any(child.exit_code() is None for child in running):
            if self._stop_requests > 1 or time.monotonic() >= deadline:
                break
            time.sleep(CHECK_INTERVAL_SECONDS)
        for child in running:
            if child.exit_code() is None:
                logger.warning("%s did not stop in time and is killed", child.name)
            child.kill_process_group()

    def _keep_running(self, child: Child) -> None:
        now = time.monotonic()
        if child.process is None:
            if now >= child.start_at:
                child.start()
            return
        exit_code = child.exit_code()
        if exit_code is not None:
            child.kill_process_group()
            child.failures = 1 if now - child.started_at >= HEALTHY_SECONDS else child.failures + 1
            pause = exponential_retry_pause(child.failures, first=self._first_delay, longest=MAX_RESTART_DELAY)
            child.start_at = now + pause.total_seconds()
            logger.warning(
                "%s ended with exit code %d; starting it again in %g s", child.name, exit_code, pause.total_seconds()
            )
