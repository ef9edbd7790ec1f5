"""Group commit: what several threads want to write at the same moment, one of them writes for all in one transaction."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from django.db import InterfaceError, OperationalError

Item = TypeVar("Item")
MOST_AT_ONCE = 50
GATHER_SECONDS, GATHER_AFTER_SECONDS = 0.008, 0.05


class _Ticket(Generic[Item]):
    """One thread's item and what came of it."""

    def __init__(self, item: Item) -> None:
        self.item = item
        self.written: bool | None = None
        self.fault: Exception | None = None


class WrittenTogether(Generic[Item]):
    """`write_all` writes items in one transaction of its own and says of each whether it took effect.

    A thread that is alone writes at once; threads that come while another is writing are written together next. When
    another's write has only just ended, the next waits a few milliseconds for company. So the costs of a transaction are
    shared the more, the more there is to do.
    """

    def __init__(self, write_all: Callable[[Sequence[Item]], list[bool]]) -> None:
        self._write_all = write_all
        self._lock = threading.Lock()
        self._waiting: list[_Ticket[Item]] = []
        self._writer = threading.Lock()
        self._last = threading.get_ident(), float("-inf")

    def write(self, item: Item) -> bool:
        """Write the item and return whether it took effect; raises what the database raised."""
        ticket = _Ticket(item)
        with self._lock:
            self._waiting.append(ticket)
        while ticket.written is None and ticket.fault is None:
            with self._writer:
                if ticket.written is None and ticket.fault is None:
                    self._wait_for_company()
                    self._write_next()
                    self._last = threading.get_ident(), time.monotonic()
        if ticket.fault is not None:
            raise ticket.fault
        return bool(ticket.written)

    def _wait_for_company(self) -> None:
        writer, ended = self._last
        if writer != threading.get_ident() and time.monotonic() - ended < GATHER_AFTER_SECONDS:
            time.sleep(GATHER_SECONDS)

    def _write_next(self) -> None:
        with self._lock:
            batch, self._waiting = self._waiting[:MOST_AT_ONCE], self._waiting[MOST_AT_ONCE:]
        try:
            self._write(batch)
        except (OperationalError, InterfaceError) as fault:  # the database is away, for all of them
            for ticket in batch:
                ticket.fault = fault
        except Exception as fault:
            if len(batch) == 1:
                batch[0].fault = fault
            for ticket in batch if len(batch) > 1 else ():
                self._write_alone(ticket)  # one of them cannot be written: it alone shall fail

    def _write(self, batch: Sequence[_Ticket[Item]]) -> None:
        for ticket, written in zip(batch, self._write_all([ticket.item for ticket in batch]), strict=True):
            ticket.written = written

    def _write_alone(self, ticket: _Ticket[Item]) -> None:
        try:
            self._write([ticket])
        except Exception as fault:
            ticket.fault = fault
