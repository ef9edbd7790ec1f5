"""The thread with an event loop in which a worker sends all its webhook deliveries concurrently."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable

import aiohttp

from config.outbound.async_client import create_session
from webhooks.sender import MAX_IN_FLIGHT, AttemptOutcome, DeliveryRequest, send_delivery

# Outcomes are reported in groups, since each report costs the listener a few queries: when as many attempts have finished
# as still run, or ENOUGH_OUTCOMES, or after GATHER_SECONDS.
GATHER_SECONDS = 0.05
ENOUGH_OUTCOMES = 32


class SendingThread:
    """The worker's thread that sends webhook delivery attempts, which the worker's main thread submits.

    Calls `when_finished` when there are outcomes; `take_finished_outcomes` returns them.
    """

    def __init__(self, when_finished: Callable[[], None]) -> None:
        self._when_finished = when_finished
        self._finished: deque[tuple[str, AttemptOutcome]] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._report: asyncio.TimerHandle | None = None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), name="deliveries", daemon=True)
        self._loop: asyncio.AbstractEventLoop
        self._session: aiohttp.ClientSession
        self._stopping: asyncio.Event

    def start(self) -> None:
        self._thread.start()
        self._ready.wait()

    def start_attempt(self, key: str, request: DeliveryRequest) -> None:
        """Start a webhook delivery attempt in the sending thread at once."""
        self._loop.call_soon_threadsafe(self._begin, key, request)

    def take_finished_outcomes(self) -> list[tuple[str, AttemptOutcome]]:
        """Return the outcomes of webhook attempts that have finished since the last call, each with the attempt's key.

        The key is the one given to `start_attempt`.
        """
        return [self._finished.popleft() for _ in range(len(self._finished))]

    def cancel_attempts_and_stop(self) -> None:
        """Stop the webhook sending thread. Running attempts are cancelled and get no outcome."""
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()

    async def _run(self) -> None:
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        async with create_session(connections=MAX_IN_FLIGHT) as self._session:
            self._ready.set()
            await self._stopping.wait()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _begin(self, key: str, request: DeliveryRequest) -> None:
        task = self._loop.create_task(self._attempt(key, request))
        self._tasks.add(task)  # the event loop holds only weak references to tasks
        task.add_done_callback(self._tasks.discard)

    async def _attempt(self, key: str, request: DeliveryRequest) -> None:
        self._finished.append((key, await send_delivery(self._session, request)))
        still_running = len(self._tasks) - 1  # the task of this attempt is still among them
        if len(self._finished) >= min(still_running, ENOUGH_OUTCOMES):
            self._report_finished()
        elif self._report is None:
            self._report = self._loop.call_later(GATHER_SECONDS, self._report_finished)

    def _report_finished(self) -> None:
        if self._report:
            self._report.cancel()
            self._report = None
        if self._finished:
            self._when_finished()
