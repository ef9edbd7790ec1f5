"""Starts the service for benchmarks: two web processes and two workers with their own PostgreSQL and Redis."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from tests.bench.certificate import write_certificate
from tests.chaos.processes import Program, free_port
from tests.chaos.stack import ROOT, DistributedStack, EmbeddedStack, Stack, wait_until

ACCOUNTS = 40
LOOPBACK = requests.Session()  # to stand-ins, past any proxy of the machine
LOOPBACK.trust_env = False
SETTINGS = {"PUBLISH_RETRY_SCHEDULE": "10,30,120,600,1800,3600", "WEBHOOK_RETRY_SCHEDULE": "5,300,1800"}


class Service:
    """A running service with a workspace, its key with every scope, and accounts at a stand-in.

    It trusts receivers that show the `certificate`, whose key is in `certificate_key`.
    """

    def __init__(self, stack: Stack, stand_in: StandInProcess, certificate: Path, certificate_key: Path) -> None:
        self.certificate = certificate
        self.certificate_key = certificate_key
        self.stack = stack
        self.stand_in = stand_in
        self.workspace_id = stack.demo["workspace_id"]
        self.key = stack.demo["api_key"]
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.headers["Authorization"] = f"Bearer {self.key}"
        self.accounts: list[str] = []
        self.held_at_start: dict[str, float] = {}  # memory in MB by kind of process (tests/bench/memory.py)

    @property
    def on_postgres(self) -> bool:
        return self.stack.environ["DATABASE_URL"].startswith("postgres")

    def call(self, method: str, path: str, body: dict[str, Any] | None = None, **query: Any) -> dict[str, Any]:
        """Call the API; raises unless the call succeeds."""
        answer = self._session.request(method, self.stack.base_url + path, json=body, params=query, timeout=60)
        if not answer.ok:
            raise RuntimeError(f"{method} {path}: {answer.status_code} {answer.text[:500]}")
        content: dict[str, Any] = answer.json()
        return content

    def prepare(self) -> None:
        """Set an unlimited budget and connect the accounts."""
        self.call("PATCH", f"/workspaces/{self.workspace_id}", {"monthly_spend_cap_cents": 1_000_000_000})
        for number in range(ACCOUNTS):
            credentials = {"identifier": f"bench{number}.test", "app_password": "abcd-efgh-ijkl-mnop"}
            body = {"workspace_id": self.workspace_id, "platform": "bluesky", "method": "credentials"}
            made = self.call("POST", "/accounts/connect", {**body, "credentials": credentials})
            self.accounts.append(made["account"]["id"])


class StandInProcess:
    """Runs tests/bench/stand_in.py in its own process."""

    def __init__(self, stack: Stack) -> None:
        self.port = free_port()
        command = [sys.executable, "-m", "tests.bench.stand_in", "--port", str(self.port)]
        program = Program("stand-in", command, environ=dict(stack.environ, PYTHONPATH=str(ROOT)), logs=stack.logs)
        stack.manager.add(program)
        wait_until(self._answers, "the stand-in")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def received(self) -> list[tuple[str, float]]:
        """Return the posts received: (text, Unix seconds)."""
        answer = LOOPBACK.get(f"{self.url}/received", timeout=60)
        return [(text, at) for text, at in answer.json()]

    def count(self) -> int:
        """Return the number received."""
        return int(LOOPBACK.get(f"{self.url}/count", timeout=60).json())

    def begin(self, *, pause: float) -> None:
        """Clear the received posts, and answer after `pause` seconds from now on."""
        LOOPBACK.post(f"{self.url}/clear", params={"pause": pause}, timeout=10).raise_for_status()

    def _answers(self) -> bool:
        try:
            return LOOPBACK.get(f"{self.url}/received", timeout=2).ok
        except requests.RequestException:
            return False


@contextmanager
def running(home: Path, *, embedded: bool) -> Iterator[Service]:
    """Start the service with its stand-in and accounts; stop everything after the block."""
    kind = EmbeddedStack if embedded else DistributedStack
    (home / "data").mkdir(parents=True)
    stack = kind(home, SETTINGS, random.Random(1))
    try:
        stand_in = StandInProcess(stack)
        stack.environ["BLUESKY_API_BASE"] = stand_in.url
        certificate, key = write_certificate(home)
        stack.environ["SSL_CERT_FILE"] = str(certificate)
        stack.start()
        service = Service(stack, stand_in, certificate, key)
        service.prepare()
        yield service
    finally:
        stack.stop()
