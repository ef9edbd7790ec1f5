"""Receivers of webhooks: `python -m tests.bench.receivers`. One answers at once, the others take requests and fall silent.

GET /came at the first answers [[event id, created_at, unix seconds], …].
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from contextlib import suppress

from aiohttp import web


class Receiver:
    """Takes every delivery with 204 and remembers when it came."""

    def __init__(self) -> None:
        self.came: list[tuple[str, str, float]] = []

    async def take(self, request: web.Request) -> web.Response:
        came = time.time()
        event = json.loads(await request.read())
        self.came.append((event["id"], event["created_at"], came))
        return web.Response(status=204)

    async def told(self, request: web.Request) -> web.Response:
        return web.json_response(self.came)


async def fall_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Read whatever comes until the other side has had enough."""
    with suppress(ConnectionError):
        while await reader.read(65536):
            pass
    writer.close()


async def serve(port: int, silent: list[int]) -> None:
    """Listen on all ports for ever."""
    receiver, app = Receiver(), web.Application()
    app.router.add_post("/", receiver.take)
    app.router.add_get("/came", receiver.told)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    for number in silent:
        await asyncio.start_server(fall_silent, "127.0.0.1", number)
    await web.TCPSite(runner, "127.0.0.1", port).start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A receiver that answers, and silent ones.")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--silent", type=int, nargs="*", default=[])
    asked = parser.parse_args()
    asyncio.run(serve(asked.port, asked.silent))
