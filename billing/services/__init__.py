"""The business operations of billing: money of targets, sessions at the payment processor, and its events."""

from __future__ import annotations

from billing.services.events import receive_event
from billing.services.ledger import hold, lock_months, release, release_many, settle
from billing.services.sessions import create_checkout_session, create_portal_session

__all__ = [
    "create_checkout_session",
    "create_portal_session",
    "hold",
    "lock_months",
    "receive_event",
    "release",
    "release_many",
    "settle",
]
