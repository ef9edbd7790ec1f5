"""Looks up host names, thousands at once.

The C library c-ares sends the queries and waits for the answers in one thread of its own. A name whose server is silent
costs some memory for a few seconds. With getaddrinfo it would hold a thread, since that call has no time limit and
cannot be cancelled.

The system's resolv.conf, nsswitch.conf and hosts file apply, and changes to them within a minute. The search domains of
resolv.conf do not apply: a name is only ever looked up as it is written.
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

FIRST_TRY_SECONDS = 0.5  # c-ares waits longer at each try, and less where the server is known to answer quickly
TRIES = 4
# A channel caches answers for as long as their records allow, without a bound on the number of names, and numbers its open
# queries with 16 bits. It does not notice every change of resolv.conf. So it is replaced now and then.
LOOKUPS_PER_CHANNEL = 10_000
CHANNEL_SECONDS = 60.0


class DestinationUnresolved(Exception):
    """The host's name has no address at the moment, or the name servers did not answer in time."""


class Resolver:
    """Looks up addresses; any thread may use it.

    Each resolver has its own sockets and its own thread. Lookups that hang in one do not delay those in another.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._channel: pycares.Channel | None = None
        self._made_for: tuple[Any, ...] = ()
        self._lookups_left = 0
        self._end = 0.0

    def begin(self, host: str) -> Future[list[str]]:
        """Start to look up `host` and return the future of its addresses, in the order of preference (RFC 6724).

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
        """Return the addresses of `host`; raise DestinationUnresolved when there are none within `seconds`."""
        found = self.begin(host)
        try:
            return found.result(timeout=seconds)
        except TimeoutError as error:
            found.cancel()
            raise DestinationUnresolved(f"{host} does not resolve in time.") from error

    def _current_channel(self) -> pycares.Channel:
        """The channel for the next lookup. Its thread does not survive a fork, so each process makes its own."""
        made_for, now = (os.getpid(), *settings.OUTBOUND_NAMESERVERS), time.monotonic()
        with self._lock:
            if self._channel is None or self._made_for != made_for or not self._lookups_left or now > self._end:
                self._channel, self._made_for = _new_channel(), made_for
                self._lookups_left, self._end = LOOKUPS_PER_CHANNEL, now + CHANNEL_SECONDS
            self._lookups_left -= 1
            return self._channel


def _new_channel() -> pycares.Channel:
    """A channel to the name servers. One that is no longer referenced closes after its last answer."""
    return pycares.Channel(
        flags=pycares.ARES_FLAG_NOSEARCH | pycares.ARES_FLAG_NOALIASES,
        timeout=FIRST_TRY_SECONDS,
        tries=TRIES,
        servers=settings.OUTBOUND_NAMESERVERS or None,
    )


# Webhook addresses are chosen by anybody who has an account here; those lookups must not delay publishing.
platform_names = Resolver()
webhook_names = Resolver()
