"""A TCP proxy in front of each platform stand-in that adds latency, refuses or ignores connections."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Coroutine
from contextlib import suppress
from enum import Enum, auto
from typing import Any, Self

from tests.chaos.processes import free_port

SILENCE_LIMIT = 30.0  # seconds that a connection is left without an answer at the most
CHUNK = 65_536


class Door(Enum):
    """How the proxy treats a new connection."""

    OPEN = auto()
    REFUSING = auto()  # nobody listens
    SILENT = auto()  # it is taken, and nothing of it is passed on


class Gate:
    """A TCP proxy to a local port that adds random latency."""

    def __init__(self, loop: asyncio.AbstractEventLoop, upstream: int, rng: random.Random) -> None:
        self.port = free_port()
        self._loop = loop
        self._upstream = upstream
        self._rng = rng
        self._door = Door.OPEN
        self._server: asyncio.Server | None = None
        self._moved = asyncio.Event()
        self._run(self._listen())

    @property
    def url(self) -> str:
        """Return the proxy's address without a trailing slash."""
        return f"http://127.0.0.1:{self.port}"

    def set_door(self, door: Door) -> None:
        """Set how new connections are treated, and close ignored ones."""
        self._run(self._move(door))

    async def _move(self, door: Door) -> None:
        self._door = door
        self._moved.set()
        self._moved = asyncio.Event()
        if door is Door.REFUSING and self._server is not None:
            self._server.close()
            self._server = None
        elif door is not Door.REFUSING and self._server is None:
            await self._listen()

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, backlog=256)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._door is Door.SILENT:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._moved.wait(), SILENCE_LIMIT)
            writer.transport.abort()
            return
        try:
            inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", self._upstream)
        except OSError:
            writer.transport.abort()
            return
        delay = self._rng.uniform(0.01, 0.25)
        await asyncio.gather(_pump(reader, inner_writer, 0.0), _pump(inner_reader, writer, delay))

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10.0)


class Gates:
    """All proxies on one event loop in a thread; a context manager."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="gates", daemon=True)

    def before(self, upstream: int) -> Gate:
        """Create a proxy in front of a local port."""
        return Gate(self._loop, upstream, self._rng)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter, delay: float) -> None:
    """Forward a stream to its end, starting after `delay` seconds."""
    with suppress(OSError):
        while piece := await source.read(CHUNK):
            await asyncio.sleep(delay)
            delay = 0.0
            sink.write(piece)
            await sink.drain()
    sink.close()
