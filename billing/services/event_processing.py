"""Process the stored events of the payment processor, each once and in any order."""

from __future__ import annotations

import logging
from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from billing.errors import BillingUnavailable, NotAtProcessor
from billing.models import ProcessorEvent
from billing.plans import is_paid
from billing.services.alarms import Kind, raise_alarm, resolve_alarms
from billing.services.subscriptions import ConcurrentUpdateError, apply_event_copy, refresh_subscription
from billing.subscription_events import SubscriptionEvent, parse_event
from config.jobs.due import claim_due, held
from workspaces.processor_customers import customer_ids_of, save_customer_id, workspace_id_of_customer

EVENT_LEASE = timedelta(seconds=60)
# The last delay is repeated until GIVE_UP_EVENT_AFTER; later the nightly reconciliation updates the subscription.
EVENT_RETRY_SECONDS = (5, 30, 120, 600, 1800, 3600)
GIVE_UP_EVENT_AFTER = timedelta(hours=24)
ALARM_AFTER_FAILURES = 4  # failed attempts to process one event
Outcome = ProcessorEvent.Outcome
logger = logging.getLogger(__name__)


def process_due_events(*, limit: int = 100) -> int:
    """Process the payment processor's events that are due; returns how many were tried."""
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
    subscription_event = parse_event(event.payload)
    workspace_id = _workspace_of(event, subscription_event) if subscription_event else None
    if subscription_event is None or workspace_id is None:
        _close(event, Outcome.IGNORED)
    elif is_paid():
        try:
            _refresh(workspace_id, subscription_event.customer_id)
        except NotAtProcessor:
            logger.warning("Event %s is about a customer that does not exist at the processor.", event.event_id)
            _close(event, Outcome.IGNORED)
            return
        _close(event, Outcome.APPLIED)
    else:
        with transaction.atomic():
            if _close(event, Outcome.APPLIED):
                save_customer_id(workspace_id=workspace_id, customer_id=subscription_event.customer_id)
                apply_event_copy(workspace_id=workspace_id, event=subscription_event)


def _refresh(workspace_id: str, customer_id: str) -> None:
    """Update the subscription from the processor and save the customer id, unless the workspace has another one already."""
    refresh_subscription(workspace_id=workspace_id, customer_id=customer_id)
    stored_id = save_customer_id(workspace_id=workspace_id, customer_id=customer_id)
    if stored_id != customer_id:
        refresh_subscription(workspace_id=workspace_id, customer_id=stored_id)


def _workspace_of(event: ProcessorEvent, subscription_event: SubscriptionEvent) -> str | None:
    """Return the workspace of the event's customer, or None if the event does not match the stored customer ids.

    The event may name a workspace without a customer id, if the request that created the customer died.
    """
    if subscription_event.customer_id:
        holder = workspace_id_of_customer(customer_id=subscription_event.customer_id)
        if (
            holder is None
            and customer_ids_of([subscription_event.workspace_id]).get(subscription_event.workspace_id) == ""
        ):
            holder = subscription_event.workspace_id
        if holder and subscription_event.workspace_id in ("", holder):
            return holder
    logger.warning("Event %s (%s) is not about a customer of this service.", event.event_id, event.type)
    return None


def _close(event: ProcessorEvent, outcome: ProcessorEvent.Outcome) -> bool:
    """Mark a processor event as processed; returns False if another worker has already done so."""
    rows = held(ProcessorEvent.objects.filter(processed_at=None), event)
    if event.attempts >= ALARM_AFTER_FAILURES:
        resolve_alarms(Kind.EVENTS, [event.event_id])
    return bool(rows.update(processed_at=timezone.now(), outcome=outcome, due_at=None, lease_until=None))


def _try_later(event: ProcessorEvent, fault: str) -> None:
    now = timezone.now()
    rows = held(ProcessorEvent.objects.filter(processed_at=None), event)
    if now - event.received_at < GIVE_UP_EVENT_AFTER:
        pause = EVENT_RETRY_SECONDS[min(event.attempts, len(EVENT_RETRY_SECONDS) - 1)]
        rows.update(due_at=now + timedelta(seconds=pause), lease_until=None, attempts=F("attempts") + 1)
        result = f"is tried again after {pause} s"
    else:
        rows.update(due_at=None, lease_until=None, outcome=Outcome.GIVEN_UP)
        result = "is given up; the nightly reconciliation will update the subscription"
    if event.attempts + 1 >= ALARM_AFTER_FAILURES:
        raise_alarm(Kind.EVENTS, event.event_id, f"The event ({event.type}) {result}: {fault}.")
    else:
        logger.warning("The processor's event %s %s: %s", event.event_id, result, fault)
