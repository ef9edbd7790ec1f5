"""A DNS server on loopback UDP (RFC 1035), which answers as a test says."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from types import TracebackType
from typing import Self

A, CNAME, AAAA = 1, 5, 28
NXDOMAIN = 3
WAIT_SECONDS = 5.0
_HEADER = struct.Struct("!6H")
_QUESTION = 0xC00C  # a pointer to the name of the question


@dataclass(frozen=True)
class Records:
    """What a name has: addresses of either family, and `alias`, the name that they belong to when it is another.

    Without any of them the answer is NXDOMAIN.
    """

    addresses: Sequence[str] = ()
    alias: str = ""


Zone = Callable[[str], Records | None]
"""What to answer for a name; None: nothing."""


def silent(name: str) -> None:
    """A zone that never answers."""


class NameServer:
    """Asks `zone` once for each lookup, which is a query for A and one for AAAA. All records have a TTL of 0.

    `lookups` holds the names in order of arrival; `wait_for` waits until so many names were asked for. With `together`
    nothing is answered until so many different names were asked for.
    """

    def __init__(self, zone: Zone, *, together: int = 0) -> None:
        self.zone = zone
        self._together = together
        self._held: list[tuple[bytes, tuple[str, int]]] = []
        self.lookups: list[str] = []
        self._answers: dict[tuple[str, int], Records | None] = {}
        self._counts: dict[tuple[str, int], int] = {}
        self._seen: dict[bytes, Records | None] = {}
        self._arrived = threading.Condition()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_000_000)
        self._socket.bind(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def address(self) -> str:
        """As the setting OUTBOUND_NAMESERVERS takes it."""
        return f"127.0.0.1:{self._socket.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as waker:
            waker.sendto(b"", self._socket.getsockname())
        self._thread.join()
        self._socket.close()

    def wait_for(self, count: int) -> None:
        """Wait until `count` different names were asked for. Raises AssertionError after WAIT_SECONDS."""
        with self._arrived:
            arrived = self._arrived.wait_for(lambda: len(set(self.lookups)) >= count, WAIT_SECONDS)
        assert arrived, f"{len(set(self.lookups))} of {count} names were asked for."

    def _serve(self) -> None:
        while True:
            query, client = self._socket.recvfrom(4096)
            if not query:
                return
            name, kind, end = _question(query)
            records = self._records(query, name, kind)
            if records is not None:
                self._held.append((_answer(query[:end], kind, records), client))
            if len(set(self.lookups)) >= self._together:
                for answer, asker in self._held:
                    self._socket.sendto(answer, asker)
                self._held.clear()

    def _records(self, query: bytes, name: str, kind: int) -> Records | None:
        """The n-th A query for a name and its n-th AAAA query are one lookup; a query that is sent again is no new one."""
        if query in self._seen:
            return self._seen[query]
        turn = self._counts[name, kind] = self._counts.get((name, kind), 0) + 1
        if (name, turn) not in self._answers:
            self._answers[name, turn] = self.zone(name)
            with self._arrived:
                self.lookups.append(name)
                self._arrived.notify_all()
        records = self._seen[query] = self._answers[name, turn]
        return records


def _question(query: bytes) -> tuple[str, int, int]:
    """The name that is asked for, the type, and where the question ends."""
    labels, at = [], _HEADER.size
    while length := query[at]:
        labels.append(query[at + 1 : at + 1 + length].decode())
        at += 1 + length
    return ".".join(labels).lower(), struct.unpack_from("!H", query, at + 1)[0], at + 5


def _answer(question: bytes, kind: int, records: Records) -> bytes:
    answers, owner = [], struct.pack("!H", _QUESTION)
    if records.alias:
        answers.append(owner + _data(CNAME, _encoded(records.alias)))
        owner = _encoded(records.alias)
    for address in map(ip_address, records.addresses):
        if kind == (A if address.version == 4 else AAAA):
            answers.append(owner + _data(kind, address.packed))
    code = 0 if records.addresses or records.alias else NXDOMAIN
    (number,) = struct.unpack_from("!H", question)
    return _HEADER.pack(number, 0x8180 | code, 1, len(answers), 0, 0) + question[_HEADER.size :] + b"".join(answers)


def _data(kind: int, data: bytes) -> bytes:
    return struct.pack("!HHIH", kind, 1, 0, len(data)) + data


def _encoded(name: str) -> bytes:
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"
