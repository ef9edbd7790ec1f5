"""Verify and store the payment processor's events. A worker processes the stored rows later."""

from __future__ import annotations

from django.conf import settings
from django.utils import timezone

from billing.errors import BillingUnavailable
from billing.models import ProcessorEvent
from billing.signature import verify_signature
from config.api.errors import MalformedRequest
from config.api.request_body import parse_json
from config.jobs.wake_up import wake

PROCESSOR_EVENTS_LOOP = "processor_events"


def receive_event(*, body: bytes, signature: str) -> None:
    """Verify and store an event of the payment processor, once for each event id; an object that is not an event is ignored.

    Raises BillingUnavailable without a signing secret, SignatureInvalid, MalformedRequest.
    """
    if not settings.STRIPE_WEBHOOK_SECRET:
        raise BillingUnavailable("This service does not accept events, because STRIPE_WEBHOOK_SECRET is not set.")
    verify_signature(signature, body, secret=settings.STRIPE_WEBHOOK_SECRET)
    event = parse_json(body)
    if not isinstance(event, dict):
        raise MalformedRequest("The body is not a JSON object.")
    event_id, kind = event.get("id"), event.get("type")
    if isinstance(event_id, str) and isinstance(kind, str) and 0 < len(event_id) <= 255 and len(kind) <= 255:
        stored = ProcessorEvent(event_id=event_id, type=kind, payload=body.decode(), due_at=timezone.now())
        ProcessorEvent.objects.bulk_create([stored], ignore_conflicts=True)
        wake(PROCESSOR_EVENTS_LOOP)
