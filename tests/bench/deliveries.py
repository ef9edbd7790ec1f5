"""Benchmarks webhook delays at a fast receiver while other receivers hang."""

from __future__ import annotations

import sys
import time
from datetime import datetime
from pathlib import Path
from statistics import quantiles

import requests

from tests.bench.measure import Row, at_most
from tests.bench.service import LOOPBACK, Service
from tests.chaos.processes import Program, free_port
from tests.chaos.stack import ROOT, Stack, wait_until

BATCH = 50


class Receivers:
    """Runs tests/bench/receivers.py in its own process, with the given number of receivers that never answer.

    `tls`, a certificate and its key, makes it speak HTTPS; with `secret` it refuses what is not signed by that.
    """

    def __init__(self, stack: Stack, *, silent: int, tls: tuple[Path, Path] | None = None, secret: str = "") -> None:
        self._port = free_port()
        self._certificate = tls[0] if tls else None
        command = [sys.executable, "-m", "tests.bench.receivers", "--port", str(self._port), "--secret", secret]
        if tls:
            command += ["--certificate", str(tls[0]), "--key", str(tls[1])]
        command += ["--silent", str(silent)]
        environ = dict(stack.environ, PYTHONPATH=str(ROOT))
        stack.manager.add(Program("receivers", command, environ=environ, logs=stack.logs))
        wait_until(self._answers, "the receivers")
        self.silent: list[int] = self._get("silent").json()

    @property
    def url(self) -> str:
        """The URL of the receiver that answers."""
        return f"http{'s' if self._certificate else ''}://127.0.0.1:{self._port}/"

    @property
    def silent_urls(self) -> list[str]:
        return [f"http://127.0.0.1:{port}/" for port in self.silent]

    def received(self) -> list[tuple[str, str, float]]:
        """Return the deliveries received: (event id, created_at, Unix seconds)."""
        return [(event_id, created, at) for event_id, created, at in self._get("received").json()]

    def delays(self) -> list[float]:
        """Return the seconds from the creation of each event to its arrival."""
        return [at - datetime.fromisoformat(created).timestamp() for _, created, at in self.received()]

    def count(self) -> int:
        """Return the number received."""
        return int(self._get("count").json())

    def wait_for(self, count: int, *, seconds: float) -> None:
        """Wait until this many arrived; raises RuntimeError after the time-out."""
        deadline = time.monotonic() + seconds
        while (arrived := self.count()) < count:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{arrived} of {count} deliveries arrived within {seconds:g} s.")
            time.sleep(0.5)

    def clear(self) -> None:
        """Clear the received deliveries."""
        LOOPBACK.post(f"{self.url}clear", timeout=10, verify=self._trusted).raise_for_status()

    @property
    def _trusted(self) -> str | bool:
        return str(self._certificate) if self._certificate else True

    def _get(self, path: str, *, seconds: float = 60) -> requests.Response:
        return LOOPBACK.get(f"{self.url}{path}", timeout=seconds, verify=self._trusted)

    def _answers(self) -> bool:
        try:
            return self._get("count", seconds=2).ok
        except requests.RequestException:
            return False


def publish_now(service: Service, *, urls: list[str]) -> None:
    """Publish one sandbox post for each receiver URL."""
    posts = [
        {
            "text": f"Told to somebody, {number}",
            "sandbox": True,
            "webhook_url": url,
            "targets": [{"platform": "bluesky", "connected_account_id": service.accounts[number % len(service.accounts)]}],
        }
        for number, url in enumerate(urls)
    ]
    for begin in range(0, len(posts), BATCH):
        service.call("POST", "/posts/batch", {"workspace_id": service.workspace_id, "posts": posts[begin : begin + BATCH]})


def delays_beside_silent_ones(service: Service, *, silent: int, held: int, healthy: int, seconds: float) -> list[float]:
    """Return the sorted delays in seconds of `healthy` deliveries while `silent` receivers hold up `held` others."""
    receivers = Receivers(service.stack, silent=silent)
    urls = receivers.silent_urls
    publish_now(service, urls=[urls[number % silent] for number in range(held)])
    publish_now(service, urls=[receivers.url] * healthy)
    receivers.wait_for(healthy, seconds=seconds)
    return sorted(receivers.delays())


def rows(service: Service) -> list[Row]:
    """Measure delivery delays while a hundred silent receivers hold up five thousand deliveries."""
    delays = delays_beside_silent_ones(service, silent=100, held=5000, healthy=500, seconds=240)
    late = quantiles(delays, n=100, method="inclusive")[94]
    name = "100 dead receivers hold 5,000 deliveries: p95 at a healthy one, s"
    return [at_most(name, f"{late:.2f} s", late, 5.0)]
