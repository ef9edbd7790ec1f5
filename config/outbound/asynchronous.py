"""Webhook posts, hundreds at once on one event loop.

Each post looks its host's name up and checks every address; the session's resolver hands on what the post has checked, so
the address checked is the one connected to, and what is dialled is looked at once more where the socket is made.
Connections are kept for a moment, since a busy receiver's handshakes cost more than all else. A kept one serves a post that
has checked its address; where its server is just closing it, the post is made once more, on a new one.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from weakref import WeakSet

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.connector import Connection
from aiohttp.tracing import Trace
from django.conf import settings
from yarl import URL

from config.outbound.addresses import address_allowed
from config.outbound.connections import tls_context
from config.outbound.destinations import (
    RESOLVE_SECONDS,
    Destination,
    DestinationNotAllowed,
    check_url,
    require_allowed,
)
from config.outbound.errors import DestinationRefused, NoAnswer, NotSent, summary
from config.outbound.resolver import DestinationUnresolved, webhook_names

KEPT_SECONDS = 1.0  # between two posts; few servers close sooner (gunicorn after 2 s, Node after 5)


@dataclass
class _Post:
    """A post on its way: the checked addresses of its host, none where that is one, and what connection it went out on."""

    addresses: list[ResolveResult]
    on_kept: bool = False  # one that has served another before


_in_hand: ContextVar[_Post] = ContextVar("the post in hand")


@dataclass(frozen=True)
class Answer:
    """A receiver's answer: `headers` are looked up in any case, `excerpt` is the beginning of the body as sent."""

    status: int
    headers: Mapping[str, str]
    excerpt: bytes


def create_session(*, connections: int) -> aiohttp.ClientSession:
    """Return a session for `post`, of at most `connections` at once; call it, and close it, on a running event loop.

    Waiting for a free connection counts against a post's time-out, so keep no more posts than that in flight.
    """
    connector = _Connector(
        limit=connections,
        ssl=tls_context(),
        resolver=_CheckedResolver(),
        use_dns_cache=False,
        keepalive_timeout=KEPT_SECONDS,
        socket_factory=_checked_socket,
    )
    return aiohttp.ClientSession(
        connector=connector,
        headers={"User-Agent": settings.OUTBOUND_USER_AGENT, "Accept-Encoding": "identity"},
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
        auto_decompress=False,
        trust_env=False,
    )


async def post(
    session: aiohttp.ClientSession,
    url: str,
    *,
    body: bytes,
    headers: Mapping[str, str],
    timeout: float,
    read_limit: int = 4096,
) -> Answer:
    """Send `body` and return the answer; a 3xx is an answer like any other.

    `timeout` is in seconds over the whole exchange, from the name's lookup to the end of the excerpt. At most
    `read_limit` bytes of the answer are read, and the connection of a longer one is closed. A kept connection that ends
    without an answer makes it send once more, so the receiver may have the same bytes twice.
    Raises NotSent if no connection was made, NoAnswer for anything else, the passed deadline included.
    """
    try:
        destination = check_url(url)
        async with asyncio.timeout(timeout):
            _in_hand.set(_Post(await _look_up(destination)))
            return await _exchange(session, url, body, headers, read_limit)
    except DestinationNotAllowed as error:
        raise DestinationRefused(error.reason) from error
    except DestinationUnresolved as error:
        raise NotSent(str(error)) from error
    except aiohttp.ClientConnectorError as error:
        raise NotSent(summary(error)) from error
    except TimeoutError as error:
        raise NoAnswer(f"There was no whole answer within {timeout:g} s.") from error
    except (aiohttp.ClientError, OSError) as error:
        raise NoAnswer(summary(error)) from error


async def _exchange(
    session: aiohttp.ClientSession, url: str, body: bytes, headers: Mapping[str, str], read_limit: int
) -> Answer:
    try:
        response = await _send(session, url, body, headers)
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError):
        if not _in_hand.get().on_kept:
            raise
        response = await _send(session, url, body, headers)
    try:
        excerpt = bytearray()
        while len(excerpt) < read_limit and (chunk := await response.content.read(read_limit - len(excerpt))):
            excerpt += chunk
        return Answer(response.status, response.headers, bytes(excerpt))
    finally:
        response.close()  # whatever is still to come; the connection of an answer that was read whole is kept


async def _send(
    session: aiohttp.ClientSession, url: str, body: bytes, headers: Mapping[str, str]
) -> aiohttp.ClientResponse:
    # encoded=True: the bytes of the URL that was checked are the bytes that are used.
    return await session.post(URL(url, encoded=True), data=body, headers=headers, allow_redirects=False)


async def _look_up(destination: Destination) -> list[ResolveResult]:
    """The checked addresses of the destination's name; raises DestinationUnresolved or DestinationNotAllowed."""
    if destination.is_ip:
        return []  # checked with the URL, and where the socket is made
    try:
        async with asyncio.timeout(RESOLVE_SECONDS):
            addresses = await asyncio.wrap_future(webhook_names.begin(destination.host))
    except TimeoutError as error:
        raise DestinationUnresolved(f"{destination.host} does not resolve in time.") from error
    require_allowed(destination.host, addresses)
    return [_resolved(destination.host, address, destination.port) for address in addresses]


class _Connector(aiohttp.TCPConnector):
    """Gives a kept connection only to a post that has checked its address, and none to a post that is made once more."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._served: WeakSet[Any] = WeakSet()

    async def connect(
        self, req: aiohttp.ClientRequest, traces: list[Trace], timeout: aiohttp.ClientTimeout
    ) -> Connection:
        post = _in_hand.get(_Post([]))
        once_more, post.on_kept = post.on_kept, False
        while True:
            connection = await super().connect(req, traces, timeout)
            if connection.protocol not in self._served:
                self._served.add(connection.protocol)
                return connection
            if not once_more and _fits(connection, post):
                post.on_kept = True
                return connection
            connection.close()


def _fits(connection: Connection, post: _Post) -> bool:
    """Whether a kept connection leads where the post may go, and nothing has come on it that would pass for an answer."""
    if connection.transport is None or connection.protocol is None or connection.protocol.should_close:
        return False
    address = connection.transport.get_extra_info("peername")[0]
    return not post.addresses or any(each["host"] == address for each in post.addresses)


class _CheckedResolver(AbstractResolver):
    """Hands on the addresses that the post in hand has checked."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        return _in_hand.get().addresses

    async def close(self) -> None:
        """Nothing is held."""


def _resolved(host: str, address: str, port: int) -> ResolveResult:
    return ResolveResult(
        hostname=host,
        host=address,
        port=port,
        family=socket.AF_INET6 if ":" in address else socket.AF_INET,
        proto=socket.IPPROTO_TCP,
        flags=socket.AI_NUMERICHOST,
    )


def _checked_socket(addr_info: aiohttp.AddrInfoType) -> socket.socket:
    """Make the socket for one address. The last wall: aiohttp dials a literal address without asking a resolver."""
    family, kind, protocol, _, address = addr_info
    if not address_allowed(address[0]):
        raise PermissionError(errno.EACCES, "the address is not public")
    return socket.socket(family, kind, protocol)
