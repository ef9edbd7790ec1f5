"""The sender of webhook deliveries: sends HTTP requests and interprets the responses, without any database access."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC
from email.utils import parsedate_to_datetime
from enum import Enum, auto

import aiohttp
from django.utils import timezone

from config.outbound import DestinationNotAllowed, OutboundError, check_url_without_lookup
from config.outbound.async_client import HttpPostResponseExcerpt, post

logger = logging.getLogger(__name__)
ATTEMPT_TIMEOUT_SECONDS = 10.0  # time limit of the whole exchange, from the DNS lookup to the last byte read
MAX_RESPONSE_BYTES = 4096
EXCERPT_BYTES = 1024
ERROR_CHARACTERS = 1000
MAX_IN_FLIGHT = 512
_SECONDS = re.compile(r"[0-9]{1,9}")


class DeliveryVerdict(Enum):
    """What the webhook sender concludes from one attempt: delivered, to be sent again, or never to be sent again."""

    DELIVERED = auto()
    FAILED = auto()  # to be retried
    REFUSED = auto()  # not to be retried


@dataclass(frozen=True)
class DeliveryRequest:
    """The HTTP request of one webhook delivery attempt; its URL may contain a secret, so its repr leaves it out."""

    url: str = field(repr=False)
    body: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True)
class AttemptOutcome:
    """The outcome of the webhook sender's attempt: delivered, to be retried or refused, with the response's data.

    `retry_after` is the number of seconds that the receiver asks to wait, and `seconds` is the attempt's duration. `silent`:
    the receiver did not answer at all.
    """

    verdict: DeliveryVerdict
    status_code: int | None = None
    error: str | None = None
    excerpt: str | None = None
    retry_after: float = 0.0
    seconds: float = 0.0
    silent: bool = False


async def send_delivery(session: aiohttp.ClientSession, request: DeliveryRequest) -> AttemptOutcome:
    """Webhook sender: send the request of an attempt once; never raises, an unexpected error is a failed attempt."""
    began = time.monotonic()
    try:
        check_url_without_lookup(request.url)
        answer = await post(
            session,
            request.url,
            body=request.body,
            headers=request.headers,
            timeout=ATTEMPT_TIMEOUT_SECONDS,
            read_limit=MAX_RESPONSE_BYTES,
        )
        outcome = _outcome_of(answer)
    except DestinationNotAllowed as error:
        outcome = AttemptOutcome(DeliveryVerdict.REFUSED, error=error.reason)
    except OutboundError as error:
        outcome = AttemptOutcome(DeliveryVerdict.FAILED, error=_text(str(error))[:ERROR_CHARACTERS], silent=True)
    except Exception as error:
        logger.exception("A delivery attempt failed with an unexpected error.")
        outcome = AttemptOutcome(DeliveryVerdict.FAILED, error=f"Internal error ({type(error).__name__}).")
    return replace(outcome, seconds=time.monotonic() - began)


def _outcome_of(answer: HttpPostResponseExcerpt) -> AttemptOutcome:
    """Interpret a webhook receiver's response: 2xx means delivered, 410 never to be retried, all else to be retried."""
    excerpt = _text(answer.excerpt[:EXCERPT_BYTES].decode("utf-8", "replace"))
    if 200 <= answer.status < 300:
        return AttemptOutcome(DeliveryVerdict.DELIVERED, answer.status, excerpt=excerpt)
    return AttemptOutcome(
        DeliveryVerdict.REFUSED if answer.status == 410 else DeliveryVerdict.FAILED,
        answer.status,
        error=f"The receiver answered {answer.status}.",
        excerpt=excerpt,
        retry_after=_retry_after(answer.headers.get("Retry-After", "")),
    )


def _retry_after(value: str) -> float:
    """Return how many seconds a webhook receiver's Retry-After header asks to wait; 0 if absent, past or invalid."""
    if _SECONDS.fullmatch(value):
        return float(value)
    try:
        date = parsedate_to_datetime(value)
    except (ValueError, TypeError):
        return 0.0
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max(0.0, (date - timezone.now()).total_seconds())


def _text(value: str) -> str:
    """Replace NUL characters in the text that the webhook sender received, because PostgreSQL cannot store them."""
    return value.replace("\0", "\N{REPLACEMENT CHARACTER}")
