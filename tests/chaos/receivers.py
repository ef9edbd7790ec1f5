"""Webhook receivers that count deliveries, check signatures, and each fail in a different way."""

from __future__ import annotations

import hashlib
import hmac
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from tests.chaos.gate import Door, Gate, Gates
from tests.fakes.http_server import DROPPED, Answer, LoopbackServer, RawAnswer, ReceivedRequest

MISBEHAVES = 3  # attempts of a delivery at the most, so that the schedule always leaves one that is answered well
CLOCK_SECONDS = 300  # how far a signature's time may be off
DRIP_SECONDS = 0.5
DRIPS = 60


@dataclass
class Receipts:
    """The attempts that all receivers got by delivery id, those answered with success, and the digest of the body."""

    attempts: Counter[str] = field(default_factory=Counter)
    answered_well: Counter[str] = field(default_factory=Counter)
    digests: dict[str, bytes] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    secret: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, request: ReceivedRequest) -> int:
        """Check and record one attempt; returns the number of earlier ones."""
        delivery = request.headers.get("x-service-delivery-id", "")
        fault = self._fault(request)
        digest = hashlib.sha256(request.body).digest()
        with self.lock:
            if self.digests.setdefault(delivery, digest) != digest:
                fault = "the body is another than before"
            if fault:
                self.faults.append(f"{delivery}: {fault}")
            self.attempts[delivery] += 1
            return self.attempts[delivery] - 1

    def _fault(self, request: ReceivedRequest) -> str:
        pairs = [part.partition("=") for part in request.headers.get("x-service-signature", "").split(",")]
        times = [value for name, _, value in pairs if name == "t"]
        if not times or not times[0].isdecimal():
            return "the signature names no time"
        expected = hmac.new(self.secret.encode(), f"{times[0]}.".encode() + request.body, hashlib.sha256).hexdigest()
        if not any(name == "v1" and hmac.compare_digest(value, expected) for name, _, value in pairs):
            return "the signature does not fit"
        if abs(time.time() - int(times[0])) > CLOCK_SECONDS:
            return "the signature's time is not now"
        if json.loads(request.body).get("type") != request.headers.get("x-service-event"):
            return "the event of the header is not that of the body"
        return ""


Manner = Callable[[], Answer | RawAnswer]


class ChaosReceiver(LoopbackServer):
    """A receiver that answers 200, but fails the first attempts of a delivery with probability `chance`."""

    def __init__(self, receipts: Receipts, manner: Manner, chance: float, rng: random.Random) -> None:
        super().__init__()
        self._receipts = receipts
        self._manner = manner
        self._chance = chance
        self._rng = rng

    def answer(self, request: ReceivedRequest) -> Answer | RawAnswer:
        before = self._receipts.take(request)
        if before < MISBEHAVES and self._rng.random() < self._chance:
            return self._manner()
        self._receipts.answered_well[request.headers.get("x-service-delivery-id", "")] += 1
        return Answer(200)


class Receivers:
    """The receivers of a run; a context manager. `weights` says how often each URL should be asked for."""

    def __init__(self, gates: Gates, rng: random.Random) -> None:
        self._gates = gates
        self._rng = rng
        self._open = ExitStack()
        self._away: list[Gate] = []
        self.receipts = Receipts()
        self.weights: dict[str, int] = {}
        self.hopeless: set[str] = set()  # the URLs at which a dead letter may come out

    def __enter__(self) -> Receivers:
        for _ in range(2):
            self._add(lambda: Answer(200), 0.0, 12)
        self._add(lambda: Answer(500), 0.6, 5)
        self._add(lambda: DROPPED, 0.5, 4)
        self._add(lambda: RawAnswer(_drip()), 0.15, 3)
        self._add(lambda: RawAnswer(_never_close()), 0.15, 3)
        self._add(lambda: RawAnswer(_ten_megabytes()), 0.5, 3)
        self.hopeless.add(self._add(lambda: Answer(410), 1.0, 1))
        self._add(lambda: Answer(200), 0.0, 2, away=True)
        return self

    def __exit__(self, *_: Any) -> None:
        self._open.close()

    def come_back(self) -> None:
        """Make the receiver that was down answer from now on."""
        for gate in self._away:
            gate.set_door(Door.OPEN)

    def _add(self, manner: Manner, chance: float, weight: int, *, away: bool = False) -> str:
        receiver = ChaosReceiver(self.receipts, manner, chance, random.Random(self._rng.random()))
        url = f"{self._open.enter_context(receiver).url}/hook"
        if away:
            gate = self._gates.before(receiver.port)
            gate.set_door(Door.REFUSING)
            self._away.append(gate)
            url = f"{gate.url}/hook"
            self.hopeless.add(url)
        self.weights[url] = weight
        return url


def _drip() -> Iterator[bytes]:
    """Answer 200 with a body that arrives byte by byte and does not end in time."""
    yield b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
    for _ in range(DRIPS):
        time.sleep(DRIP_SECONDS)
        yield b"."


def _never_close() -> Iterator[bytes]:
    """Answer 200 without a length and leave the connection open."""
    yield b"HTTP/1.1 200 OK\r\n\r\nwelcome"
    time.sleep(DRIP_SECONDS * DRIPS)


def _ten_megabytes() -> Iterator[bytes]:
    """Answer 200 with a body of ten megabytes."""
    yield b"HTTP/1.1 200 OK\r\nContent-Length: 10485760\r\n\r\n"
    for _ in range(160):
        yield b"x" * 65_536
