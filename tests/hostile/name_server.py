"""A name server that never answers."""

from __future__ import annotations

import socket
from types import TracebackType
from typing import Self


class SilentNameServer:
    """A name server on a UDP port of 127.0.0.1 that ignores all queries; a context manager."""

    def __enter__(self) -> Self:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._socket.close()

    @property
    def settings(self) -> dict[str, str]:
        """Return the environment that makes the service use this server."""
        return {"OUTBOUND_NAMESERVERS": f"127.0.0.1:{self._socket.getsockname()[1]}"}
