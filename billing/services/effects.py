"""What the payment processor's events bring about, from the stored rows: each once, in whatever order they came."""

from __future__ import annotations

import logging
from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from billing.errors import BillingUnavailable, NotAtProcessor
from billing.models import ProcessorEvent
from billing.occurrences import Occurrence, occurrence_of
from billing.plans import is_paid
from billing.services.alarms import Kind, raise_alarm, resolve_alarms
from billing.services.subscriptions import OutrunError, believe, refresh_subscription
from config.jobs.due import claim_due, held
from workspaces.customers import customers_of, remember_customer, workspace_of_customer

LEASE = timedelta(seconds=60)
# The last one is repeated until so long after the event came; then the nightly reconciliation sees to it.
RETRY_SECONDS = (5, 30, 120, 600, 1800, 3600)
GIVE_UP_AFTER = timedelta(hours=24)
ALARM_FROM = 4  # failures of one event
Outcome = ProcessorEvent.Outcome
logger = logging.getLogger(__name__)


def process_due_events(*, limit: int = 100) -> int:
    """Give the events that are due their effect; returns how many were tried."""
    claimed = claim_due(ProcessorEvent.objects.all(), limit=limit, lease=LEASE)
    for event in claimed:
        try:
            _process(event)
        except (BillingUnavailable, OutrunError) as error:
            _try_later(event, type(error).__name__)
        except Exception as error:  # one event that cannot be understood must not stop the others
            logger.exception("The processor's event %s met a fault.", event.event_id)
            _try_later(event, type(error).__name__)
    return len(claimed)


def _process(event: ProcessorEvent) -> None:
    told = occurrence_of(event.payload)
    workspace_id = _whose(event, told) if told else None
    if told is None or workspace_id is None:
        _close(event, Outcome.IGNORED)
    elif is_paid():
        try:
            _look(workspace_id, told.customer_id)
        except NotAtProcessor:
            logger.warning("%s speaks of a customer that the processor does not know.", event.event_id)
            _close(event, Outcome.IGNORED)
            return
        _close(event, Outcome.APPLIED)
    else:
        with transaction.atomic():
            if _close(event, Outcome.APPLIED):
                remember_customer(workspace_id=workspace_id, customer_id=told.customer_id)
                believe(workspace_id=workspace_id, told=told)


def _look(workspace_id: str, customer_id: str) -> None:
    """Ask the processor; a customer that it knows is the workspace's, unless that has got another one meanwhile."""
    refresh_subscription(workspace_id=workspace_id, customer_id=customer_id)
    standing = remember_customer(workspace_id=workspace_id, customer_id=customer_id)
    if standing != customer_id:
        refresh_subscription(workspace_id=workspace_id, customer_id=standing)


def _whose(event: ProcessorEvent, told: Occurrence) -> str | None:
    """The workspace that the event is about, when what it says agrees with what the service knows.

    It may name a workspace that has no customer yet: the customer was made for it by a request that died.
    """
    if told.customer_id:
        holder = workspace_of_customer(customer_id=told.customer_id)
        if holder is None and customers_of([told.workspace_id]).get(told.workspace_id) == "":
            holder = told.workspace_id
        if holder and told.workspace_id in ("", holder):
            return holder
    logger.warning("%s (%s) is about no customer of this service.", event.event_id, event.type)
    return None


def _close(event: ProcessorEvent, outcome: ProcessorEvent.Outcome) -> bool:
    """The event is done with; false when another worker has seen to it meanwhile."""
    rows = held(ProcessorEvent.objects.filter(processed_at=None), event)
    if event.attempts >= ALARM_FROM:
        resolve_alarms(Kind.EVENTS, [event.event_id])
    return bool(rows.update(processed_at=timezone.now(), outcome=outcome, due_at=None, lease_until=None))


def _try_later(event: ProcessorEvent, fault: str) -> None:
    now = timezone.now()
    rows = held(ProcessorEvent.objects.filter(processed_at=None), event)
    if now - event.received_at < GIVE_UP_AFTER:
        pause = RETRY_SECONDS[min(event.attempts, len(RETRY_SECONDS) - 1)]
        rows.update(due_at=now + timedelta(seconds=pause), lease_until=None, attempts=F("attempts") + 1)
        words = f"is tried again after {pause} s"
    else:
        rows.update(due_at=None, lease_until=None, outcome=Outcome.GIVEN_UP)
        words = "is not tried any more; the nightly reconciliation sees to its subscription"
    if event.attempts + 1 >= ALARM_FROM:
        raise_alarm(Kind.EVENTS, event.event_id, f"The event ({event.type}) {words}: {fault}.")
    else:
        logger.warning("The processor's event %s %s: %s", event.event_id, words, fault)
