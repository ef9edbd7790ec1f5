"""Reports metered usage to the payment processor and reads back the recorded sums.

Source: Stripe's reference, Meter Event: `identifier` is unique within a rolling period of at least 24 hours, and a second
one is refused (400, "An event already exists with identifier …"); `timestamp` lies within the past 35 days. Meter Event
Summary: sums of whole minutes, eventually consistent. Idempotent requests: a key returns the first response again, even
a 500, so each attempt uses its own key, and only the identifier prevents double counting.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto

import stripe
from django.conf import settings

from billing.processor.client import loggable_fault, new_client, processor_client
from config.outbound import NotSent

logger = logging.getLogger(__name__)


class ReportOutcome(Enum):
    RECORDED = auto()
    REFUSED = auto()  # not recorded: the report or the meter is invalid
    NOT_SERVED = auto()  # not recorded: the processor cannot be reached, or refuses all requests
    UNKNOWN = auto()


@dataclass(frozen=True)
class MeterEvent:
    """A usage report as sent to the processor."""

    identifier: str
    customer_id: str
    cents: int
    at: datetime
    attempt: int


@dataclass(frozen=True)
class ReportResult:
    """The result of one attempt to report usage; `fault` may be logged and stored."""

    outcome: ReportOutcome
    fault: str = ""


def report_usage(reading: MeterEvent) -> ReportResult:
    """Send one usage report, without retries; the caller repeats an attempt with an unknown outcome."""
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
        outcome, fault = _outcome(error), loggable_fault(error)
        if outcome is not ReportOutcome.RECORDED:
            logger.warning("Usage report %s: %s, %s", reading.identifier, outcome.name.lower(), fault)
        return ReportResult(outcome, fault[:200])
    return ReportResult(ReportOutcome.RECORDED)


def find_meter() -> str | None:
    """Return the id of the active meter for STRIPE_METER_EVENT; None if the processor has none."""
    with processor_client() as client:
        for meter in client.v1.billing.meters.list({"status": "active", "limit": 100}).auto_paging_iter():
            if meter.event_name == settings.STRIPE_METER_EVENT:
                return str(meter.id)
    return None


def recorded_cents(meter_id: str, customer_id: str, start: datetime, end: datetime) -> float:
    """Return the meter's sum for the customer from `start` until before `end`, both on whole minutes."""
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


def _outcome(error: stripe.StripeError) -> ReportOutcome:
    if isinstance(error, stripe.APIConnectionError):
        return ReportOutcome.NOT_SERVED if isinstance(error.__cause__, NotSent) else ReportOutcome.UNKNOWN
    if _is_duplicate(error):
        return ReportOutcome.RECORDED
    if error.http_status in (401, 403, 429):
        return ReportOutcome.NOT_SERVED
    if error.http_status is not None and 400 <= error.http_status < 500 and error.http_status not in (408, 409):
        return ReportOutcome.REFUSED
    return ReportOutcome.UNKNOWN


def _is_duplicate(error: stripe.StripeError) -> bool:
    """Return whether the processor already has this identifier, because an earlier attempt arrived."""
    return error.code == "duplicate_meter_event" or (
        error.http_status == 400 and "already exists with identifier" in (error.user_message or "")
    )
