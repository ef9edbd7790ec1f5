"""Deliveries: claimed, signed, sent, and their outcomes recorded. The attempt itself is in webhooks/sender.py."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from config import metrics
from config.api.caller import WorkspaceStatus
from config.jobs.backoff import scheduled_pause
from config.jobs.due import claim_due
from config.jobs.fenced_updates import Write, update_rows
from webhooks import signing
from webhooks.models import Delivery
from webhooks.sender import IN_FLIGHT, Outcome, Parcel, Verdict, send_all
from webhooks.services.signing_secrets import signing_keys

LEASE = timedelta(seconds=60)  # well beyond an attempt's deadline and the time to record its outcome
LONGEST_RETRY_AFTER_SECONDS = 36_000.0
RECORDED = (
    "status",
    "due_at",
    "lease_until",
    "attempts",
    "last_status_code",
    "last_error",
    "last_response_excerpt",
    "delivered_at",
    "given_up_at",
)
CLAIMED = (
    *(field.name for field in Delivery._meta.concrete_fields),
    "event__kind",
    "event__payload",
    "workspace__status",
)


def claim(deliveries: QuerySet[Delivery], *, limit: int, looked: bool = False) -> list[Delivery]:
    """Claim up to `limit` due ones of `deliveries`, with what is needed to send them.

    `looked`: there most likely are some, so the look before the claim is spared.
    """
    rows = deliveries.select_related("event", "workspace").only(*CLAIMED)
    return claim_due(rows, limit=limit, lease=LEASE, looked=looked)


def keys_for(deliveries: Iterable[Delivery]) -> dict[str, tuple[str, ...]]:
    """The signing secrets that these deliveries need, by workspace; a deleted workspace has none any more."""
    return signing_keys(row.workspace_id for row in deliveries if row.workspace.status != WorkspaceStatus.DELETED)


def headers_of(delivery: Delivery, signature: str) -> dict[str, str]:
    """What goes with the body of an attempt; the user-agent is that of every request of the service."""
    return {
        "content-type": "application/json",
        signing.EVENT_HEADER: delivery.event.kind,
        signing.DELIVERY_HEADER: delivery.id,
        signing.SIGNATURE_HEADER: signature,
    }


def pack(delivery: Delivery, keys: Mapping[str, tuple[str, ...]]) -> Parcel | Outcome:
    """Sign a delivery for an attempt at this moment, or say what came of it when it cannot be sent."""
    if delivery.workspace.status == WorkspaceStatus.DELETED:
        return Outcome(Verdict.REFUSED, error="The workspace was deleted.")
    if delivery.workspace_id not in keys:
        return Outcome(Verdict.FAILED, error="The workspace's signing secret cannot be read.")
    body = bytes(delivery.event.payload)
    at = int(timezone.now().timestamp())
    headers = headers_of(delivery, signing.signature_header(keys[delivery.workspace_id], body, at=at))
    return Parcel(delivery.url, body, headers)


def record(results: Sequence[tuple[Delivery, Outcome]]) -> int:
    """Write what came of claimed deliveries; returns how many. A row whose claim is lost stays as it is."""
    now = timezone.now()
    settled = [_settled(delivery, outcome, now) for delivery, outcome in results]
    written = update_rows([Write(row, {name: getattr(row, name) for name in RECORDED}) for row in settled])
    for row in settled:
        metrics.DELIVERIES.labels(row.status).inc()
    return sum(written)


def deliver_due(*, limit: int = IN_FLIGHT) -> int:
    """Claim up to `limit` due deliveries, send them all and record what came of them; returns how many were claimed.

    For commands and tests; the worker loop keeps receivers from delaying each other (webhooks/worker_loop.py).
    """
    claimed = claim(Delivery.objects.all(), limit=limit)
    keys = keys_for(claimed)
    packed = [pack(delivery, keys) for delivery in claimed]
    sent = iter(asyncio.run(send_all([parcel for parcel in packed if isinstance(parcel, Parcel)])))
    outcomes = [next(sent) if isinstance(parcel, Parcel) else parcel for parcel in packed]
    record(list(zip(claimed, outcomes, strict=True)))
    return len(claimed)


def _settled(delivery: Delivery, outcome: Outcome, now: datetime) -> Delivery:
    """The delivery as it stands after the attempt; a copy, so that a write that failed can be made again."""
    row = copy(delivery)
    row.lease_until = None
    row.attempts += 1
    row.last_status_code, row.last_error = outcome.status_code, outcome.error
    row.last_response_excerpt = outcome.excerpt
    retry_after = min(outcome.retry_after, LONGEST_RETRY_AFTER_SECONDS)
    failures = row.attempts - row.earlier_attempts
    pause = scheduled_pause(settings.WEBHOOK_RETRY_SCHEDULE, failures, retry_after=retry_after)
    if outcome.verdict is Verdict.DELIVERED:
        row.succeed(now)
    elif outcome.verdict is Verdict.REFUSED or pause is None:
        row.give_up(now)
    else:
        row.retry_at(now + pause)
    return row
