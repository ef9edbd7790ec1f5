"""Business operations of billing: ledger, checkout pages, payment processor events, usage reports, nightly comparison."""

from __future__ import annotations

from billing.services.checkout_and_portal import create_checkout_or_portal_session, create_portal_session
from billing.services.corrections import approve_correction, propose_correction, withdraw_correction
from billing.services.deleted_workspaces import cancel_subscriptions_of_deleted_workspaces
from billing.services.ledger import (
    PriceAlreadyHeld,
    hold_writes,
    lock_month_counters,
    release_holds,
    run_writes_ending_holds,
    run_writes_with_holds,
    settle_holds,
)
from billing.services.processor_events import process_due_events, receive_event
from billing.services.reconcile import (
    ReconciliationResult,
    reconcile_billing,
    reconcile_for_operator,
    reconcile_if_night_or_incomplete,
)
from billing.services.usage_reporting import send_due_usage_reports

__all__ = [
    "PriceAlreadyHeld",
    "ReconciliationResult",
    "approve_correction",
    "cancel_subscriptions_of_deleted_workspaces",
    "create_checkout_or_portal_session",
    "create_portal_session",
    "hold_writes",
    "lock_month_counters",
    "process_due_events",
    "propose_correction",
    "receive_event",
    "reconcile_billing",
    "reconcile_for_operator",
    "reconcile_if_night_or_incomplete",
    "release_holds",
    "run_writes_ending_holds",
    "run_writes_with_holds",
    "send_due_usage_reports",
    "settle_holds",
    "withdraw_correction",
]
