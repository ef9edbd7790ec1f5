"""The package of billing's models: ledger, usage counters, corrections, payment events, subscriptions, reports and alarms."""

from __future__ import annotations

from billing.models.alarms import BillingAlarm
from billing.models.corrections import Correction
from billing.models.ledger import (
    CORRECTION_PLATFORM,
    SPENT_ENTRIES_CONDITION,
    DayCounter,
    LedgerEntry,
    MonthCounter,
    UsageTotal,
)
from billing.models.processor import ProcessorEvent, Subscription, UsageReport

__all__ = [
    "CORRECTION_PLATFORM",
    "SPENT_ENTRIES_CONDITION",
    "BillingAlarm",
    "Correction",
    "DayCounter",
    "LedgerEntry",
    "MonthCounter",
    "ProcessorEvent",
    "Subscription",
    "UsageReport",
    "UsageTotal",
]
