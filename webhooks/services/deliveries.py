"""Services that claim due webhook deliveries, sign them and record their outcomes; webhooks/sender.py sends them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from config import metrics
from config.api.caller import WorkspaceStatus
from config.db.fixed_select import FixedSelect
from config.jobs.backoff import retry_pause_from_list_or_none
from config.jobs.claims import claim_due
from config.jobs.fenced_updates import FencedUpdate, apply_fenced_updates
from webhooks import signing
from webhooks.models import Delivery
from webhooks.sender import AttemptOutcome, DeliveryRequest, DeliveryVerdict
from webhooks.services.signing_secrets import get_or_create_secrets_by_workspace_id

DELIVERY_LEASE = timedelta(seconds=60)  # well beyond an attempt's deadline and the time to record its outcome
MAX_RETRY_AFTER_SECONDS = 36_000.0
OUTCOME_FIELDS = (
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
_deliveries_with_related_rows = FixedSelect(Delivery, where_in="id", join=("event", "workspace"))


def claim_deliveries(deliveries: QuerySet[Delivery], *, limit: int, due_rows_found: bool = False) -> list[Delivery]:
    """Claim up to `limit` due webhook deliveries for this worker, and load the rows needed to send them.

    `due_rows_found`: the caller has just found due deliveries, so that is not checked again.
    """
    read = _deliveries_with_related_rows
    return claim_due(deliveries, limit=limit, lease=DELIVERY_LEASE, due_rows_found=due_rows_found, read=read)


def get_or_create_secrets_for_deliveries(deliveries: Iterable[Delivery]) -> dict[str, tuple[str, ...]]:
    """Service: return by workspace the secrets that sign claimed webhook deliveries; creates missing ones.

    Deleted workspaces are left out.
    """
    return get_or_create_secrets_by_workspace_id(
        row.workspace_id for row in deliveries if row.workspace.status != WorkspaceStatus.DELETED
    )


def signed_request_or_outcome(delivery: Delivery, keys: Mapping[str, tuple[str, ...]]) -> DeliveryRequest | AttemptOutcome:
    """Service: return the signed request of a claimed webhook delivery, or its outcome if there is nothing to send.

    The latter is the case if the workspace was deleted or its signing secret cannot be read.
    """
    if delivery.workspace.status == WorkspaceStatus.DELETED:
        return AttemptOutcome(DeliveryVerdict.REFUSED, error="The workspace was deleted.")
    if delivery.workspace_id not in keys:
        return AttemptOutcome(DeliveryVerdict.FAILED, error="The workspace's signing secret cannot be read.")
    body = bytes(delivery.event.payload)
    at = int(timezone.now().timestamp())
    signature = signing.signature_header_value(keys[delivery.workspace_id], body, at=at)
    headers = signing.delivery_headers_with_signature(delivery.id, delivery.event.kind, signature)
    return DeliveryRequest(delivery.url, body, headers)


def record_outcomes_if_still_claimed(results: Sequence[tuple[Delivery, AttemptOutcome]]) -> list[bool]:
    """Service: save the outcomes of attempts at webhook deliveries, except those replayed or claimed again.

    Returns for each whether it was saved.
    """
    now = timezone.now()
    settled = [_settled(delivery, outcome, now) for delivery, outcome in results]
    written = apply_fenced_updates(
        [FencedUpdate(row, {name: getattr(row, name) for name in OUTCOME_FIELDS}) for row in settled]
    )
    for row in settled:
        metrics.DELIVERY_ATTEMPTS.labels(row.status).inc()
    return written


def _settled(delivery: Delivery, outcome: AttemptOutcome, now: datetime) -> Delivery:
    """Return a copy of a webhook delivery with the outcome of its attempt applied.

    The original stays unchanged, so that a failed write can be repeated.
    """
    row = copy(delivery)
    row.lease_until = None
    row.attempts += 1
    row.last_status_code, row.last_error = outcome.status_code, outcome.error
    row.last_response_excerpt = outcome.excerpt
    retry_after = min(outcome.retry_after, MAX_RETRY_AFTER_SECONDS)
    failures = row.attempts - row.earlier_attempts
    pause = retry_pause_from_list_or_none(settings.WEBHOOK_RETRY_SCHEDULE, failures, retry_after=retry_after)
    if outcome.verdict is DeliveryVerdict.DELIVERED:
        row.mark_delivered_unsaved(now)
    elif outcome.verdict is DeliveryVerdict.REFUSED or pause is None:
        row.mark_dead_letter_unsaved(now)
    else:
        row.mark_retrying_unsaved(now + pause)
    return row
