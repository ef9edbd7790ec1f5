"""The DNS resolver for the hosts of outbound requests, which runs thousands of lookups at once.

The C library c-ares sends the queries and waits for all answers in one thread. With getaddrinfo, a name server that does
not answer would block a thread for each lookup, because that call has no time limit and cannot be cancelled.

The system's resolv.conf, nsswitch.conf and hosts file apply; changes take effect within a minute. The search domains of
resolv.conf do not apply.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from concurrent.futures import Future
from typing import Any

import pycares
from django.conf import settings

from config.outbound.errors import DestinationUnresolved

FIRST_TRY_SECONDS = 0.5  # c-ares doubles the time-out at each try, and waits less for a server that answers quickly
TRIES = 4
# A channel is replaced from time to time: its cache has no size limit, its query numbers have 16 bits, and it does not
# notice every change of resolv.conf.
LOOKUPS_PER_CHANNEL = 10_000
CHANNEL_SECONDS = 60.0


class Resolver:
    """A DNS resolver for host names, which many threads may use at once.

    Each resolver has its own sockets and thread, so slow lookups in one do not delay another.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._channel: pycares.Channel | None = None
        self._made_for: tuple[Any, ...] = ()
        self._lookups_left = 0
        self._end = 0.0

    def start_lookup(self, host: str) -> Future[list[str]]:
        """Start the DNS lookup of `host`, and return a future whose result is its IP addresses in order of preference.

        The future's exception is DestinationUnresolved. The answer to a cancelled future is ignored.
        """
        found: Future[list[str]] = Future()

        def answered(result: Any, error: int | None) -> None:
            if not found.set_running_or_notify_cancel():
                return
            addresses = [node.addr[0].decode() for node in result.nodes] if result else []
            if addresses:
                found.set_result(addresses)
            else:
                found.set_exception(DestinationUnresolved(f"{host} does not resolve."))

        try:
            self._current_channel().getaddrinfo(host, None, type=socket.SOCK_STREAM, callback=answered)
        except pycares.AresError:  # no channel: the process has too many open files, for example
            answered(None, None)
        return found

    def look_up(self, host: str, *, seconds: float) -> list[str]:
        """Return the IP addresses of `host` from DNS; raise DestinationUnresolved if there are none within `seconds`."""
        found = self.start_lookup(host)
        try:
            return found.result(timeout=seconds)
        except TimeoutError as error:
            found.cancel()
            raise DestinationUnresolved(f"{host} does not resolve in time.") from error

    def _current_channel(self) -> pycares.Channel:
        """Return this process's connection to the name servers (a pycares channel) for the next DNS lookup."""
        made_for, now = (os.getpid(), *settings.OUTBOUND_NAMESERVERS), time.monotonic()
        with self._lock:
            if self._channel is None or self._made_for != made_for or not self._lookups_left or now > self._end:
                self._channel, self._made_for = _new_channel(), made_for
                self._lookups_left, self._end = LOOKUPS_PER_CHANNEL, now + CHANNEL_SECONDS
            self._lookups_left -= 1
            return self._channel


def _new_channel() -> pycares.Channel:
    """Open the DNS resolver's connection to the name servers (a pycares channel); it closes after its last answer."""
    return pycares.Channel(
        flags=pycares.ARES_FLAG_NOSEARCH | pycares.ARES_FLAG_NOALIASES,
        timeout=FIRST_TRY_SECONDS,
        tries=TRIES,
        servers=settings.OUTBOUND_NAMESERVERS or None,
    )


# Users choose webhook hosts; slow lookups of those must not delay publishing.
platform_resolver = Resolver()
webhook_resolver = Resolver()
