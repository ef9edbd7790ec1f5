"""The writing thread of a worker: what its publishing threads have to tell the database goes over one connection.

What comes while it is writing is written next, in as few statements as that takes. So the costs of a transaction are shared
the more, the more there is to do, and a platform that hangs holds threads but no connections. Where there is no writing
thread, as in a command, everybody writes for themselves.
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

from config.db.connection import trust_if_fresh
from config.db.outage import DATABASE_ERRORS

Item = TypeVar("Item")
Result = TypeVar("Result")
WriteAll = Callable[[Sequence[Item]], Sequence[Result]]  # in transactions of its own; a result for each item
MOST_AT_ONCE = 100
GATHER_SECONDS, GATHER_AFTER_SECONDS = 0.02, 0.25

_of_thread = threading.local()


@dataclass
class WriteRequest:
    """One thread's item, and the promise of what comes of it."""

    write_all: WriteAll[Any, Any]
    item: Any
    result: Future[Any] = field(default_factory=Future)


class Writer:
    """The thread; `serve` is called in each thread that is to write through it."""

    def __init__(self) -> None:
        self._requests: SimpleQueue[WriteRequest | None] = SimpleQueue()
        self._ended = float("-inf")
        self._stopping = False
        self._thread = threading.Thread(target=self._loop, name="publish-writer", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, seconds: float) -> None:
        """End the thread when everything is written that was asked for before."""
        self._requests.put(None)
        self._thread.join(seconds)

    def serve(self) -> None:
        _of_thread.writer = self

    def write(self, write_all: WriteAll[Item, Result], item: Item) -> Result:
        """Write the item together with others and return what came of it; raises what the database raised."""
        request = WriteRequest(write_all, item)
        self._requests.put(request)
        result: Result = request.result.result()
        return result

    def _loop(self) -> None:
        while not self._stopping:
            requests = self._gather()
            requests.sort(key=lambda request: id(request.write_all))
            for _, alike in groupby(requests, key=lambda request: id(request.write_all)):
                _carry_out(list(alike))
            self._ended = time.monotonic()
        connection.close()

    def _gather(self) -> list[WriteRequest]:
        """What waits to be written, once there is something; where much is written, some milliseconds' worth of it."""
        first = self._requests.get()
        if time.monotonic() - self._ended < GATHER_AFTER_SECONDS:
            time.sleep(GATHER_SECONDS)
        requests = [first]
        while len(requests) < MOST_AT_ONCE:
            try:
                requests.append(self._requests.get_nowait())
            except Empty:
                break
        self._stopping = None in requests
        return [request for request in requests if request is not None]


def _carry_out(requests: Sequence[WriteRequest]) -> None:
    """Write them and tell each what came of it, whatever happens: their threads wait for it."""
    try:
        close_old_connections()
        trust_if_fresh()
        results = all_or_each(requests[0].write_all, [request.item for request in requests])
        told = dict(zip(map(id, requests), results, strict=True))
    except BaseException as fault:  # the database is away, most likely, for all of them
        connection.close()
        told = {id(request): fault for request in requests}
    for request in requests:
        if isinstance(result := told[id(request)], BaseException):
            request.result.set_exception(result)
        else:
            request.result.set_result(result)


def all_or_each(write_all: WriteAll[Item, Result], items: Sequence[Item]) -> Sequence[Result | Exception]:
    """Write the items together, or each alone when one of them cannot be written: it gets its fault for a result.

    Raises OperationalError, InterfaceError when the database is away.
    """
    try:
        return write_all(items)
    except Exception as fault:
        if isinstance(fault, DATABASE_ERRORS) and not _database_answers():
            raise
        return [fault] if len(items) == 1 else _each(write_all, items)


def _each(write_all: WriteAll[Item, Result], items: Sequence[Item]) -> list[Result | Exception]:
    results: list[Result | Exception] = []
    held_up: list[Exception] = []
    for item in items:
        if len(held_up) > 1:  # what they all need is locked by somebody: they come again
            results.append(held_up[0])
            continue
        [result] = all_or_each(write_all, [item])
        results.append(result)
        if isinstance(result, DATABASE_ERRORS):
            held_up.append(result)
    return results


def _database_answers() -> bool:
    """What tells a database that is away from a row that somebody else holds locked: both are OperationalErrors."""
    return connection.is_usable()


def write_batched(write_all: WriteAll[Item, Result], item: Item) -> Result:
    """Write one item through this thread's writer, where it has one; raises what the database raised."""
    writer: Writer | None = getattr(_of_thread, "writer", None)
    return write_all([item])[0] if writer is None else writer.write(write_all, item)


def run_on_writer(call: Callable[..., Result], *args: Any, **named: Any) -> Result:
    """A short call that uses the database, made alone over the writer's connection, in the trace of this thread."""
    context = copy_context()  # and a function of its own below, with which nothing else is written together
    return write_batched(lambda _: [context.run(call, *args, **named)], None)
