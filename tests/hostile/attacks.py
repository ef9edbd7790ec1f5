"""The attacks that one caller can make, limited in number and time.

An attack gets the `Target` and returns when it is over. What the service answers to it is counted, not judged: the
second tenant's probes (tests/hostile/probes.py) show whether the service withstood it.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import requests

from tests.hostile.texts import SHAPES, hostile_text

SECONDS = 5.0  # of an attack
AT_ONCE = 20  # connections or callers, more than all threads of two web processes


@dataclass
class Target:
    """The attacked service and the attacker's means: a workspace with a key, sandbox accounts and servers."""

    base_url: str
    workspace_id: str
    key: str
    accounts: list[dict[str, str]]
    held_url: str  # a receiver that takes a request and does not answer, at the second tenant's host and port
    tarpit_url: str  # a server that accepts connections and says nothing
    answers: dict[str, int] = field(default_factory=dict)  # what the attack was answered, by status
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def request(self, method: str, path: str, body: Any = None) -> None:
        """Send a request as the attacker and count the answer."""
        with requests.Session() as session:
            session.trust_env = False
            try:
                headers = {"Authorization": f"Bearer {self.key}"}
                answer = session.request(method, self.base_url + path, json=body, headers=headers, timeout=60)
                self.count(str(answer.status_code))
            except requests.RequestException as error:
                self.count(type(error).__name__)

    def count(self, answer: str) -> None:
        """Count one answer."""
        with self._lock:
            self.answers[answer] = self.answers.get(answer, 0) + 1

    def connect(self) -> socket.socket:
        """Return a connection to the service."""
        parts = urlsplit(self.base_url)
        return socket.create_connection((parts.hostname or "", parts.port or 80), timeout=5)

    def post_body(self, **content: Any) -> dict[str, Any]:
        """Return the body of a sandbox post to one account."""
        return {"workspace_id": self.workspace_id, "text": "Hello", "targets": self.accounts[:1], **content}


Attack = Callable[[Target], None]


def repeated(work: Callable[[int], None], *, at_once: int = AT_ONCE, times: int = 10_000) -> None:
    """Run `at_once` callers for SECONDS, at most `times` calls in total."""
    deadline, numbers = time.monotonic() + SECONDS, iter(range(times))
    lock = threading.Lock()

    def caller() -> None:
        while time.monotonic() < deadline:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            work(number)

    with ThreadPoolExecutor(at_once) as pool:
        for _ in range(at_once):
            pool.submit(caller)


@contextmanager
def connections(target: Target, beginning: str, count: int = AT_ONCE) -> Iterator[list[socket.socket]]:
    """Open connections and send `beginning` on each."""
    with ExitStack() as stack:
        lines = []
        for _ in range(count):
            line = stack.enter_context(target.connect())
            line.sendall(beginning.replace("{token}", target.key).encode())
            lines.append(line)
        yield lines


def slow_requests(beginning: str, dribble: bytes) -> Attack:
    """Send the start of requests, then single bytes from time to time."""

    def attack(target: Target) -> None:
        deadline = time.monotonic() + SECONDS
        with connections(target, beginning) as lines:
            while time.monotonic() < deadline:
                for line in lines:
                    with suppress(OSError):
                        line.sendall(dribble)
                time.sleep(1.0)

    return attack


def idle_connections(target: Target) -> None:
    """Open many connections and send nothing."""
    with connections(target, "", count=400):
        time.sleep(SECONDS)


def unread_answers(target: Target) -> None:
    """Request long answers and do not read them."""
    ask = "GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 20
    with connections(target, ask):
        time.sleep(SECONDS)


def quadratic_pattern(target: Target) -> None:
    """Send a string on which a backtracking pattern would take half a minute."""
    youtube = next(account for account in target.accounts if account["platform"] == "youtube")
    body = target.post_body(targets=[{**youtube, "options": {"title": "a" * 900_000 + "<"}}])
    repeated(lambda _: target.request("POST", "/posts/validate", body), at_once=8)


def expensive_texts(target: Target) -> None:
    """Send long texts that are expensive to count, for all platforms at once."""
    texts = [hostile_text(shape) for shape in SHAPES]

    def ask(number: int) -> None:
        body = target.post_body(text=texts[number % len(texts)], targets=target.accounts)
        target.request("POST", "/posts/validate", body)

    repeated(ask, at_once=8)


