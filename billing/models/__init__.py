"""The tables of billing: the books, what the payment processor tells, what is told to it, and what needs an operator."""

from __future__ import annotations

from billing.models.alarms import BillingAlarm
from billing.models.books import DayCounter, LedgerEntry, MonthCounter, UsageTotal
from billing.models.reports import UsageReport
from billing.models.subscriptions import ProcessorEvent, Subscription

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
