"""Faults that a test arranges ahead: the base of the stand-ins of platforms.

A subclass says which call a request is (`call_of`) and does the work (`perform`, under the lock). Each call may have
faults waiting, used up one by one.
"""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from tests.fakes.http_server import DROPPED, Answer, LoopbackServer, RawAnswer, ReceivedRequest


@dataclass(frozen=True)
class Fault:
    """What befalls one call: the work is done or not, `release` is waited for, `answer` replaces the real one, and `change`
    turns the body of the real one into another."""

    after_accept: bool
    answer: Answer | RawAnswer | None = None
    change: Callable[[bytes], bytes] | None = None
    release: threading.Event | None = None


class FaultyServer(LoopbackServer):
    """A stand-in whose calls can be made to fail, hang up or wait. `calls` are the names that it knows."""

    calls: frozenset[str] = frozenset()

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.RLock()
        self._faults_ahead: defaultdict[str, deque[Fault]] = defaultdict(deque)

    def call_of(self, request: ReceivedRequest) -> str:
        """The name of the call that this request is."""
        raise NotImplementedError

    def perform(self, request: ReceivedRequest) -> Answer | RawAnswer:
        """Do the work and answer. Runs under the lock, one request at a time."""
        raise NotImplementedError

    def server_error(self, status: int) -> Answer:
        """How this service words a fault of its own."""
        return Answer(status, b"the service met a fault")

    def refuse_next(self, call: str, answer: Answer | RawAnswer, times: int = 1, *, after_accept: bool = False) -> None:
        """The next `times` calls get this answer, having done the work first when `after_accept`."""
        self._add_fault(call, times, Fault(after_accept, answer))

    def fail_next(self, call: str, status: int = 503, times: int = 1, *, after_accept: bool = False) -> None:
        """The next `times` calls answer a server error, having done the work first when `after_accept`."""
        self._add_fault(call, times, Fault(after_accept, self.server_error(status)))

    def drop_next(self, call: str, *, after_accept: bool = True) -> None:
        """The next call has its connection closed without an answer, after the work when `after_accept`."""
        self._add_fault(call, 1, Fault(after_accept, DROPPED))

    def hold_next(self, call: str) -> threading.Event:
        """The next call is done, but its answer stays back until the returned event is set."""
        release = threading.Event()
        self._add_fault(call, 1, Fault(after_accept=True, release=release))
        return release

    def alter_next(self, call: str, change: Callable[[bytes], bytes]) -> None:
        """The next call is done, and `change` turns the body of its answer into another."""
        self._add_fault(call, 1, Fault(after_accept=True, change=change))

    def faults_ahead(self, call: str) -> int:
        """How many faults wait for this call."""
        self._check_known(call)
        with self._lock:
            return len(self._faults_ahead[call])

    def forget_faults(self) -> None:
        """Take back every fault that waits."""
        with self._lock:
            self._faults_ahead.clear()

    def requests_to(self, call: str) -> int:
        """Requests that arrived for this call, whatever became of them."""
        self._check_known(call)
        return sum(self.call_of(request) == call for request in self.requests)

    def answer(self, request: ReceivedRequest) -> Answer | RawAnswer:
        """The fault that waits for this call first, then the call itself."""
        with self._lock:
            waiting = self._faults_ahead[self.call_of(request)]
            fault = waiting.popleft() if waiting else None
        if fault is None:
            return self._locked(request)
        performed = self._locked(request) if fault.after_accept else DROPPED
        if fault.release:
            self.hold(fault.release)
        if fault.change and isinstance(performed, Answer):
            return replace(performed, body=fault.change(performed.body))
        return fault.answer or performed

    def _locked(self, request: ReceivedRequest) -> Answer | RawAnswer:
        with self._lock:
            return self.perform(request)

    def _add_fault(self, call: str, times: int, fault: Fault) -> None:
        self._check_known(call)
        with self._lock:
            self._faults_ahead[call].extend([fault] * times)

    def _check_known(self, call: str) -> None:
        if call not in self.calls:
            raise ValueError(f"the stand-in has no call {call!r}")
