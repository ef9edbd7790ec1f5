"""A platform stand-in that accepts every post after a pause and records its time: `python -m tests.bench.stand_in`.

It speaks the few AT Protocol methods that publishing a text needs. GET /received answers [[text, unix seconds], …], GET
/count how many they are.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import time
from typing import Any

from aiohttp import web

FAR = 4_000_000_000  # seconds since 1970: the tokens outlive any run


class StandIn:
    """Answers after `pause` seconds; /clear clears the received posts."""

    def __init__(self, pause: float) -> None:
        self.pause = pause
        self.received: list[tuple[str, float]] = []

    async def sign_in(self, request: web.Request) -> web.Response:
        """Answer com.atproto.server.createSession and getSession."""
        if request.method == "POST":
            handle = str((await request.json())["identifier"])
        else:
            handle = _subject(request.headers["Authorization"])
        token = _token(handle)
        body = {"did": f"did:plc:{handle.split('.')[0]}", "handle": handle, "active": True}
        return web.json_response({**body, "accessJwt": token, "refreshJwt": token})

    async def put(self, request: web.Request) -> web.Response:
        """Answer com.atproto.repo.putRecord."""
        arrived_at = time.time()
        record = await request.json()
        self.received.append((record["record"]["text"], arrived_at))
        if self.pause:
            await asyncio.sleep(self.pause)
        uri = f"at://{record['repo']}/{record['collection']}/{record['rkey']}"
        return web.json_response({"uri": uri, "cid": "bafyreib2rxk3rh6kzwq"})

    async def profile(self, request: web.Request) -> web.Response:
        return web.json_response({"error": "MethodNotImplemented"}, status=501)

    async def list_received(self, request: web.Request) -> web.Response:
        return web.json_response(self.received)

    async def count(self, request: web.Request) -> web.Response:
        return web.json_response(len(self.received))

    async def clear(self, request: web.Request) -> web.Response:
        self.received.clear()
        if "pause" in request.query:
            self.pause = float(request.query["pause"])
        return web.json_response({})


def _token(handle: str) -> str:
    claims = json.dumps({"sub": handle, "exp": FAR}).encode()
    return ".".join(["e30", base64.urlsafe_b64encode(claims).decode().rstrip("="), "c2ln"])


def _subject(authorization: str) -> str:
    claims = authorization.split(".")[1]
    content: dict[str, Any] = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
    return str(content["sub"])


def application(pause: float) -> web.Application:
    """Return the stand-in's application with its routes."""
    stand_in, app = StandIn(pause), web.Application()
    app.router.add_post("/xrpc/com.atproto.server.createSession", stand_in.sign_in)
    app.router.add_get("/xrpc/com.atproto.server.getSession", stand_in.sign_in)
    app.router.add_post("/xrpc/com.atproto.repo.putRecord", stand_in.put)
    app.router.add_get("/xrpc/{method}", stand_in.profile)
    app.router.add_get("/received", stand_in.list_received)
    app.router.add_get("/count", stand_in.count)
    app.router.add_post("/clear", stand_in.clear)
    return app


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A platform that answers every post alike.")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds before each answer")
    asked = parser.parse_args()
    web.run_app(application(asked.pause), host="127.0.0.1", port=asked.port, print=None, access_log=None)
