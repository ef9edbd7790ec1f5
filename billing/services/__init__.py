"""Business operations of billing: ledger, processor sessions and events, usage reports, reconciliation."""

from __future__ import annotations

from billing.services.deleted_workspaces import end_subscriptions_of_deleted_workspaces
from billing.services.event_processing import process_due_events
from billing.services.ledger import hold, lock_month_counters, release, release_many, settle, settle_many
from billing.services.operators import reconcile_now
from billing.services.reconcile import ReconciliationResult, reconcile, run_nightly_reconciliation
from billing.services.sessions import create_checkout_session, create_portal_session
from billing.services.usage_reporting import report_due_usage
from billing.services.webhook import receive_event

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
