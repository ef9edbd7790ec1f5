"""The one way to the payment processor's API. Every fault is BillingUnavailable."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import stripe
from django.conf import settings

from billing.errors import BillingUnavailable, NotAtProcessor
from billing.processor.transport import OutboundClient

logger = logging.getLogger(__name__)


def new_client(*, retries: int) -> stripe.StripeClient:
    """A client that asks again so often by itself when the network or the processor fails."""
    return stripe.StripeClient(
        settings.STRIPE_SECRET_KEY,
        base_addresses={"api": settings.STRIPE_API_BASE},
        http_client=OutboundClient(),
        max_network_retries=retries,
    )


@contextmanager
def processor_client(*, retries: int = 1) -> Iterator[stripe.StripeClient]:
    """A client whose faults are BillingUnavailable, or NotAtProcessor for an id that the processor does not know.

    `retries` 0 is for work that comes again by itself.
    """
    try:
        yield new_client(retries=retries)
    except stripe.StripeError as error:
        logger.warning("The payment processor did not serve a request: %s", fault_of(error))
        unknown = error.http_status == 404 or error.code == "resource_missing"
        kind = NotAtProcessor if unknown and isinstance(error, stripe.InvalidRequestError) else BillingUnavailable
        raise kind(
            "The payment processor does not answer as it should.",
            suggested_action="Try again after the time in Retry-After.",
            headers={"Retry-After": "30"},
        ) from error


def fault_of(error: stripe.StripeError) -> str:
    """What may be logged of a fault: no message, since that may quote what was sent."""
    return f"{type(error).__name__}, status {error.http_status}, code {error.code}, request {error.request_id}"
