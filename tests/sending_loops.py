"""Runs a production loop that sends HTTP requests in the calling thread, so that tests see what it has written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from webhooks.sending_loop import HttpSendingLoop

SECONDS = 10.0
Loop = TypeVar("Loop", bound="RunsUntilIdle")


class RunsUntilIdle(HttpSendingLoop[Any, Any]):
    """A loop without its own thread, to be combined with a production loop; only the attempts are sent by another thread."""

    def start(self) -> None:
        self._sending.start()

    def run_until_idle(self) -> None:
        while self.run_once() or self._in_flight:
            self.wait_for_an_answer()

    def wait_for_an_answer(self) -> None:
        """Wait until an attempt ends, if any is running."""
        if len(self._in_flight) > len(self._unsaved):
            self._awake.wait(SECONDS)
            self._awake.clear()


@contextmanager
def started(loop: Loop) -> Iterator[Loop]:
    """Start the loop for the block, then stop it as a worker does."""
    loop.start()
    try:
        yield loop
    finally:
        loop.finish_current_work_and_stop(SECONDS)
