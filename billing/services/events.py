"""Taking the payment processor's events: verified, then stored; what they bring about is done from the stored row."""

from __future__ import annotations

from django.conf import settings
from django.utils import timezone

from billing.errors import BillingUnavailable
from billing.models import ProcessorEvent
from billing.signature import verify
from config.api.errors import MalformedRequest
from config.api.request_body import parse_json
from config.jobs.wake_up import wake

LOOP = "processor_events"


def receive_event(*, body: bytes, signature: str) -> None:
    """Store the event, once for each event id; an object that is no event is taken and left alone.

    Raises BillingUnavailable without a signing secret, SignatureInvalid, MalformedRequest.
    """
    if not settings.STRIPE_WEBHOOK_SECRET:
        raise BillingUnavailable("This service takes no events: it knows no signing secret.")
    verify(signature, body, secret=settings.STRIPE_WEBHOOK_SECRET)
    event = parse_json(body)
    if not isinstance(event, dict):
        raise MalformedRequest("The body is not a JSON object.")
    event_id, kind = event.get("id"), event.get("type")
    if isinstance(event_id, str) and isinstance(kind, str) and 0 < len(event_id) <= 255 and len(kind) <= 255:
        stored = ProcessorEvent(event_id=event_id, type=kind, payload=body.decode(), due_at=timezone.now())
        ProcessorEvent.objects.bulk_create([stored], ignore_conflicts=True)
        wake(LOOP)
