"""An API client that repeats requests without a definite answer with the same Idempotency-Key."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import requests

ANSWER_SECONDS = 15.0
IMPATIENT_SECONDS = 0.03
SLOW_SECONDS = 2.0
ENVELOPE = {"code", "message", "suggested_action", "auto_fixable", "trace_id"}


class Unanswered(Exception):
    """A request got no definite answer before the deadline."""


@dataclass(frozen=True)
class Reply:
    """A definite answer: its status and JSON."""

    status: int
    body: dict[str, Any]


@dataclass
class Answers:
    """Statistics of all clients: counts by kind, times of answers to posts, and forbidden answers."""

    note: Callable[[str], None]  # keeps what was slow or refused, with the time
    counts: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def came(self, method: str, path: str, response: requests.Response, seconds: float) -> None:
        """Count an answer; a 5xx must be a 503 with the error envelope and Retry-After."""
        if seconds > SLOW_SECONDS or response.status_code >= 500:
            self.note(f"{method} {path.partition('?')[0]} answered {response.status_code} after {seconds:.1f} s")
        with self._lock:
            self.counts[f"{response.status_code}"] += 1
            if method == "POST" and response.status_code == 201:
                self.seconds.append(seconds)
            if response.status_code < 400:
                return
            fault = _fault_of(response)
            if fault:
                self.wrong.append(f"{time.strftime('%X')} {method} {path}: {response.status_code}, {fault}")

    def lost(self, kind: str) -> None:
        """Count a request that got no answer."""
        with self._lock:
            self.counts[kind] += 1


class Client:
    """One API client; not thread-safe."""

    def __init__(self, base_url: str, token: str, answers: Answers, rng: random.Random) -> None:
        self._base_url = base_url
        self._answers = answers
        self._rng = rng
        self._token = token
        self._session = requests.Session()
        self._session.trust_env = False

    def call(
        self, method: str, path: str, body: Any = None, *, key: str | None = None, deadline: float, impatient: bool = False
    ) -> Reply:
        """Repeat a request until it gets a definite answer; raises Unanswered after `deadline` (monotonic seconds).

        An impatient caller gives the first try up at once, as one whose connection breaks.
        """
        headers = {"Authorization": f"Bearer {self._token}", **({"Idempotency-Key": key} if key else {})}
        timeout = IMPATIENT_SECONDS if impatient else ANSWER_SECONDS
        while time.monotonic() < deadline:
            pause = self._rng.uniform(0.2, 1.0)
            began = time.monotonic()
            try:
                response = self._session.request(method, self._base_url + path, json=body, headers=headers, timeout=timeout)
                self._answers.came(method, path, response, time.monotonic() - began)
                if _is_sure(response):
                    return Reply(response.status_code, response.json())
                pause = min(float(response.headers.get("Retry-After", pause)), 2.0)
            except requests.Timeout:
                self._answers.lost("impatient" if impatient else "no answer in time")
            except (requests.RequestException, ValueError):
                self._answers.lost("connection broken or refused")
            timeout, impatient = ANSWER_SECONDS, False
            time.sleep(pause)
        raise Unanswered(f"{method} {path} got no sure answer in time")


def _is_sure(response: requests.Response) -> bool:
    if response.status_code >= 500 or response.status_code == 429:
        return False
    return response.status_code != 409 or response.json().get("code") != "IDEMPOTENCY_IN_PROGRESS"


def _fault_of(response: requests.Response) -> str:
    try:
        body = response.json()
    except ValueError:
        return f"no JSON: {response.text[:80]!r}"
    if not isinstance(body, dict) or not set(body) >= ENVELOPE:
        return "not in the envelope"
    if response.status_code > 500 and "Retry-After" not in response.headers:
        return f"{body['code']} without Retry-After"
    return f"{body['code']}, trace {body['trace_id']}" if response.status_code == 500 else ""
