"""Queries of billing: spending against caps, usage, charges, subscriptions, and the check of counters against the ledger."""

from __future__ import annotations

from billing.caps import SpendCap
from billing.selectors.caps import (
    AgentCapUsage,
    agent_cap_usage,
    agent_spend_cap,
    caps_of,
    check_charges,
    check_charges_by_due_time,
    spend_cap,
)
from billing.selectors.ledger_check import Drift, MonthAmounts, drift
from billing.selectors.month_details import (
    AgentUsage,
    DayUsage,
    charges_of,
    months_of,
    open_alarms_of,
    usage_by_agent,
    usage_by_day,
)
from billing.selectors.nearly_spent_budgets import BudgetUse, nearly_spent_budgets
from billing.selectors.subscriptions import is_entitled, subscription_of
from billing.selectors.usage import Bill, Usage, agent_usage_of, bill_of, usage_of

__all__ = [
    "AgentCapUsage",
    "AgentUsage",
    "Bill",
    "BudgetUse",
    "DayUsage",
    "Drift",
    "MonthAmounts",
    "SpendCap",
    "Usage",
    "agent_cap_usage",
    "agent_spend_cap",
    "agent_usage_of",
    "bill_of",
    "caps_of",
    "charges_of",
    "check_charges",
    "check_charges_by_due_time",
    "drift",
    "is_entitled",
    "months_of",
    "nearly_spent_budgets",
    "open_alarms_of",
    "spend_cap",
    "subscription_of",
    "usage_by_agent",
    "usage_by_day",
    "usage_of",
]
