"""Business operations of billing: ledger, checkout pages, payment processor events, usage reports, nightly comparison."""

from __future__ import annotations

from billing.services.deleted_workspaces import end_subscriptions_of_deleted_workspaces
from billing.services.ledger import hold, lock_month_counters, release, release_many, settle, settle_many
from billing.services.processor_events import process_due_events, receive_event
from billing.services.reconcile import ReconciliationResult, reconcile, reconcile_now, run_nightly_reconciliation
from billing.services.sessions import create_checkout_session, create_portal_session
from billing.services.usage_reporting import report_due_usage

__all__ = [
    "ReconciliationResult",
    "create_checkout_session",
    "create_portal_session",
    "end_subscriptions_of_deleted_workspaces",
    "hold",
    "lock_month_counters",
    "process_due_events",
    "receive_event",
    "reconcile",
    "reconcile_now",
    "release",
    "release_many",
    "report_due_usage",
    "run_nightly_reconciliation",
    "settle",
    "settle_many",
]
