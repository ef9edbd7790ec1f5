"""The asynchronous HTTP client for webhook deliveries, which sends hundreds of POST requests in one thread.

Each request resolves its host and checks every address. The session's resolver returns those checked addresses, so that the
checked address is the one connected to; the address is checked again when the socket is created.
Connections stay open for a second, because TLS handshakes are the largest cost at a busy receiver. A connection is reused
only by a request that has checked its address. If the server closes it at that moment, the request is sent again on a new
one.
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

from config.outbound.connections import tls_context
from config.outbound.destinations import (
    RESOLVE_SECONDS,
    Destination,
    DestinationNotAllowed,
    check_url_without_lookup,
    is_allowed_address,
    require_allowed_addresses,
)
from config.outbound.errors import DestinationUnresolved, NotSent, NotSentToForbiddenHost, SentWithoutAnswer, error_summary
from config.outbound.resolver import webhook_resolver

KEEPALIVE_SECONDS = 1.0  # few servers close sooner (gunicorn after 2 s, Node after 5)


@dataclass
class _Post:
    """A POST request that the asynchronous client is sending, with the checked IP addresses of its host."""

    addresses: list[ResolveResult]
    reused: bool = False  # it was sent on a connection that served another post before


_current_post: ContextVar[_Post] = ContextVar("current_post")


@dataclass(frozen=True)
class HttpPostResponseExcerpt:
    """The response to a POST request of the asynchronous client; `excerpt` is the start of its body."""

    status: int
    headers: Mapping[str, str]
    excerpt: bytes


def create_session(*, connections: int) -> aiohttp.ClientSession:
    """Return a new asynchronous HTTP client (an aiohttp session) with at most `connections` open connections.

    Waiting for a free connection counts against the time-out of a POST request, so do not send more requests at once.
    """
    connector = _Connector(
        limit=connections,
        ssl=tls_context(),
        resolver=_CheckedResolver(),
        use_dns_cache=False,
        keepalive_timeout=KEEPALIVE_SECONDS,
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
) -> HttpPostResponseExcerpt:
    """Send a POST request with the asynchronous client and return the response; a redirect is returned, not followed.

    `timeout` limits the whole exchange in seconds, from the DNS lookup to the end of the excerpt. At most `read_limit`
    bytes of the answer are read. If a reused connection closes without an answer, the request is sent again, so the
    receiver may get the same bytes twice. Raises NotSent if no connection was made, and SentWithoutAnswer for any
    other failure.
    """
    try:
        destination = check_url_without_lookup(url)
        async with asyncio.timeout(timeout):
            _current_post.set(_Post(await _look_up(destination)))
            return await _exchange(session, url, body, headers, read_limit)
    except DestinationNotAllowed as error:
        raise NotSentToForbiddenHost(error.reason) from error
    except aiohttp.ClientConnectorError as error:
        raise NotSent(error_summary(error)) from error
    except TimeoutError as error:
        raise SentWithoutAnswer(f"No complete answer within {timeout:g} s.") from error
    except (aiohttp.ClientError, OSError) as error:
        raise SentWithoutAnswer(error_summary(error)) from error


async def _exchange(
    session: aiohttp.ClientSession, url: str, body: bytes, headers: Mapping[str, str], read_limit: int
) -> HttpPostResponseExcerpt:
    try:
        response = await _send(session, url, body, headers)
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError):
        if not _current_post.get().reused:
            raise
        response = await _send(session, url, body, headers)
    try:
        excerpt = bytearray()
        while len(excerpt) < read_limit and (chunk := await response.content.read(read_limit - len(excerpt))):
            excerpt += chunk
        return HttpPostResponseExcerpt(response.status, response.headers, bytes(excerpt))
    finally:
        response.close()  # does not close the connection of an answer that was read to its end


async def _send(session: aiohttp.ClientSession, url: str, body: bytes, headers: Mapping[str, str]) -> aiohttp.ClientResponse:
    # encoded=True: the bytes of the URL that was checked are the bytes that are used.
    return await session.post(URL(url, encoded=True), data=body, headers=headers, allow_redirects=False)


async def _look_up(destination: Destination) -> list[ResolveResult]:
    """Look up and check, for the asynchronous client, the IP addresses of a POST's host. Raises DestinationNotAllowed."""
    if destination.is_ip:
        return []  # checked with the URL and when the socket is created
    try:
        async with asyncio.timeout(RESOLVE_SECONDS):
            addresses = await asyncio.wrap_future(webhook_resolver.start_lookup(destination.host))
    except TimeoutError as error:
        raise DestinationUnresolved(f"{destination.host} does not resolve in time.") from error
    require_allowed_addresses(destination.host, addresses)
    return [
        ResolveResult(
            hostname=destination.host,
            host=address,
            port=destination.port,
            family=socket.AF_INET6 if ":" in address else socket.AF_INET,
            proto=socket.IPPROTO_TCP,
            flags=socket.AI_NUMERICHOST,
        )
        for address in addresses
    ]


class _Connector(aiohttp.TCPConnector):
    """The connection pool of the asynchronous client; a POST reuses only a connection to one of its checked IP addresses."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._served: WeakSet[Any] = WeakSet()

    async def connect(self, req: aiohttp.ClientRequest, traces: list[Trace], timeout: aiohttp.ClientTimeout) -> Connection:
        post = _current_post.get(_Post([]))
        sent_again, post.reused = post.reused, False
        while True:
            connection = await super().connect(req, traces, timeout)
            if connection.protocol not in self._served:
                self._served.add(connection.protocol)
                return connection
            if not sent_again and _fits(connection, post):
                post.reused = True
                return connection
            connection.close()


def _fits(connection: Connection, post: _Post) -> bool:
    """Return whether the asynchronous client may reuse a connection for a POST: to a checked IP address, no unread data."""
    if connection.transport is None or connection.protocol is None or connection.protocol.should_close:
        return False
    address = connection.transport.get_extra_info("peername")[0]
    return not post.addresses or any(each["host"] == address for each in post.addresses)


class _CheckedResolver(AbstractResolver):
    """The asynchronous client's DNS resolver; it only returns the IP addresses that were checked for the current POST."""

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC) -> list[ResolveResult]:
        return _current_post.get().addresses

    async def close(self) -> None:
        """Do nothing when the asynchronous client is closed, because its resolver holds nothing open."""


def _checked_socket(addr_info: aiohttp.AddrInfoType) -> socket.socket:
    """Create a socket for the asynchronous client after a last check that its IP address is allowed."""
    family, kind, protocol, _, address = addr_info
    if not is_allowed_address(address[0]):
        raise PermissionError(errno.EACCES, "the address is not public")
    return socket.socket(family, kind, protocol)
