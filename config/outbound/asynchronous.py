"""Webhook posts, hundreds at once on one event loop.

The session's own resolver checks every address of a name and hands on the checked ones, so the address checked is the
one connected to; what is dialled is looked at once more where the socket is made. Every post has a connection of its
own: each is checked anew, and none meets a kept connection that its server is just closing.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Mapping
from dataclasses import dataclass

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from django.conf import settings
from yarl import URL

from config.outbound.addresses import address_allowed
from config.outbound.connections import tls_context
from config.outbound.destinations import (
    RESOLVE_SECONDS,
    DestinationNotAllowed,
    DestinationUnresolved,
    begin_lookup,
    check_url,
    require_allowed,
)
from config.outbound.errors import DestinationRefused, NoAnswer, NotSent, summary


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
    connector = aiohttp.TCPConnector(
        limit=connections,
        ssl=tls_context(),
        resolver=_CheckedResolver(),
        use_dns_cache=False,
        force_close=True,
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
    `read_limit` bytes of the answer are read, and the connection is closed.
    Raises NotSent if no connection was made, NoAnswer for anything else, the passed deadline included.
    """
    try:
        check_url(url)
        async with asyncio.timeout(timeout):
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
    # encoded=True: the bytes of the URL that was checked are the bytes that are used.
    response = await session.post(URL(url, encoded=True), data=body, headers=headers, allow_redirects=False)
    try:
        excerpt = bytearray()
        while len(excerpt) < read_limit and (chunk := await response.content.read(read_limit - len(excerpt))):
            excerpt += chunk
        return Answer(response.status, response.headers, bytes(excerpt))
    finally:
        response.close()  # whatever is still to come


class _CheckedResolver(AbstractResolver):
    """Resolves in a thread and refuses a name that has a single address which is not allowed."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return the checked addresses; raise DestinationUnresolved or DestinationNotAllowed."""
        try:
            async with asyncio.timeout(RESOLVE_SECONDS):
                addresses = await asyncio.wrap_future(begin_lookup(host, port))
        except TimeoutError as error:
            raise DestinationUnresolved(f"{host} does not resolve in time.") from error
        require_allowed(host, addresses)
        return [_resolved(host, address, port) for address in addresses]

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
