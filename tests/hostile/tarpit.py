"""A TCP server that accepts every connection and never answers."""

from __future__ import annotations

import socket
import threading
from types import TracebackType
from typing import Self

MOST_CONNECTIONS = 2_000


class Tarpit:
    """A TCP server on a free port of 127.0.0.1 that never answers; a context manager."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self._taken: list[socket.socket] = []
        self._thread = threading.Thread(target=self._take, daemon=True)

    @property
    def url(self) -> str:
        """Return the tarpit's address, such as http://127.0.0.1:43127."""
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()
        for line in self._taken:
            line.close()

    def _take(self) -> None:
        while len(self._taken) < MOST_CONNECTIONS:
            try:
                line, _ = self._listener.accept()
            except OSError:
                return
            self._taken.append(line)
