"""The two servers of a comparison, with their load and CPU time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import requests

from tests.bench.service import LOOPBACK
from tests.chaos.processes import Program
from tests.chaos.stack import ROOT, Stack, wait_until

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Side:
    """A server on loopback; `pids` are its processes."""

    port: int
    pids: Callable[[], list[int]]
    rates: list[float] = field(default_factory=list)  # requests/s of each burst
    p99s: list[float] = field(default_factory=list)  # ms, of each burst
    cpu_seconds: float = 0.0
    done: int = 0

    @property
    def rate(self) -> float:
        """Return the median rate of the bursts, in requests per second."""
        return median(self.rates)

    @property
    def p99(self) -> float:
        """Return the median of the bursts' 99th percentiles, in milliseconds."""
        return median(self.p99s)

    @property
    def cpu_ms(self) -> float:
        """Return the CPU time of the server's processes for each request, in milliseconds."""
        return 1000 * self.cpu_seconds / self.done

    def forget(self) -> None:
        """Start a new measurement."""
        self.rates, self.p99s, self.cpu_seconds, self.done = [], [], 0.0, 0

    def burst(self, sent: Sequence[str], *, seconds: float, connections: int = 16, rate: float | None = None) -> None:
        """Send a load to the server. Raises RuntimeError unless every answer is a success."""
        job = {"port": self.port, "requests": list(sent), "connections": connections, "seconds": seconds, "rate": rate}
        before = cpu_seconds(self.pids())
        command = [sys.executable, "-m", "tests.bench.load_generator"]
        done = subprocess.run(command, cwd=ROOT, input=json.dumps(job), capture_output=True, text=True, timeout=120)
        if done.returncode:
            raise RuntimeError(f"The load generator ended: {done.stderr}")
        result: dict[str, Any] = json.loads(done.stdout)
        if result["failed"]:
            raise RuntimeError(f"The server at port {self.port} answered with {result['failed']}.")
        self.cpu_seconds += cpu_seconds(self.pids()) - before
        self.done += result["done"]
        self.rates.append(result["done"] / result["seconds"])
        self.p99s.append(quantiles(result["latencies"], n=100, method="inclusive")[98])


def started(stack: Stack, name: str, command: Sequence[str], port: int) -> Program:
    """Start a server beside the service's own processes and wait until its /healthz answers."""
    program = Program(name, command, environ={**stack.environ, "PYTHONPATH": str(ROOT)}, logs=stack.logs)
    stack.manager.add(program)
    wait_until(lambda: _answers(port), name)
    return program


def cpu_seconds(pids: Sequence[int]) -> float:
    """Return the user and system time so far of these processes and all their descendants."""
    ticks, seen = 0, set(pids)
    waiting = list(seen)
    while waiting:
        pid = waiting.pop()
        below = set(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())) - seen
        seen |= below
        waiting += below
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / _TICKS


def request(method: str, path: str, *, port: int, key: str, body: dict[str, Any] | None = None, repeat_key: str = "") -> str:
    """Return a complete HTTP/1.1 request; `repeat_key` is its Idempotency-Key."""
    content = "" if body is None else json.dumps(body)
    lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", f"Authorization: Bearer {key}"]
    if body is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(content.encode())}"]
    if repeat_key:
        lines.append(f"Idempotency-Key: {repeat_key}")
    return "\r\n".join([*lines, "", content])


def _answers(port: int) -> bool:
    try:
        return LOOPBACK.get(f"http://127.0.0.1:{port}/healthz", timeout=2).status_code < 500
    except requests.RequestException:
        return False
