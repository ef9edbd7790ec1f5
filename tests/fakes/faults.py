"""Faults that a test sets up for coming calls: the base class of the platforms' stand-ins.

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
    """The fault of one call to a stand-in.

    `after_accept`: the work is done first. The response waits for `release`; `answer` replaces it, `change` changes its body.
    """

    after_accept: bool
    answer: Answer | RawAnswer | None = None
    change: Callable[[bytes], bytes] | None = None
    release: threading.Event | None = None


class FaultyServer(LoopbackServer):
    """A stand-in whose calls can be made to fail, hang up or wait. `calls` are the names of its calls."""

    calls: frozenset[str] = frozenset()

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.RLock()
        self._faults_ahead: defaultdict[str, deque[Fault]] = defaultdict(deque)

    def call_of(self, request: ReceivedRequest) -> str:
        """The name of the call that a request makes."""
        raise NotImplementedError

    def perform(self, request: ReceivedRequest) -> Answer | RawAnswer:
        """Do the work and answer. Runs under the lock, one request at a time."""
        raise NotImplementedError

    def server_error(self, status: int) -> Answer:
        """The stand-in's response for an error of the server itself."""
        return Answer(status, b"the service met a fault")

    def refuse_next(self, call: str, answer: Answer | RawAnswer, times: int = 1, *, after_accept: bool = False) -> None:
        """Answer the next `times` calls with this response; with `after_accept` after doing their work."""
        self._add_fault(call, times, Fault(after_accept, answer))

    def fail_next(self, call: str, status: int = 503, times: int = 1, *, after_accept: bool = False) -> None:
        """Answer the next `times` calls with a server error; with `after_accept` after doing their work."""
        self._add_fault(call, times, Fault(after_accept, self.server_error(status)))

    def drop_next(self, call: str, *, after_accept: bool = True) -> None:
        """Close the connection of the next call without a response; with `after_accept` after doing its work."""
        self._add_fault(call, 1, Fault(after_accept, DROPPED))

    def hold_next(self, call: str) -> threading.Event:
        """Do the work of the next call, but send its response only when the returned event is set."""
        release = threading.Event()
        self._add_fault(call, 1, Fault(after_accept=True, release=release))
        return release

    def alter_next(self, call: str, change: Callable[[bytes], bytes]) -> None:
        """Do the work of the next call and change the body of its response by `change`."""
        self._add_fault(call, 1, Fault(after_accept=True, change=change))

    def faults_ahead(self, call: str) -> int:
        """The number of faults that are set up for a call and not used yet."""
        self._check_known(call)
        with self._lock:
            return len(self._faults_ahead[call])

    def forget_faults(self) -> None:
        """Remove all faults that are not used yet."""
        with self._lock:
            self._faults_ahead.clear()

    def requests_to(self, call: str) -> int:
        """The requests that made a call, in order, also those that failed."""
        self._check_known(call)
        return sum(self.call_of(request) == call for request in self.requests)

    def answer(self, request: ReceivedRequest) -> Answer | RawAnswer:
        """Answer a request: by the next fault of its call, otherwise by the call itself."""
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
