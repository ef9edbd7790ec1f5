"""Sends due webhook deliveries without a worker."""

from __future__ import annotations

import asyncio

from config.outbound import create_session
from webhooks.models import Delivery
from webhooks.sender import MAX_IN_FLIGHT, AttemptOutcome, DeliveryRequest, send_delivery
from webhooks.services import deliveries


def deliver_due(*, limit: int = MAX_IN_FLIGHT) -> int:
    """Claim up to `limit` due webhook deliveries, send them at the same time and record the outcomes; return their number."""
    claimed = deliveries.claim_deliveries(Delivery.objects.all(), limit=limit)
    keys = deliveries.signing_secrets_for(claimed)
    outcomes = asyncio.run(_send([deliveries.signed_request_or_outcome(delivery, keys) for delivery in claimed]))
    deliveries.record_outcomes(list(zip(claimed, outcomes, strict=True)))
    return len(claimed)


async def _send(prepared: list[DeliveryRequest | AttemptOutcome]) -> list[AttemptOutcome]:
    async with create_session(connections=MAX_IN_FLIGHT) as session:

        async def send(request: DeliveryRequest | AttemptOutcome) -> AttemptOutcome:
            return request if isinstance(request, AttemptOutcome) else await send_delivery(session, request)

        return await asyncio.gather(*map(send, prepared))
