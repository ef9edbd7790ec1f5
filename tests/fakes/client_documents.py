"""A web server on loopback that publishes client ID metadata documents of OAuth clients."""

from __future__ import annotations

from typing import Any

from tests.fakes.http_server import Answer, LoopbackServer, RawAnswer, ReceivedRequest


class ClientDocuments(LoopbackServer):
    """The server of a company that publishes programs; `answers` has the responses by path, 404 for all others."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[str, Answer | RawAnswer] = {}

    def answer(self, request: ReceivedRequest) -> Answer | RawAnswer:
        return self.answers.get(request.path, Answer(404))

    def publish(self, path: str = "/client.json", **changes: Any) -> str:
        """Publish the document of a program, and return its address, which is the program's client_id."""
        document = {
            "client_id": f"{self.url}{path}",
            "client_name": "Published program",
            "redirect_uris": ["https://program.example/callback"],
            **changes,
        }
        self.answers[path] = Answer.of_json({name: value for name, value in document.items() if value is not None})
        return f"{self.url}{path}"
