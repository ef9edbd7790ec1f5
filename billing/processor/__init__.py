"""The payment processor, Stripe: customers, its pages, subscriptions, metered usage. Every fault is BillingUnavailable."""

from __future__ import annotations

from billing.processor.sessions import Session, create_checkout_session, create_customer, create_portal_session
from billing.processor.subscriptions import cancel_subscription, subscriptions_of
from billing.processor.usage import MeterReading, Receipt, Verdict, find_meter, recorded_cents, report_usage

__all__ = [
    "MeterReading",
    "Receipt",
    "Session",
    "Verdict",
    "cancel_subscription",
    "create_checkout_session",
    "create_customer",
    "create_portal_session",
    "find_meter",
    "recorded_cents",
    "report_usage",
    "subscriptions_of",
]
