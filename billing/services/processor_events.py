"""Receives, verifies and stores the payment processor's events, and processes each event once, in any order.

Events are signed by HMAC-SHA256 over the time, a dot, and the raw body. The header is `t=<unix seconds>,v1=<hex>`, with one
more v1 for each secret during a rotation. Source: Stripe's documentation, "Verify webhook signatures manually".
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from billing.errors import BillingUnavailable, SignatureInvalid, UnknownToProcessor
from billing.models import ProcessorEvent
from billing.processor_json import SubscriptionEvent, subscription_event_or_none
from billing.services.alarms import AlarmKind, open_or_update_alarm, resolve_alarms_about
from billing.services.subscriptions import ConcurrentUpdateError, apply_subscription_from_event, fetch_and_apply_subscription
from billing.subscription_plans import has_payment_processor
from config.api.errors import MalformedRequest
from config.api.request_body import parse_json
from config.jobs.claims import claim_due, claimed_row_queryset
from config.jobs.wake_up import wake_worker_loop_after_commit
from workspaces.processor_customers import customer_id_by_workspace_id, save_customer_id_if_unset, workspace_id_of_customer

PROCESSOR_EVENTS_LOOP = "processor_events"
SIGNATURE_TOLERANCE_SECONDS = 300
EVENT_LEASE = timedelta(seconds=60)
# The last delay is repeated until GIVE_UP_EVENT_AFTER; later the nightly reconciliation updates the subscription.
EVENT_RETRY_SECONDS = (5, 30, 120, 600, 1800, 3600)
GIVE_UP_EVENT_AFTER = timedelta(hours=24)
ALARM_AFTER_FAILURES = 4  # failed attempts to process one event
EventOutcome = ProcessorEvent.Outcome
_TIME = re.compile(r"[0-9]{1,12}", re.ASCII)
logger = logging.getLogger(__name__)


def verify_and_store_event(*, body: bytes, signature: str) -> None:
    """Verify and store an event of the payment processor. An event that was already stored is not stored again.

    Raises BillingUnavailable without a signing secret, SignatureInvalid, MalformedRequest.
    """
    if not settings.STRIPE_WEBHOOK_SECRET:
        raise BillingUnavailable("This service does not accept events, because STRIPE_WEBHOOK_SECRET is not set.")
    _verify_signature(signature, body, secret=settings.STRIPE_WEBHOOK_SECRET)
    event = parse_json(body)
    if not isinstance(event, dict):
        raise MalformedRequest("The body is not a JSON object.")
    event_id, kind = event.get("id"), event.get("type")
    if isinstance(event_id, str) and isinstance(kind, str) and 0 < len(event_id) <= 255 and len(kind) <= 255:
        stored = ProcessorEvent(event_id=event_id, type=kind, payload=body.decode(), due_at=timezone.now())
        ProcessorEvent.objects.bulk_create([stored], ignore_conflicts=True)
        wake_worker_loop_after_commit(PROCESSOR_EVENTS_LOOP)


def _verify_signature(header: str, body: bytes, *, secret: str) -> None:
    """Raise SignatureInvalid unless the payment processor signed the event's body within the last five minutes."""
    pairs = [part.strip().partition("=") for part in header.split(",")]
    times = [value for name, _, value in pairs if name == "t"]
    if len(times) != 1 or not _TIME.fullmatch(times[0]):
        raise SignatureInvalid("The signature header must be `t=<unix seconds>,v1=<hex>`.")
    expected = hmac.new(secret.encode(), f"{times[0]}.".encode() + body, hashlib.sha256).hexdigest().encode()
    matches = [hmac.compare_digest(value.encode(), expected) for name, _, value in pairs if name == "v1"]
    if not any(matches):
        raise SignatureInvalid()
    if abs(timezone.now().timestamp() - int(times[0])) > SIGNATURE_TOLERANCE_SECONDS:
        raise SignatureInvalid("The signature is too old, or the clocks differ by more than five minutes.")


