"""A Bluesky server that returns the responses that a test sets."""

from __future__ import annotations

from tests.fakes.http_server import Answer, LoopbackServer, ReceivedRequest

DID = "did:plc:ewvi7nxzyoun6zhxrhs64oiz"
CREATE_SESSION = "com.atproto.server.createSession"
DELETE_SESSION = "com.atproto.server.deleteSession"
GET_PROFILE = "app.bsky.actor.getProfile"
GET_RECORD = "com.atproto.repo.getRecord"
PUT_RECORD = "com.atproto.repo.putRecord"
RESOLVE_HANDLE = "com.atproto.identity.resolveHandle"
UPLOAD_BLOB = "com.atproto.repo.uploadBlob"

SESSION = {"did": DID, "handle": "alice.test", "accessJwt": "access", "refreshJwt": "refresh"}


class ScriptedServer(LoopbackServer):
    """Answers each method by `answers`, 404 where there is none; `calls` lists the methods in order of arrival."""

    platform = "bluesky"

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[str, Answer] = {}

    def answer(self, request: ReceivedRequest) -> Answer:
        return self.answers.get(request.path.removeprefix("/xrpc/"), Answer(404, b"Not Found"))

    @property
    def calls(self) -> list[str]:
        """The methods of the Bluesky server that were called so far, in order."""
        return [request.path.removeprefix("/xrpc/") for request in self.requests]
