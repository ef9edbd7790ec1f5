"""Metered usage at the processor: reporting it, and reading back what arrived.

Source: Stripe's reference, Meter Event: `identifier` is unique within a rolling period of at least 24 hours, and a second
one is refused (400, "An event already exists with identifier …"); `timestamp` lies within the past 35 days. Meter Event
Summary: sums of whole minutes, eventually consistent. Idempotent requests: a key is answered the first answer again, a 500
too, so each attempt takes a key of its own and the identifier alone keeps it from being counted twice.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto

import stripe
from django.conf import settings

from billing.processor.client import fault_of, new_client, processor_client
from config.outbound import NotSent

logger = logging.getLogger(__name__)


class Verdict(Enum):
    RECORDED = auto()
    REFUSED = auto()  # not recorded: something is wrong with this report, or with the meter
    UNSERVED = auto()  # not recorded: the processor serves nobody, or not now
    UNKNOWN = auto()


@dataclass(frozen=True)
class MeterReading:
    """One report as it is sent."""

    identifier: str
    customer_id: str
    cents: int
    at: datetime
    attempt: int


@dataclass(frozen=True)
class Receipt:
    """What became of an attempt to report; `fault` may be logged and stored."""

    verdict: Verdict
    fault: str = ""


def report_usage(reading: MeterReading) -> Receipt:
    """Send one report, once: an attempt whose outcome is unknown is the caller's to repeat."""
    try:
        new_client(retries=0).v1.billing.meter_events.create(
            {
                "event_name": settings.STRIPE_METER_EVENT,
                "identifier": reading.identifier,
                "timestamp": int(reading.at.timestamp()),
                "payload": {"stripe_customer_id": reading.customer_id, "value": str(reading.cents)},
            },
            {"idempotency_key": f"{reading.identifier}-{reading.attempt}"},
        )
    except stripe.StripeError as error:
        verdict, fault = _verdict(error), fault_of(error)
        if verdict is not Verdict.RECORDED:
            logger.warning("Usage report %s: %s, %s", reading.identifier, verdict.name.lower(), fault)
        return Receipt(verdict, fault[:200])
    return Receipt(Verdict.RECORDED)


def find_meter() -> str | None:
    """The id of the active meter that takes the service's reports; None when the processor has none."""
    with processor_client() as client:
        for meter in client.v1.billing.meters.list({"status": "active", "limit": 100}).auto_paging_iter():
            if meter.event_name == settings.STRIPE_METER_EVENT:
                return str(meter.id)
    return None


def recorded_cents(meter_id: str, customer_id: str, start: datetime, end: datetime) -> float:
    """What the meter adds up for the customer from `start` until before `end`, both on whole minutes."""
    with processor_client() as client:
        found = client.v1.billing.meters.event_summaries.list(
            meter_id,
            {
                "customer": customer_id,
                "start_time": int(start.timestamp()),
                "end_time": int(end.timestamp()),
                "limit": 100,
            },
        ).data
    return sum(float(summary.aggregated_value) for summary in found)


def _verdict(error: stripe.StripeError) -> Verdict:
    if isinstance(error, stripe.APIConnectionError):
        return Verdict.UNSERVED if isinstance(error.__cause__, NotSent) else Verdict.UNKNOWN
    if _is_duplicate(error):
        return Verdict.RECORDED
    if error.http_status in (401, 403, 429):
        return Verdict.UNSERVED
    if error.http_status is not None and 400 <= error.http_status < 500 and error.http_status not in (408, 409):
        return Verdict.REFUSED
    return Verdict.UNKNOWN


def _is_duplicate(error: stripe.StripeError) -> bool:
    """The processor has this identifier already: an earlier attempt arrived."""
    return error.code == "duplicate_meter_event" or (
        error.http_status == 400 and "already exists with identifier" in (error.user_message or "")
    )
