"""The API of the payment processor, Stripe. Functions raise BillingUnavailable if the processor does not answer."""

from __future__ import annotations

from billing.processor.sessions import Session, create_checkout_session, create_customer, create_portal_session
from billing.processor.subscriptions import cancel_subscription, subscriptions_of
from billing.processor.usage import MeterEvent, ReportOutcome, ReportResult, find_meter, recorded_cents, report_usage

__all__ = [
    "MeterEvent",
    "ReportOutcome",
    "ReportResult",
    "Session",
    "cancel_subscription",
    "create_checkout_session",
    "create_customer",
    "create_portal_session",
    "find_meter",
    "recorded_cents",
    "report_usage",
    "subscriptions_of",
]
