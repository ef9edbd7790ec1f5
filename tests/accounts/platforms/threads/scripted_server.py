"""A server that says whatever a test lets it say, true to Threads' API or not."""

from __future__ import annotations

import re

from tests.fakes.http_server import Answer, LoopbackServer, ReceivedRequest


class ScriptedServer(LoopbackServer):
    """Answers each call by `answers`, 404 where there is none; `asked` lists the calls in order of arrival."""

    platform = "threads"

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[str, Answer] = {}

    def answer(self, request: ReceivedRequest) -> Answer:
        return self.answers.get(_call_of(request), Answer(404, b"Not Found"))

    @property
    def asked(self) -> list[str]:
        """The calls that came so far."""
        return [_call_of(request) for request in self.requests]


def _call_of(request: ReceivedRequest) -> str:
    return f"{request.method} {re.sub(r'(?<=/)[0-9]+(?=/|$)', ':id', request.path.removeprefix('/v1.0'))}"
