"""Creates clients of the payment processor's API and translates their errors."""

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
    """Return a client of the payment processor's API that repeats a failed request up to `retries` times."""
    return stripe.StripeClient(
        settings.STRIPE_SECRET_KEY,
        base_addresses={"api": settings.STRIPE_API_BASE},
        http_client=OutboundClient(),
        max_network_retries=retries,
    )


@contextmanager
def processor_client(*, retries: int = 1) -> Iterator[stripe.StripeClient]:
    """Yield a client of the processor's API whose errors become BillingUnavailable, or NotAtProcessor for an unknown id.

    Use `retries=0` for work that is repeated anyway.
    """
    try:
        yield new_client(retries=retries)
    except stripe.StripeError as error:
        logger.warning("A request to the payment processor failed: %s", loggable_fault(error))
        unknown = error.http_status == 404 or error.code == "resource_missing"
        kind = NotAtProcessor if unknown and isinstance(error, stripe.InvalidRequestError) else BillingUnavailable
        raise kind(
            "The payment processor did not answer the request.",
            suggested_action="Try again after the time in Retry-After.",
            headers={"Retry-After": "30"},
        ) from error


def loggable_fault(error: stripe.StripeError) -> str:
    """Return a processor error's type, status and ids for the log, without its message, which may quote the request."""
    return f"{type(error).__name__}, status {error.http_status}, code {error.code}, request {error.request_id}"