def process_due_events(*, limit: int = 100) -> int:
    """Process the payment processor's stored events that are due; returns how many events were tried."""
    claimed = claim_due(ProcessorEvent.objects.all(), limit=limit, lease=EVENT_LEASE)
    for event in claimed:
        try:
            _process(event)
        except (BillingUnavailable, ConcurrentUpdateError) as error:
            _try_later(event, type(error).__name__)
        except Exception as error:  # an event that cannot be read must not stop the others
            logger.exception("Processing the event %s failed.", event.event_id)
            _try_later(event, type(error).__name__)
    return len(claimed)


def _process(event: ProcessorEvent) -> None:
    subscription_event = subscription_event_or_none(event.payload)
    workspace_id = _workspace_of(event, subscription_event) if subscription_event else None
    if subscription_event is None or workspace_id is None:
        _finish(event, EventOutcome.IGNORED)
    elif has_payment_processor():
        try:
            _refresh(workspace_id, subscription_event.customer_id)
        except UnknownToProcessor:
            logger.warning("Event %s is about a customer that does not exist at the processor.", event.event_id)
            _finish(event, EventOutcome.IGNORED)
            return
        _finish(event, EventOutcome.APPLIED)
    else:
        with transaction.atomic():
            if _finish(event, EventOutcome.APPLIED):
                save_customer_id_if_unset(workspace_id=workspace_id, customer_id=subscription_event.customer_id)
                apply_subscription_from_event(workspace_id=workspace_id, event=subscription_event)


def _refresh(workspace_id: str, customer_id: str) -> None:
    """Fetch and save a workspace's subscription after an event of the payment processor, and save a new customer id."""
    fetch_and_apply_subscription(workspace_id=workspace_id, customer_id=customer_id)
    stored_id = save_customer_id_if_unset(workspace_id=workspace_id, customer_id=customer_id)
    if stored_id != customer_id:
        fetch_and_apply_subscription(workspace_id=workspace_id, customer_id=stored_id)


def _workspace_of(event: ProcessorEvent, subscription_event: SubscriptionEvent) -> str | None:
    """Return the id of the workspace that a payment event is about; None if its customer is not that workspace's.

    The event may name a workspace without a customer id, if the request that created the customer died.
    """
    if subscription_event.customer_id:
        holder = workspace_id_of_customer(customer_id=subscription_event.customer_id)
        if (
            holder is None
            and customer_id_by_workspace_id([subscription_event.workspace_id]).get(subscription_event.workspace_id) == ""
        ):
            holder = subscription_event.workspace_id
        if holder and subscription_event.workspace_id in ("", holder):
            return holder
    logger.warning("Event %s (%s) is not about a customer of this service.", event.event_id, event.type)
    return None


def _finish(event: ProcessorEvent, outcome: ProcessorEvent.Outcome) -> bool:
    """Mark a payment processor's event as processed; returns False if another worker has already processed the event."""
    rows = claimed_row_queryset(ProcessorEvent.objects.filter(processed_at=None), event)
    if event.attempts >= ALARM_AFTER_FAILURES:
        resolve_alarms_about(AlarmKind.EVENTS, [event.event_id])
    return bool(rows.update(processed_at=timezone.now(), outcome=outcome, due_at=None, lease_until=None))


def _try_later(event: ProcessorEvent, fault: str) -> None:
    now = timezone.now()
    rows = claimed_row_queryset(ProcessorEvent.objects.filter(processed_at=None), event)
    if now - event.received_at < GIVE_UP_EVENT_AFTER:
        pause = EVENT_RETRY_SECONDS[min(event.attempts, len(EVENT_RETRY_SECONDS) - 1)]
        rows.update(due_at=now + timedelta(seconds=pause), lease_until=None, attempts=F("attempts") + 1)
        result = f"is tried again after {pause} s"
    else:
        rows.update(due_at=None, lease_until=None, outcome=EventOutcome.GIVEN_UP)
        result = "is given up; the nightly reconciliation will update the subscription"
    if event.attempts + 1 >= ALARM_AFTER_FAILURES:
        open_or_update_alarm(AlarmKind.EVENTS, event.event_id, f"The event ({event.type}) {result}: {fault}.")
    else:
        logger.warning("The processor's event %s %s: %s", event.event_id, result, fault)
