"""A Mastodon server that returns the responses that a test sets."""

from __future__ import annotations

from tests.fakes.http_server import Answer, LoopbackServer, ReceivedRequest
from tests.fakes.mastodon_methods import CREATE, INSTANCE, LIST, VERIFY
from tests.fakes.mastodon_requests import call_of

ALICE = {
    "id": "1",
    "username": "alice",
    "acct": "alice",
    "display_name": "Alice",
    "url": "https://social.example/@alice",
    "avatar": "https://cdn.example/a.png",
    "source": {"privacy": "public"},
}
CONNECTABLE = {VERIFY: Answer.of_json(ALICE), LIST: Answer.of_json([]), INSTANCE: Answer.of_json({"configuration": {}})}
MADE = {"id": "7", "url": "https://social.example/@alice/7"}


class ScriptedServer(LoopbackServer):
    """Answers each call by `answers`, 404 where there is none; `calls` lists the calls in order of arrival."""

    platform = "mastodon"

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[str, Answer] = {**CONNECTABLE, CREATE: Answer.of_json(MADE)}

    def answer(self, request: ReceivedRequest) -> Answer:
        return self.answers.get(call_of(request), Answer(404, b"Not Found"))

    @property
    def calls(self) -> list[str]:
        """The calls to the Mastodon server so far, in order."""
        return [call_of(request) for request in self.requests]
