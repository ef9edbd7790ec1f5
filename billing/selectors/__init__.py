"""Reads: how a month stands and what came of it, whether there is room for more, whether counters and ledger agree."""

from __future__ import annotations

from billing.caps import SpendCap
from billing.selectors.books import Amounts, Drift, drift
from billing.selectors.room import agent_spend_cap, caps_of, check, check_all, spend_cap
from billing.selectors.subscriptions import is_entitled, subscription_of
from billing.selectors.usage import Bill, Usage, agent_usage_of, bill_of, usage_of

__all__ = [
    "Amounts",
    "Bill",
    "Drift",
    "SpendCap",
    "Usage",
    "agent_spend_cap",
    "agent_usage_of",
    "bill_of",
    "caps_of",
    "check",
    "check_all",
    "drift",
    "is_entitled",
    "spend_cap",
    "subscription_of",
    "usage_of",
]
