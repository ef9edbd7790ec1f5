"""Outbound connections, which go only to checked IP addresses and have one time limit for the whole request.

The host is resolved and checked when the socket is created, and the connection goes to exactly that address. The host
name is still used for SNI, the certificate check and the Host header.
"""

from __future__ import annotations

import contextlib
import functools
import socket
import ssl
import time
from dataclasses import dataclass
from typing import Any, cast

import certifi
from django.utils.translation import gettext_noop

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


class DeadlineSocket(socket.socket):
    """The socket of an outbound connection: all its reads and writes together have one time limit."""

    exchange: Exchange  # set once the connection is open

    def _limit_time(self) -> None:
        """Limit the next read or write of the outbound socket to the time left; raise TimeoutError if there is none.

        Small changes are left out, because each is a system call, at which another thread takes the interpreter.
        """
        seconds, before = self.exchange.seconds_left(), self.gettimeout()
        if before is None or before - seconds >= MAX_OVERRUN_SECONDS:
            self.settimeout(seconds)

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        self._limit_time()
        count = super().recv_into(*args, **kwargs)
        self.exchange.peer_closed = count == 0
        self.exchange.readable_bytes -= count
        if self.exchange.readable_bytes < 0:  # http.client reads without limit after a chunk size of -1
            raise ResponseTooLarge("The answer is longer than the caller reads.")
        return count

    def send(self, *args: Any, **kwargs: Any) -> int:
        self._limit_time()
        return super().send(*args, **kwargs)

    def sendall(self, *args: Any, **kwargs: Any) -> None:
        self._limit_time()
        self.exchange.request_begun = True
        super().sendall(*args, **kwargs)


class _DeadlineTLSSocket(DeadlineSocket, ssl.SSLSocket):
    """The TLS socket of an outbound connection: all its reads and writes together have one time limit."""


@functools.cache
def tls_context() -> ssl.SSLContext:
    """Return the TLS context of all outbound connections of this process, which checks certificates and names.

    It trusts the machine's certificate store, where an operator may add an authority, and certifi's: slim images have none.
    """
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    context.set_alpn_protocols(["http/1.1"])
    context.sslsocket_class = _DeadlineTLSSocket
    return context


def open_connection(destination: Destination, exchange: Exchange) -> DeadlineSocket:
    """Connect to a checked IP address of an outbound request's destination, with TLS if its scheme is https.

    Raises DestinationNotAllowed, DestinationUnresolved, OSError.
    """
    seconds = min(RESOLVE_SECONDS, exchange.seconds_left())
    *others, last = resolve_and_check_addresses(destination, seconds=seconds)
    for address in others:
        with contextlib.suppress(OSError):
            sock = _dial(address, destination.port, exchange)
            break
    else:
        sock = _dial(last, destination.port, exchange)
    if destination.scheme == "https":
        sock = _with_tls(sock, destination.host)
    sock.exchange = exchange
    return sock


def _dial(address: str, port: int, exchange: Exchange) -> DeadlineSocket:
    sock = DeadlineSocket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.settimeout(min(CONNECT_SECONDS, exchange.seconds_left()))
        sock.connect((address, port))
        if not is_allowed_address(sock.getpeername()[0]):
            raise DestinationNotAllowed(gettext_noop("The connection ended at an address that is not public."))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.settimeout(exchange.seconds_left())  # of the whole TLS handshake
    except BaseException:
        sock.close()
        raise
    return sock


def _with_tls(sock: DeadlineSocket, host: str) -> DeadlineSocket:
    with sock:  # which is closed unless it became the TLS socket
        return cast(_DeadlineTLSSocket, tls_context().wrap_socket(sock, server_hostname=host))
