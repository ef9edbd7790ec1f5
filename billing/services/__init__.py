"""The business operations of billing: money of targets, sessions at the payment processor, its events, usage, truth."""

from __future__ import annotations

from billing.services.effects import process_due_events
from billing.services.endings import end_subscriptions_of_deleted_workspaces
from billing.services.events import receive_event
from billing.services.ledger import hold, lock_months, release, release_many, settle, settle_many
from billing.services.metering import report_due_usage
from billing.services.operators import reconcile_now
from billing.services.reconcile import Reconciled, reconcile, reconcile_at_night
from billing.services.sessions import create_checkout_session, create_portal_session

__all__ = [
    "Reconciled",
    "create_checkout_session",
    "create_portal_session",
    "end_subscriptions_of_deleted_workspaces",
    "hold",
    "lock_months",
    "process_due_events",
    "receive_event",
    "reconcile",
    "reconcile_at_night",
    "reconcile_now",
    "release",
    "release_many",
    "report_due_usage",
    "settle",
    "settle_many",
]
