"""Models of billing: ledger and counters, processor events, subscriptions, usage reports and alarms."""

from __future__ import annotations

from billing.models.alarms import BillingAlarm
from billing.models.ledger import DayCounter, LedgerEntry, MonthCounter, UsageTotal
from billing.models.subscriptions import ProcessorEvent, Subscription
from billing.models.usage_reports import UsageReport

__all__ = [
    "BillingAlarm",
    "DayCounter",
    "LedgerEntry",
    "MonthCounter",
    "ProcessorEvent",
    "Subscription",
    "UsageReport",
    "UsageTotal",
]
