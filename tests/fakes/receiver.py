"""A webhook receiver: records raw bodies and headers, and answers by a script."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Mapping
from enum import Enum, auto

from tests.fakes.http_server import DROPPED, Answer, LoopbackServer, RawAnswer, ReceivedRequest

DRIP_INTERVAL = 0.05  # seconds between two bytes: far under any read timeout, so only a total deadline ends it
DRIP_LIMIT = 600  # bytes, the bound of a drip that nobody releases


class Manner(Enum):
    """Ways in which a webhook receiver misbehaves instead of answering."""

    HANG = auto()  # no byte until release(), then 200
    DRIP_HEAD = auto()  # status line at once, then an endless header, byte by byte
    DRIP_BODY = auto()  # status 200 and headers at once, then an endless body, byte by byte
    DROP = auto()  # the connection is closed without an answer


Step = int | Answer | Manner
"""One entry of a script: a status, a complete response, or a way of misbehaving."""


def answer_with(status: int, headers: Mapping[str, str]) -> Answer:
    """A receiver's response with headers, such as `answer_with(503, {"Retry-After": "120"})`."""
    return Answer(status, headers=headers)


def redirect_to(url: str, status: int = 302) -> Answer:
    """A receiver's redirect to `url`."""
    return Answer(status, headers={"Location": url})


class Receiver(LoopbackServer):
    """A subscriber's webhook endpoint. It answers by the script, one entry for each request, then always by `otherwise`.

    `requests` and `wait_for(count, timeout)` give what arrived, with the body's bytes untouched.
    """

    def __init__(self, *script: Step, otherwise: Step = 200) -> None:
        super().__init__()
        self.otherwise = otherwise
        self._script = deque(script)
        self._script_lock = threading.Lock()
        self._released = threading.Event()
        self._held.add(self._released)  # closing the server releases too

    def will_answer(self, *script: Step) -> None:
        """Replace the rest of the script."""
        with self._script_lock:
            self._script = deque(script)

    def release(self) -> None:
        """End every hanging and dripping response, also later ones."""
        self._released.set()

    def answer(self, request: ReceivedRequest) -> Answer | RawAnswer:
        """The script's entry for the next request."""
        with self._script_lock:
            step = self._script.popleft() if self._script else self.otherwise
        match step:
            case int():
                return Answer(step)
            case Answer():
                return step
            case Manner.HANG:
                self.hold(self._released)
                return Answer(200)
            case Manner.DRIP_HEAD:
                return RawAnswer(self._drip(b"HTTP/1.1 200 OK\r\nX-Drip: "))
            case Manner.DRIP_BODY:
                return RawAnswer(self._drip(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"))
            case Manner.DROP:
                return DROPPED

    def _drip(self, beginning: bytes) -> Iterator[bytes]:
        yield beginning
        for _ in range(DRIP_LIMIT):
            if self._released.wait(DRIP_INTERVAL):
                return
            yield b"."
