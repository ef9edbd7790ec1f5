"""The writer thread of a publishing worker, which writes to the database for all publishing threads by one connection.

Writes that arrive while it is writing are batched into as few statements as possible, so transactions get cheaper under
load, and a platform that hangs holds threads but no connections. Without a writer thread, as in commands, each caller
writes itself.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import dataclass, field
from itertools import groupby
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from django.db import close_old_connections, connection

from config.db.connection import skip_recent_health_check
from config.db.outage import DATABASE_ERRORS

Item = TypeVar("Item")
Result = TypeVar("Result")
WriteAll = Callable[[Sequence[Item]], Sequence[Result]]  # runs its own transactions; returns a result for each item
MAX_BATCH_SIZE = 100
GATHER_SECONDS, GATHER_AFTER_SECONDS = 0.02, 0.25

_of_thread = threading.local()


@dataclass
class WriteRequest:
    """A request to the publishing worker's writer thread to write one item, such as a post's outcome, to the database.

    The future receives the result.
    """

    write_all: WriteAll[Any, Any]
    item: Any
    result: Future[Any] = field(default_factory=Future)


class BatchWriter:
    """The writer thread of a publishing worker, which writes to the database for other threads.

    A thread that writes through it must first call `serve`.
    """

    def __init__(self) -> None:
        self._requests: SimpleQueue[WriteRequest | None] = SimpleQueue()
        self._batch_ended_at = float("-inf")
        self._stopping = False
        self._thread = threading.Thread(target=self._loop, name="publish-writer", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, seconds: float) -> None:
        """Stop the publishing worker's writer thread after all pending writes."""
        self._requests.put(None)
        self._thread.join(seconds)

    def serve(self) -> None:
        _of_thread.writer = self

    def write(self, write_all: WriteAll[Item, Result], item: Item) -> Result:
        """Have the writer thread save one item, such as a post's outcome, in a batch with other threads' items.

        Returns the item's result. Raises the database's error.
        """
        request = WriteRequest(write_all, item)
        self._requests.put(request)
        result: Result = request.result.result()
        return result

    def _loop(self) -> None:
        while not self._stopping:
            requests = self._gather()
            requests.sort(key=lambda request: id(request.write_all))
            for _, same_function in groupby(requests, key=lambda request: id(request.write_all)):
                _write_requests(list(same_function))
            self._batch_ended_at = time.monotonic()
        connection.close()

    def _gather(self) -> list[WriteRequest]:
        """Wait for write requests of the publishing threads, and return those that have arrived.

        If there are many, collect more for some milliseconds to write them together.
        """
        first = self._requests.get()
        if time.monotonic() - self._batch_ended_at < GATHER_AFTER_SECONDS:
            time.sleep(GATHER_SECONDS)
        requests = [first]
        while len(requests) < MAX_BATCH_SIZE:
            try:
                requests.append(self._requests.get_nowait())
            except Empty:
                break
        self._stopping = None in requests
        return [request for request in requests if request is not None]


def _write_requests(requests: Sequence[WriteRequest]) -> None:
    """Write the items that publishing threads want to save, and give each waiting thread its result or error."""
    try:
        close_old_connections()
        skip_recent_health_check()
        results = all_or_each(requests[0].write_all, [request.item for request in requests])
        outcomes = dict(zip(map(id, requests), results, strict=True))
    except BaseException as fault:  # most likely the database is down, so all of them fail
        connection.close()
        outcomes = {id(request): fault for request in requests}
    for request in requests:
        if isinstance(result := outcomes[id(request)], BaseException):
            request.result.set_exception(result)
        else:
            request.result.set_result(result)


def all_or_each(write_all: WriteAll[Item, Result], items: Sequence[Item]) -> Sequence[Result | Exception]:
    """Save several items, such as outcomes of posts, to the database in one batch, or one by one if the batch fails.

    The result of a failed item is its exception. Raises OperationalError, InterfaceError if the database is down.
    """
    try:
        return write_all(items)
    except Exception as fault:
        if isinstance(fault, DATABASE_ERRORS) and not _database_answers():
            raise
        return [fault] if len(items) == 1 else _each(write_all, items)


def _each(write_all: WriteAll[Item, Result], items: Sequence[Item]) -> list[Result | Exception]:
    results: list[Result | Exception] = []
    blocked: list[Exception] = []
    for item in items:
        if len(blocked) > 1:  # a lock that all need is held elsewhere: they are retried
            results.append(blocked[0])
            continue
        [result] = all_or_each(write_all, [item])
        results.append(result)
        if isinstance(result, DATABASE_ERRORS):
            blocked.append(result)
    return results


def _database_answers() -> bool:
    """Return whether the publisher's database connection still works after a write failed.

    If it does, perhaps only a row was locked.
    """
    return connection.is_usable()


def write_batched(write_all: WriteAll[Item, Result], item: Item) -> Result:
    """Save one item, such as a post's outcome, to the database, in a batch with other publishing threads' items if possible.

    Raises the database's error.
    """
    writer: BatchWriter | None = getattr(_of_thread, "writer", None)
    return write_all([item])[0] if writer is None else writer.write(write_all, item)


def run_on_writer(call: Callable[..., Result], *args: Any, **named: Any) -> Result:
    """Run a short database call in the publishing worker's writer thread, if there is one, separately from batched writes.

    The call has the trace context of the calling thread.
    """
    context = copy_context()  # the new lambda below is a batch key that no other write shares
    return write_batched(lambda _: [context.run(call, *args, **named)], None)
