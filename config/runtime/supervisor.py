"""Keeps a few programs running: starts them, starts them again when they die, and stops them all together."""

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

logger = logging.getLogger(__name__)

PAUSE_SECONDS = 0.1  # between two looks at the children: how late a death or a signal may be noticed
PARENT_DEATH_WATCH = Path(__file__).with_name("parent_death_watch.py")


@dataclass(frozen=True)
class Backoff:
    """How long a dead child waits before it starts again, in seconds: doubling from `first` up to `ceiling`.

    A child that lived for `healthy_after` seconds begins again at `first`.
    """

    first: float = 1.0
    ceiling: float = 30.0
    healthy_after: float = 60.0

    def next_delay(self, previous: float, lived: float) -> float:
        if previous == 0 or lived >= self.healthy_after:
            return self.first
        return min(previous * 2, self.ceiling)


@dataclass
class Child:
    """One supervised program: its name in the log, its command (the first word is an absolute path), and its state.

    It inherits the environment and the output of this process.
    """

    name: str
    command: Sequence[str]
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    started_at: float = field(default=0.0, init=False)  # monotonic seconds, as start_at
    start_at: float = field(default=0.0, init=False)
    delay: float = field(default=0.0, init=False)

    def start(self) -> None:
        """Start it in a session of its own, so that Ctrl-C in the terminal reaches the supervisor alone."""
        watch = [sys.executable, "-IS", str(PARENT_DEATH_WATCH), str(os.getpid())] if sys.platform == "linux" else []
        self.process = subprocess.Popen(  # noqa: S603 (commands are ours)
            [*watch, *self.command], stdin=subprocess.DEVNULL, start_new_session=True
        )
        self.started_at = time.monotonic()

    def exit_code(self) -> int | None:
        """How it ended, negative for a signal; None while it runs."""
        return None if self.process is None else self.process.poll()

    def terminate(self) -> None:
        """Ask it to end."""
        if self.process is not None:
            self.process.terminate()

    def bury(self) -> None:
        """Kill what is left of it and of its process group, so that nothing holds its port or its work."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None


class Supervisor:
    """Watches over `children`; they get `grace` seconds between SIGTERM and SIGKILL when they are to stop.

    Use it from the main thread: `watch` until something is true or a stop is requested, and `stop` in the end.
    """

    def __init__(self, children: Sequence[Child], *, backoff: Backoff | None = None, grace: float = 8.0) -> None:
        self._children = children
        self._backoff = backoff or Backoff()
        self._grace = grace
        self._stop_requests = 0

    @property
    def stopping(self) -> bool:
        return self._stop_requests > 0

    def request_stop(self, *_signal: object) -> None:
        """End `watch`; fit to be a signal handler. A second request cuts the grace of `stop` short."""
        self._stop_requests += 1

    def watch(self, *, until: Callable[[], bool] | None = None, timeout: float = math.inf) -> bool:
        """Keep the children running. True once `until()` is, False after `timeout` s or a stop request."""
        deadline = time.monotonic() + timeout
        while not self.stopping:
            for child in self._children:
                self._keep_running(child)
            if until is not None and until():
                return True
            if time.monotonic() >= deadline:
                break
            time.sleep(PAUSE_SECONDS)
        return False

    def stop(self) -> None:
        """SIGTERM to every child at once, SIGKILL to the group of each that is left; returns when none runs."""
        running = [child for child in self._children if child.process is not None]
        for child in running:
            child.terminate()
        deadline = time.monotonic() + self._grace
        while any(child.exit_code() is None for child in running):
            if self._stop_requests > 1 or time.monotonic() >= deadline:
                break
            time.sleep(PAUSE_SECONDS)
        for child in running:
            if child.exit_code() is None:
                logger.warning("%s did not stop in time and is killed", child.name)
            child.bury()

    def _keep_running(self, child: Child) -> None:
        now = time.monotonic()
        if child.process is None:
            if now >= child.start_at:
                child.start()
            return
        exit_code = child.exit_code()
        if exit_code is not None:
            child.bury()
            child.delay = self._backoff.next_delay(child.delay, now - child.started_at)
            child.start_at = now + child.delay
            logger.warning("%s ended with exit code %d; starting it again in %g s", child.name, exit_code, child.delay)
