"""A server in LinkedIn's place with the responses that a test sets, valid or not."""

from __future__ import annotations

from tests.fakes.http_server import Answer, LoopbackServer, ReceivedRequest
from tests.fakes.linkedin_methods import CREATE, call_of

MADE = "urn:li:share:7398000000000000001"


class ScriptedServer(LoopbackServer):
    """Answers each call by `answers`, 404 where there is none; `asked` lists the calls in order of arrival."""

    platform = "linkedin"

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[str, Answer] = {CREATE: Answer(201, b"", {"x-restli-id": MADE})}

    def answer(self, request: ReceivedRequest) -> Answer:
        return self.answers.get(call_of(request), Answer(404, b"Not Found"))

    @property
    def asked(self) -> list[str]:
        """The calls received so far."""
        return [call_of(request) for request in self.requests]
