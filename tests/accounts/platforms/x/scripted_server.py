"""A server that says whatever a test lets it say, true to X's API or not."""

from __future__ import annotations

from typing import Any

from tests.fakes.http_server import Answer, LoopbackServer, ReceivedRequest
from tests.fakes.x_methods import CREATE, TIMELINE, call_of

MADE = {"id": "7", "text": "Hello"}
NO_POSTS = Answer.of_json({"meta": {"result_count": 0}})


class ScriptedServer(LoopbackServer):
    """Answers each call by `answers`, 404 where there is none; `asked` lists the calls in order of arrival."""

    platform = "x"

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[str, Answer] = {CREATE: Answer.of_json({"data": MADE}, 201), TIMELINE: NO_POSTS}

    def answer(self, request: ReceivedRequest) -> Answer:
        return self.answers.get(call_of(request), Answer(404, b"Not Found"))

    def list_posts(self, *posts: dict[str, Any], **meta: Any) -> None:
        """The account's posts, newest first."""
        counted = {"result_count": len(posts), **meta}
        self.answers[TIMELINE] = Answer.of_json({"data": list(posts), "meta": counted})

    @property
    def asked(self) -> list[str]:
        """The calls that came so far."""
        return [call_of(request) for request in self.requests]
