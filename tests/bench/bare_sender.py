"""The reference for deliveries: an aiohttp loop that signs and sends the same bodies without storing anything."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ssl
import time
from collections.abc import Iterator, Sequence

import aiohttp


def send_all(url: str, bodies: Sequence[bytes], *, secret: str, at_once: int, trusted: str, keep: bool) -> float:
    """Send the bodies to the HTTPS receiver, `at_once` at a time; return the seconds. Raises RuntimeError if one is refused.

    `keep`: connections are used again; otherwise each body gets one of its own, as the service does it.
    `trusted` is the path of the receiver's certificate.
    """
    return asyncio.run(_send_all(url, bodies, secret, at_once, ssl.create_default_context(cafile=trusted), keep))


async def _send_all(
    url: str, bodies: Sequence[bytes], secret: str, at_once: int, context: ssl.SSLContext, keep: bool
) -> float:
    connector = aiohttp.TCPConnector(limit=at_once, ssl=context, force_close=not keep)
    async with aiohttp.ClientSession(connector=connector) as session:
        began, waiting = time.monotonic(), iter(bodies)
        await asyncio.gather(*(_send(session, url, waiting, secret.encode()) for _ in range(at_once)))
        return time.monotonic() - began


async def _send(session: aiohttp.ClientSession, url: str, waiting: Iterator[bytes], key: bytes) -> None:
    for body in waiting:
        now = int(time.time())
        digest = hmac.new(key, f"{now}.".encode() + body, hashlib.sha256).hexdigest()
        headers = {"content-type": "application/json", "x-service-signature": f"t={now},v1={digest}"}
        async with session.post(url, data=body, headers=headers) as response:
            await response.read()
            if response.status != 204:
                raise RuntimeError(f"The receiver answered {response.status} to the bare loop.")