def deep_bodies(target: Target) -> None:
    """Send bodies of a megabyte with deep nesting."""
    bodies = ["[" * 490_000, '{"a":' * 160_000, "[[]," * 240_000 + "[]" + "]" * 2, '{"text": "' + "\\ud800" * 160_000]

    def ask(number: int) -> None:
        headers = {"Authorization": f"Bearer {target.key}", "Content-Type": "application/json"}
        with suppress(requests.RequestException):
            answer = requests.post(  # noqa: TID251 (the attacker is not the service)
                f"{target.base_url}/posts", data=bodies[number % len(bodies)], headers=headers, timeout=30
            )
            target.count(str(answer.status_code))

    repeated(ask, at_once=8)


def silent_names_in_batches(target: Target) -> None:
    """Send batches with webhook hosts for which no name server answers."""

    def ask(number: int) -> None:
        posts = [
            target.post_body(draft=True, webhook_url=f"https://b{number}x{place}.silent.example.com/hook")
            for place in range(20)
        ]
        for post in posts:
            post.pop("workspace_id")
        target.request("POST", "/posts/batch", {"workspace_id": target.workspace_id, "posts": posts})

    repeated(ask, at_once=8)


def silent_receivers(target: Target) -> None:
    """Create posts whose events go to many hosts that do not resolve."""

    def ask(number: int) -> None:
        target.request("POST", "/posts", target.post_body(webhook_url=f"https://r{number}.silent.example.com/hook"))

    repeated(ask, at_once=4, times=600)


def held_deliveries(target: Target) -> None:
    """Create posts whose events go to a receiver that never answers, at the host and port of another tenant's receiver."""

    def ask(number: int) -> None:
        target.request("POST", "/posts", target.post_body(webhook_url=f"{target.held_url}/held{number}"))

    repeated(ask, at_once=4, times=100)


def tarpit_uploads(target: Target) -> None:
    """Upload media from a URL that never answers."""

    def ask(number: int) -> None:
        body = {"workspace_id": target.workspace_id, "source_url": f"{target.tarpit_url}/{number}.jpg"}
        target.request("POST", "/media", body)

    repeated(ask, at_once=16)


def tarpit_connects(target: Target) -> None:
    """Connect accounts at a server that never answers."""

    def ask(number: int) -> None:
        credentials = {"instance": target.tarpit_url, "access_token": f"token{number}"}
        body = {"workspace_id": target.workspace_id, "platform": "mastodon", "method": "credentials"}
        target.request("POST", "/accounts/connect", {**body, "credentials": credentials})

    repeated(ask, at_once=16)


def waits(target: Target) -> None:
    """Wait for posts that are scheduled much later."""

    def ask(number: int) -> None:
        target.request("POST", "/posts", target.post_body(wait=True, webhook_url=f"{target.held_url}/wait"))

    repeated(ask, at_once=16, times=400)


_JSON = "Host: 127.0.0.1\r\nContent-Type: application/json\r\n"
_BEARER = "Authorization: Bearer {token}\r\n"
_CHUNKED = "Transfer-Encoding: chunked\r\n\r\n"
_UPLOAD = "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 5000000\r\n\r\n--x"

ATTACKS: dict[str, Attack] = {
    "slow heads": slow_requests("POST /posts HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ", b"a"),
    "slow bodies, no token": slow_requests(f"POST /posts HTTP/1.1\r\n{_JSON}Content-Length: 99999\r\n\r\n", b" "),
    "slow bodies": slow_requests(f"POST /posts HTTP/1.1\r\n{_JSON}{_BEARER}Content-Length: 99999\r\n\r\n", b" "),
    "slow chunks": slow_requests(f"POST /posts HTTP/1.1\r\n{_JSON}{_BEARER}{_CHUNKED}", b"1\r\n \r\n"),
    "identity, chunked": slow_requests(
        f"POST /posts HTTP/1.1\r\n{_JSON}Transfer-Encoding: identity, chunked\r\n\r\n", b"1\r\n \r\n"
    ),
    "slow uploads": slow_requests(f"POST /media HTTP/1.1\r\nHost: 127.0.0.1\r\n{_BEARER}{_UPLOAD}", b"a"),
    "slow pages": slow_requests(
        "POST /dashboard/sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 999999\r\n\r\na=", b"a"
    ),
    "slow console": slow_requests("POST /admin/login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 999999\r\n\r\na=", b"a"),
    "idle connections": idle_connections,
    "unread answers": unread_answers,
    "a quadratic pattern": quadratic_pattern,
    "dear texts": expensive_texts,
    "deep bodies": deep_bodies,
    "silent names in batches": silent_names_in_batches,
    "silent receivers": silent_receivers,
    "held deliveries": held_deliveries,
    "uploads from a tarpit": tarpit_uploads,
    "accounts at a tarpit": tarpit_connects,
    "waiting callers": waits,
}
