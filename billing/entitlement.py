"""Which states of a subscription pay for what goes beyond the free credit. Pure: no database, no network.

The words are the processor's (Stripe's reference: Subscription, `status`). A subscription whose last payment failed is
`past_due` while the processor tries again; it pays for a grace of `PAST_DUE_GRACE_DAYS`, since a processor may be set to
leave it so for ever. What was never paid (incomplete, incomplete_expired), is given up (unpaid), stands still (paused) or
has ended (canceled) pays for nothing.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings

PAST_DUE = "past_due"
PAYING = ("active", "trialing")
# Begun and not ended.
RUNNING = (*PAYING, PAST_DUE, "paused", "unpaid")
ENDED = ("canceled", "incomplete_expired")


def entitles(status: str, since: datetime | None, now: datetime) -> bool:
    """Whether a subscription that has had this status `since` then pays at `now`."""
    if status == PAST_DUE:
        return since is None or now < since + timedelta(days=settings.PAST_DUE_GRACE_DAYS)
    return status in PAYING
