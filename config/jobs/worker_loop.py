"""WorkerLoop: a thread that processes one kind of due rows; it runs four times a second, and whenever it is woken up."""

from __future__ import annotations

import logging
import threading
import time

from django.db import close_old_connections, connections

from config.db.clock import ClockMonitor
from config.jobs import wake_up

logger = logging.getLogger(__name__)
POLL_SECONDS = 0.25
PAUSE_AFTER_FAULT = 2.0


class WorkerLoop:
    """The base class of worker loops; a subclass processes its due rows in `run_once`, which the loop calls repeatedly.

    `run_once` returns True when more rows may be due now. `last_run` (monotonic seconds) shows that the loop is alive.
    """

    name: str

    def __init__(self) -> None:
        self.last_run = time.monotonic()
        self.stopping = False
        self._clock = ClockMonitor()
        self._awake = threading.Event()
        self._thread = threading.Thread(target=self._loop, name=f"loop-{self.name}", daemon=True)

    def run_once(self) -> bool:
        raise NotImplementedError

    def finish_current_work_and_stop(self, seconds: float) -> None:
        """Do nothing; worker loops with threads of their own override this to finish their work and stop them."""

    def start(self) -> None:
        wake_up.set_worker_loop_wake_function(self.name, self.wake)
        self._thread.start()

    def wake(self) -> None:
        self._awake.set()

    def stop_and_wait(self, seconds: float) -> None:
        """Stop the worker loop, and wait up to `seconds` until its current work has ended."""
        self.stopping = True
        wake_up.set_worker_loop_wake_function(self.name, None)
        self.wake()
        self._thread.join(seconds)
        self.finish_current_work_and_stop(seconds)

    def _loop(self) -> None:
        while not self.stopping:
            if not self._run_safely():
                self._awake.wait(POLL_SECONDS)
            self._awake.clear()
        connections.close_all()

    def _run_safely(self) -> bool:
        """Run the worker loop once; after an exception, such as a database outage, log it and pause."""
        try:
            close_old_connections()
            if not self._clock.clocks_agree():
                return False
            more = self.run_once()
            self.last_run = time.monotonic()
            return more
        except Exception:
            logger.exception("The worker loop %s failed; it tries again in %s s.", self.name, PAUSE_AFTER_FAULT)
            connections.close_all()
            self._awake.wait(PAUSE_AFTER_FAULT)
            return False
