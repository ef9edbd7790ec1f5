"""Outbound connections, which go only to checked IP addresses and have one time limit for the whole request.

The host is resolved and checked when the socket is created, and the connection goes to exactly that address. The host
name is still used for SNI, the certificate check and the Host header.
"""

from __future__ import annotations

import contextlib
import functools
import http.client
import logging
import socket
import ssl
import time
from dataclasses import dataclass
from typing import Any, cast

import certifi
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.response import HTTPResponse

from config.outbound.destinations import (
    RESOLVE_SECONDS,
    Destination,
    DestinationNotAllowed,
    is_allowed_address,
    resolve_and_check_addresses,
)
from config.outbound.errors import ResponseTooLarge

CONNECT_SECONDS = 5.0  # for each address, so that an unreachable one leaves time for the next
MAX_OVERRUN_SECONDS = 0.05  # by which a read or write may end after the deadline

logging.getLogger("urllib3.connection").setLevel(logging.ERROR)  # its warnings quote the URL, which may hold a token


@dataclass
class Exchange:
    """One request and its response on an outbound connection: the deadline, the limit on the size, and the progress."""

    deadline: float  # time.monotonic()
    readable_bytes: int  # bytes of the answer that may still be read, headers and framing included
    request_begun: bool = False  # a part of the request may have been sent
    peer_closed: bool = False  # the other end has closed

    def seconds_left(self) -> float:
        """Return how many seconds this Exchange on an outbound connection may still take. Raises TimeoutError if none."""
        seconds = self.deadline - time.monotonic()
        if seconds <= 0:
            raise TimeoutError("the deadline has passed")
        return seconds


class _DeadlineSocket(socket.socket):
    """The socket of an outbound connection: all its reads and writes together have one time limit."""

    exchange: Exchange  # set once the connection is open

    def settimeout(self, value: float | None) -> None:
        """Set the time limit for opening the connection; afterwards the deadline is the limit, whatever urllib3 asks for.

        Small changes are left out, because each is a system call, at which another thread takes the interpreter.
        """
        if exchange := getattr(self, "exchange", None):
            value, before = exchange.seconds_left(), self.gettimeout()
            if before is not None and before - value < MAX_OVERRUN_SECONDS:
                return
        super().settimeout(value)

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        self.settimeout(None)
        count = super().recv_into(*args, **kwargs)
        self.exchange.peer_closed = count == 0
        self.exchange.readable_bytes -= count
        if self.exchange.readable_bytes < 0:  # http.client reads without limit after a chunk size of -1
            raise ResponseTooLarge("The answer is longer than the caller reads.")
        return count

    def send(self, *args: Any, **kwargs: Any) -> int:
        self.settimeout(None)
        return super().send(*args, **kwargs)

    def sendall(self, *args: Any, **kwargs: Any) -> None:
        self.settimeout(None)
        super().sendall(*args, **kwargs)


class _DeadlineTLSSocket(_DeadlineSocket, ssl.SSLSocket):
    """The TLS socket of an outbound connection: all its reads and writes together have one time limit."""


@functools.cache
def tls_context() -> ssl.SSLContext:
    """Return the TLS context of all outbound connections of this process, which checks certificates and names.

    It trusts the machine's certificate store, where an operator may add an authority, and certifi's: slim images have none.
    """
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    context.sslsocket_class = _DeadlineTLSSocket
    return context


class CheckedAddressConnection(HTTPConnection):
    """An outbound HTTP connection for one request, which goes only to checked IP addresses of its destination."""

    def __init__(self, destination: Destination, exchange: Exchange, **kwargs: Any) -> None:
        super().__init__(destination.host, destination.port, **kwargs)
        self._destination = destination
        self._exchange = exchange

    def connect(self) -> None:
        """Open the outbound connection, including TLS. Raises DestinationNotAllowed, DestinationUnresolved, OSError."""
        super().connect()
        cast(_DeadlineSocket, self.sock).exchange = self._exchange

    def send(self, data: Any) -> None:
        """Write data to the outbound connection, and record that the request may have been sent."""
        self._exchange.request_begun = True
        super().send(data)

    def getresponse(self) -> HTTPResponse:  # type: ignore[override]  # as urllib3 does
        """Return the response on an outbound connection. Raises RemoteDisconnected if its headers are incomplete."""
        answer = super().getresponse()
        if self._exchange.peer_closed or answer.status < 200:
            raise http.client.RemoteDisconnected("the answer's headers are incomplete")
        return answer

    def _new_conn(self) -> socket.socket:
        seconds = min(RESOLVE_SECONDS, self._exchange.seconds_left())
        *others, last = resolve_and_check_addresses(self._destination, seconds=seconds)
        for address in others:
            with contextlib.suppress(OSError):
                return self._dial(address)
        return self._dial(last)

    def _dial(self, address: str) -> socket.socket:
        sock = _DeadlineSocket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
        try:
            sock.settimeout(min(CONNECT_SECONDS, self._exchange.seconds_left()))
            sock.connect((address, self._destination.port))
            if not is_allowed_address(sock.getpeername()[0]):
                raise DestinationNotAllowed("The connection ended at an address that is not public.")
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.settimeout(self._exchange.seconds_left())  # of the whole TLS handshake
        except BaseException:
            sock.close()
            raise
        return sock


class CheckedAddressTLSConnection(CheckedAddressConnection, HTTPSConnection):
    """An outbound HTTPS connection for one request, which goes only to checked IP addresses and checks the certificate."""

    def __init__(self, destination: Destination, exchange: Exchange) -> None:
        super().__init__(destination, exchange, ssl_context=tls_context())


def connection_to(destination: Destination, exchange: Exchange) -> CheckedAddressConnection:
    """Return an unopened outbound connection to a destination, with TLS if its scheme is https."""
    if destination.scheme == "https":
        return CheckedAddressTLSConnection(destination, exchange)
    return CheckedAddressConnection(destination, exchange)
