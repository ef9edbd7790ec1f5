"""Which subscription statuses pay for usage beyond the free credit. No database or network access.

The statuses are the processor's (Stripe's reference: Subscription, `status`). A subscription whose last payment failed is
`past_due` while the processor retries; it still pays for `PAST_DUE_GRACE_DAYS`, because a processor may be configured to
leave it past due forever. Never paid (incomplete, incomplete_expired), unpaid, paused and canceled subscriptions do not pay.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings

PAST_DUE = "past_due"
PAYING_STATUSES = ("active", "trialing")
# Started and not ended.
RUNNING_STATUSES = (*PAYING_STATUSES, PAST_DUE, "paused", "unpaid")
ENDED_STATUSES = ("canceled", "incomplete_expired")


def entitles(status: str, since: datetime | None, now: datetime) -> bool:
    """Return whether a subscription with this status `since` a time pays for usage at `now`."""
    if status == PAST_DUE:
        return since is None or now < since + timedelta(days=settings.PAST_DUE_GRACE_DAYS)
    return status in PAYING_STATUSES
