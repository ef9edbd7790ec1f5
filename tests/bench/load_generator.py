"""A fast HTTP load generator: `python -m tests.bench.load_generator` reads a job from stdin and prints the results.

The job is JSON: port, requests (whole HTTP/1.1 requests as text, sent in turn; each MARK in them becomes a number of its
own, as long), connections, seconds, and rate. Without a rate each connection sends as soon as it is answered; with one,
requests are due at fixed times, whatever the server does, and a latency counts from the time that one was due.
The answer is JSON: done, seconds (until the last answer), failed (answers by status), latencies (ms, sorted).
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter, deque
from typing import Any

MARK = "########"


class Burst:
    """The connections and results of one job."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.requests = [request.encode() for request in job["requests"]]
        self.rate: float | None = job.get("rate")
        self.length: float = job["seconds"]
        self.lines = [Line(self) for _ in range(job["connections"])]
        self.port: int = job["port"]
        self.sent = 0
        self.latencies: list[float] = []
        self.failed: Counter[int] = Counter()
        self.idle: deque[Line] = deque()
        self.overdue: deque[float] = deque()
        self.began = self.last = 0.0
        self.over = asyncio.Event()

    async def run(self) -> dict[str, Any]:
        """Connect, send all requests and wait for every answer."""
        loop = asyncio.get_running_loop()
        for line in self.lines:
            await loop.create_connection(lambda line=line: line, "127.0.0.1", self.port)  # type: ignore[misc]
        self.began = time.perf_counter()
        self.idle.extend(self.lines)
        if self.rate is None:
            while self.idle:
                self.send(self.idle.popleft(), time.perf_counter())
            await self.over.wait()
        else:
            await self._on_time(self.rate)
        return {
            "done": len(self.latencies),
            "seconds": self.last - self.began,
            "failed": dict(self.failed),
            "latencies": sorted(round(1000 * latency, 3) for latency in self.latencies),
        }

    async def _on_time(self, rate: float) -> None:
        for number in range(int(rate * self.length)):
            due = self.began + number / rate
            if (early := due - time.perf_counter()) > 0:
                await asyncio.sleep(early)
            if self.idle:
                self.send(self.idle.popleft(), due)
            else:
                self.overdue.append(due)
        if len(self.idle) < len(self.lines):
            await self.over.wait()

    def send(self, line: Line, due: float) -> None:
        """Send the next request."""
        self.sent += 1
        request = self.requests[self.sent % len(self.requests)]
        line.send(request.replace(MARK.encode(), b"%08d" % self.sent), due)

    def answered(self, line: Line, status: int, due: float) -> None:
        """Record the answer and send the next request on the connection."""
        self.last = time.perf_counter()
        self.latencies.append(self.last - due)
        if not 200 <= status < 300:
            self.failed[status] += 1
        if self.rate is None and self.last - self.began < self.length:
            self.send(line, self.last)
        elif self.overdue:
            self.send(line, self.overdue.popleft())
        else:
            self.idle.append(line)
            all_sent = self.rate is None or self.sent >= int(self.rate * self.length)
            if all_sent and len(self.idle) == len(self.lines):
                self.over.set()


class Line(asyncio.Protocol):
    """A persistent connection with at most one request in progress."""

    def __init__(self, burst: Burst) -> None:
        self.burst = burst
        self._received = b""
        self._length = 0  # of the whole answer, once its head is there
        self._due = 0.0
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def send(self, request: bytes, due: float) -> None:
        """Write a complete request."""
        assert self._transport is not None
        self._due = due
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._received += data
        if not self._length and (end := self._received.find(b"\r\n\r\n")) >= 0:
            head = self._received[:end].lower()
            self._length = end + 4 + int(head.partition(b"\r\ncontent-length:")[2].partition(b"\r\n")[0])
        if self._length and len(self._received) >= self._length:
            status = int(self._received[9:12])
            self._received, self._length = b"", 0
            self.burst.answered(self, status, self._due)

    def connection_lost(self, exc: Exception | None) -> None:
        sys.exit(f"The server closed a connection: {exc}")


async def _main() -> None:
    burst = Burst(json.load(sys.stdin))
    sys.stdout.write(json.dumps(await burst.run()))
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(_main())
