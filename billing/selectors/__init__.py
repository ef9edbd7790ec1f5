"""Reads: how a month stands and what came of it, whether there is room for more, whether counters and ledger agree."""

from __future__ import annotations

from billing.caps import SpendCap
from billing.selectors.books import Amounts, Drift, drift
from billing.selectors.month import (
    AgentShare,
    DayUsage,
    charges_of,
    months_of,
    open_alarms_of,
    usage_by_agent,
    usage_by_day,
)
from billing.selectors.nearly_spent import BudgetUse, nearly_spent
from billing.selectors.room import AgentCounts, agent_counts, agent_spend_cap, caps_of, check, check_all, spend_cap
from billing.selectors.subscriptions import is_entitled, subscription_of
from billing.selectors.usage import Bill, Usage, agent_usage_of, bill_of, usage_of

__all__ = [
    "AgentCounts",
    "AgentShare",
    "Amounts",
    "Bill",
    "BudgetUse",
    "DayUsage",
    "Drift",
    "SpendCap",
    "Usage",
    "agent_counts",
    "agent_spend_cap",
    "agent_usage_of",
    "bill_of",
    "caps_of",
    "charges_of",
    "check",
    "check_all",
    "drift",
    "is_entitled",
    "months_of",
    "nearly_spent",
    "open_alarms_of",
    "spend_cap",
    "subscription_of",
    "usage_by_agent",
    "usage_by_day",
    "usage_of",
]
