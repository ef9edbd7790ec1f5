"""Measures the service for a second tenant during an attack: reads, posts, deliveries and health checks."""

from __future__ import annotations

import statistics
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import requests

from tests.fakes.http_server import Answer, LoopbackServer, ReceivedRequest

PATIENCE_SECONDS = 10.0
PAUSES = {"read": 0.1, "post": 0.4, "health": 0.2}  # seconds between two probes of a kind
KINDS = ("read", "post", "delivery", "health")


class Receiver(LoopbackServer):
    """A webhook receiver that answers the second tenant's events, and never those of the attacker on other paths."""

    def __init__(self) -> None:
        super().__init__()
        self.arrived: dict[str, float] = {}  # when a group's first outcome came, by its id
        self._released = threading.Event()

    def answer(self, request: ReceivedRequest) -> Answer:
        if request.path != "/victim":
            self.hold(self._released)
            return Answer(200)
        event = request.json()
        if event["type"] == "post.published":
            self.arrived.setdefault(event["data"]["post_group"]["id"], time.monotonic())
        return Answer(200)


class Probes:
    """Runs the probes in threads (a context manager); `seconds` has times by kind, `faults` the failed answers."""

    def __init__(self, base_url: str, key: str, body: dict[str, Any], receiver: Receiver) -> None:
        self._base_url, self._key, self._receiver = base_url, key, receiver
        self._body = {**body, "webhook_url": f"{receiver.url}/victim"}
        self._ended = threading.Event()
        self._posted: dict[str, float] = {}
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.faults: list[str] = []
        probes: dict[str, Callable[[requests.Session], str]] = {
            "read": lambda session: self._ask(session, "GET", "/capabilities"),
            "post": self._post,
            "health": lambda session: self._ask(session, "GET", "/healthz"),
        }
        self._threads = [threading.Thread(target=self._repeat, args=each, daemon=True) for each in probes.items()]

    def __enter__(self) -> Probes:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()
        self._await_deliveries()

    def p95(self, kind: str) -> float:
        """Return the 95th percentile of a kind's times in seconds."""
        times = self.seconds[kind]
        return statistics.quantiles(times, n=20)[-1] if len(times) > 1 else float("inf")

    def _repeat(self, kind: str, probe: Callable[[requests.Session], str]) -> None:
        with requests.Session() as session:
            session.trust_env = False
            session.headers["Authorization"] = f"Bearer {self._key}"
            while not self._ended.is_set():
                began = time.monotonic()
                try:
                    fault = probe(session)
                except requests.RequestException as error:
                    fault = type(error).__name__
                self.seconds[kind].append(time.monotonic() - began)
                if fault:
                    self.faults.append(f"{kind}: {fault}")
                self._ended.wait(PAUSES[kind])

    def _ask(self, session: requests.Session, method: str, path: str) -> str:
        answer = session.request(method, self._base_url + path, timeout=PATIENCE_SECONDS)
        return "" if answer.ok else f"{answer.status_code} {answer.text[:200]}"

    def _post(self, session: requests.Session) -> str:
        answer = session.post(f"{self._base_url}/posts", json=self._body, timeout=PATIENCE_SECONDS)
        if not answer.ok:
            return f"{answer.status_code} {answer.text[:200]}"
        self._posted[answer.json()["post_group"]["id"]] = time.monotonic()
        return ""

    def _await_deliveries(self) -> None:
        """Wait for the deliveries of all posts."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not self._posted.keys() <= self._receiver.arrived.keys() and time.monotonic() < deadline:
            time.sleep(0.05)
        for group_id, posted in self._posted.items():
            arrived = self._receiver.arrived.get(group_id)
            self.seconds["delivery"].append((arrived or float("inf")) - posted)
            if arrived is None:
                self.faults.append(f"delivery: none of {group_id} within {PATIENCE_SECONDS:.0f} s after the attack")
