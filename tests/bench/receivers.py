"""Webhook receivers for benchmarks: one answers at once, the others never answer (`python -m tests.bench.receivers`).

GET /received at the first answers [[event id, created_at, unix seconds], …], GET /count their number; POST /clear deletes
them. GET /silent answers the ports of the others. With --certificate and --key it speaks HTTPS, with --secret it refuses
what is not signed by that.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import hmac
import json
import ssl
import time
from contextlib import suppress

from aiohttp import web


class Receiver:
    """Answers every delivery with 204 and records its time."""

    def __init__(self, secret: str) -> None:
        self.secret = secret.encode()
        self.received: list[tuple[str, str, float]] = []
        self.silent: list[int] = []

    async def take(self, request: web.Request) -> web.Response:
        arrived_at, body = time.time(), await request.read()
        if self.secret and not self._signed(request.headers.get("x-service-signature", ""), body):
            return web.Response(status=401)
        event = json.loads(body)
        self.received.append((event["id"], event["created_at"], arrived_at))
        return web.Response(status=204)

    async def list_received(self, request: web.Request) -> web.Response:
        return web.json_response(self.received)

    async def count(self, request: web.Request) -> web.Response:
        return web.json_response(len(self.received))

    async def ports(self, request: web.Request) -> web.Response:
        return web.json_response(self.silent)

    async def clear(self, request: web.Request) -> web.Response:
        self.received.clear()
        return web.json_response({})

    def _signed(self, signature: str, body: bytes) -> bool:
        at, _, digest = signature.removeprefix("t=").partition(",v1=")
        return hmac.compare_digest(digest, hmac.new(self.secret, at.encode() + b"." + body, hashlib.sha256).hexdigest())


async def fall_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Read until the client closes the connection."""
    with suppress(ConnectionError):
        while await reader.read(65536):
            pass
    writer.close()


async def serve(port: int, silent: int, *, secret: str, context: ssl.SSLContext | None) -> None:
    """Listen on the port and on this many free ports."""
    receiver, app = Receiver(secret), web.Application()
    app.router.add_post("/", receiver.take)
    app.router.add_get("/received", receiver.list_received)
    app.router.add_get("/count", receiver.count)
    app.router.add_get("/silent", receiver.ports)
    app.router.add_post("/clear", receiver.clear)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    for _ in range(silent):
        server = await asyncio.start_server(fall_silent, "127.0.0.1", 0)
        receiver.silent.append(server.sockets[0].getsockname()[1])
    await web.TCPSite(runner, "127.0.0.1", port, ssl_context=context).start()
    await asyncio.Event().wait()


def _context(certificate: str, key: str) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    return context


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A receiver that answers, and silent ones.")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--silent", type=int, default=0, help="how many fall silent")
    parser.add_argument("--certificate", default="")
    parser.add_argument("--key", default="")
    parser.add_argument("--secret", default="")
    asked = parser.parse_args()
    tls = _context(asked.certificate, asked.key) if asked.certificate else None
    asyncio.run(serve(asked.port, asked.silent, secret=asked.secret, context=tls))
