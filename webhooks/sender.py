"""One attempt to deliver: bytes and headers to an address, and what came of it. No database here."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from email.utils import parsedate_to_datetime
from enum import Enum, auto

import aiohttp
from django.utils import timezone

from config.outbound import DestinationNotAllowed, OutboundError, PostAnswer, check_url, create_session, post

logger = logging.getLogger(__name__)
ATTEMPT_TIMEOUT_SECONDS = 10.0  # over the whole exchange, from the name's lookup to the end of what is read
READ_BYTES = 4096
EXCERPT_BYTES = 1024
ERROR_CHARACTERS = 1000
MAX_IN_FLIGHT = 512
_SECONDS = re.compile(r"[0-9]{1,9}")


class Verdict(Enum):
    DELIVERED = auto()
    FAILED = auto()  # to be tried again
    REFUSED = auto()  # of no use to try again


@dataclass(frozen=True)
class DeliveryRequest:
    """What one attempt sends."""

    url: str
    body: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Outcome:
    """What came of an attempt. `retry_after` and `seconds`, which the attempt took, are in seconds.

    `silent`: the receiver gave no answer at all.
    """

    verdict: Verdict
    status_code: int | None = None
    error: str | None = None
    excerpt: str | None = None
    retry_after: float = 0.0
    seconds: float = 0.0
    silent: bool = False


async def send_delivery(session: aiohttp.ClientSession, parcel: DeliveryRequest) -> Outcome:
    """Send the parcel once. Never raises: a fault of our own is a failed attempt too."""
    began = time.monotonic()
    try:
        check_url(parcel.url)
        answer = await post(
            session,
            parcel.url,
            body=parcel.body,
            headers=parcel.headers,
            timeout=ATTEMPT_TIMEOUT_SECONDS,
            read_limit=READ_BYTES,
        )
        outcome = _judge(answer)
    except DestinationNotAllowed as error:
        outcome = Outcome(Verdict.REFUSED, error=error.reason)
    except OutboundError as error:
        outcome = Outcome(Verdict.FAILED, error=_text(str(error))[:ERROR_CHARACTERS], silent=True)
    except Exception as error:
        logger.exception("An attempt to deliver met a fault of the service.")
        outcome = Outcome(Verdict.FAILED, error=f"Internal error ({type(error).__name__}).")
    return replace(outcome, seconds=time.monotonic() - began)


async def send_all(parcels: Sequence[DeliveryRequest]) -> list[Outcome]:
    """Send the parcels concurrently; the outcomes stand in the same order."""
    async with create_session(connections=MAX_IN_FLIGHT) as session:
        places = asyncio.Semaphore(MAX_IN_FLIGHT)

        async def send(parcel: DeliveryRequest) -> Outcome:
            async with places:
                return await send_delivery(session, parcel)

        return await asyncio.gather(*map(send, parcels))


def _judge(answer: PostAnswer) -> Outcome:
    """2xx is delivered, 410 says that nobody will ever take it, anything else may be better another time."""
    excerpt = _text(answer.excerpt[:EXCERPT_BYTES].decode("utf-8", "replace"))
    if 200 <= answer.status < 300:
        return Outcome(Verdict.DELIVERED, answer.status, excerpt=excerpt)
    return Outcome(
        Verdict.REFUSED if answer.status == 410 else Verdict.FAILED,
        answer.status,
        error=f"The receiver answered {answer.status}.",
        excerpt=excerpt,
        retry_after=_retry_after(answer.headers.get("Retry-After", "")),
    )


def _retry_after(value: str) -> float:
    """Retry-After (RFC 9110 10.2.3), seconds or a date, as seconds from now; 0 for none, the past or nonsense."""
    if _SECONDS.fullmatch(value):
        return float(value)
    try:
        date = parsedate_to_datetime(value)
    except (ValueError, TypeError):
        return 0.0
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max(0.0, (date - timezone.now()).total_seconds())


def _text(value: str) -> str:
    """PostgreSQL keeps no NUL in texts."""
    return value.replace("\0", "\N{REPLACEMENT CHARACTER}")
