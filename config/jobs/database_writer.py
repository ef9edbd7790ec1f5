"""Database writers: each thread of a worker writes to the database itself, or one thread writes for all of them.

A `DatabaseWriter` writes in the calling thread, as commands and tests do. A worker with many threads uses a
`BatchingDatabaseWriter`, whose own thread combines writes that arrive while it is busy into as few statements as possible.
Transactions then get cheaper under load, and a platform that hangs holds threads but no connections.
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

from config.db.connection import skip_health_check_if_fresh
from config.db.outage import DATABASE_ERRORS

Item = TypeVar("Item")
Result = TypeVar("Result")
WriteAll = Callable[[Sequence[Item]], Sequence[Result]]  # runs its own transactions; returns a result for each item
MAX_BATCH_SIZE = 100
GATHER_SECONDS, GATHER_AFTER_SECONDS = 0.02, 0.25


class DatabaseWriter:
    """The simple database writer: it writes in the thread that calls it, with the connection of that thread."""

    def start(self) -> None:
        """Start the thread that writes to the database for other threads; do nothing if the writer has no thread."""

    def stop(self, seconds: float) -> None:
        """Stop the thread that writes to the database, if any, after all pending writes; wait up to `seconds` for it."""

    def write(self, write_all: WriteAll[Item, Result], item: Item) -> Result:
        """Write one item to the database by calling `write_all`, and return its result. Raises the database's error."""
        return write_all([item])[0]

    def write_in_this_thread(self, write_all: WriteAll[Item, Result], items: Sequence[Item]) -> Sequence[Result | Exception]:
        """Write items to the database in one batch in the calling thread; if the batch fails, write each item alone.

        The result of a failed item is its exception. Raises OperationalError, InterfaceError if the database is down.
        """
        return write_all_or_each(write_all, items) if items else ()

    def call(self, work: Callable[..., Result], *args: Any, **named: Any) -> Result:
        """Call a function that uses the database briefly, in this thread or the writer's thread, and return its result."""
        return work(*args, **named)


@dataclass
class WriteRequest:
    """One item that a thread asks the writer thread to write to the database; the future receives the result."""

    write_all: WriteAll[Any, Any]
    item: Any
    result: Future[Any] = field(default_factory=Future)


class BatchingDatabaseWriter(DatabaseWriter):
    """A writer whose thread writes to the database for many other threads, in batches."""

    def __init__(self) -> None:
        self._requests: SimpleQueue[WriteRequest | None] = SimpleQueue()
        self._batch_ended_at = float("-inf")
        self._stopping = False
        self._thread = threading.Thread(target=self._loop, name="database-writer", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, seconds: float) -> None:
        self._requests.put(None)
        self._thread.join(seconds)

    def write(self, write_all: WriteAll[Item, Result], item: Item) -> Result:
        request = WriteRequest(write_all, item)
        self._requests.put(request)
        result: Result = request.result.result()
        return result

    def call(self, work: Callable[..., Result], *args: Any, **named: Any) -> Result:
        """Call a function that uses the database briefly in the writer thread, with the calling thread's trace context."""
        context = copy_context()  # the new lambda below is a batch key that no other write shares
        return self.write(lambda _: [context.run(work, *args, **named)], None)

    def _loop(self) -> None:
        while not self._stopping:
            requests = self._gather()
            requests.sort(key=lambda request: id(request.write_all))
            for _, same_function in groupby(requests, key=lambda request: id(request.write_all)):
                _write_requests(list(same_function))
            self._batch_ended_at = time.monotonic()
        connection.close()

    def _gather(self) -> list[WriteRequest]:
        """Wait for requests to write to the database; if there are many, collect more for some milliseconds."""
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
    """Write the items of all write requests to the database, and give each waiting thread its result or error."""
    try:
        close_old_connections()
        skip_health_check_if_fresh()
        results = write_all_or_each(requests[0].write_all, [request.item for request in requests])
        outcomes = dict(zip(map(id, requests), results, strict=True))
    except BaseException as fault:  # most likely the database is down, so all of them fail
        connection.close()
        outcomes = {id(request): fault for request in requests}
    for request in requests:
        if isinstance(result := outcomes[id(request)], BaseException):
            request.result.set_exception(result)
        else:
            request.result.set_result(result)


def write_all_or_each(write_all: WriteAll[Item, Result], items: Sequence[Item]) -> Sequence[Result | Exception]:
    """Write items to the database in one batch; if the batch fails, write each item alone.

    The result of a failed item is its exception. Raises OperationalError, InterfaceError if the database is down.
    """
    try:
        return write_all(items)
    except Exception as fault:
        if isinstance(fault, DATABASE_ERRORS) and not _database_answers():
            raise
        return [fault] if len(items) == 1 else _write_each(write_all, items)


def _database_answers() -> bool:
    """Return whether the database still answers after a write has failed, as when only a row is locked."""
    return connection.is_usable()


def _write_each(write_all: WriteAll[Item, Result], items: Sequence[Item]) -> list[Result | Exception]:
    results: list[Result | Exception] = []
    blocked: list[Exception] = []
    for item in items:
        if len(blocked) > 1:  # a lock that all need is held elsewhere: they are retried
            results.append(blocked[0])
            continue
        [result] = write_all_or_each(write_all, [item])
        results.append(result)
        if isinstance(result, DATABASE_ERRORS):
            blocked.append(result)
    return results
