"""The package of billing's services: ledger, checkout pages, payment processor events, usage reports, nightly comparison."""

from __future__ import annotations

from billing.services.checkout_and_portal import create_checkout_or_portal_session, create_portal_session
from billing.services.corrections import approve_correction, propose_correction, withdraw_correction
from billing.services.deleted_workspaces import cancel_subscriptions_of_deleted_workspaces
from billing.services.ledger import (
    PriceAlreadyReserved,
    build_money_hold_writes,
    lock_month_counters_in_order,
    release_holds,
    run_writes_reserving_money,
    run_writes_settling_money,
    settle_holds_as_spent,
)
from billing.services.processor_events import process_due_events, verify_and_store_event
from billing.services.reconcile import (
    ReconciliationResult,
    reconcile_billing,
    reconcile_billing_for_operator,
    reconcile_if_night_or_incomplete,
)
from billing.services.usage_reporting import send_or_postpone_due_usage_reports

__all__ = [
    "PriceAlreadyReserved",
    "ReconciliationResult",
    "approve_correction",
    "build_money_hold_writes",
    "cancel_subscriptions_of_deleted_workspaces",
    "create_checkout_or_portal_session",
    "create_portal_session",
    "lock_month_counters_in_order",
    "process_due_events",
    "propose_correction",
    "reconcile_billing",
    "reconcile_billing_for_operator",
    "reconcile_if_night_or_incomplete",
    "release_holds",
    "run_writes_reserving_money",
    "run_writes_settling_money",
    "send_or_postpone_due_usage_reports",
    "settle_holds_as_spent",
    "verify_and_store_event",
    "withdraw_correction",
]
