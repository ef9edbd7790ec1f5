"""The client of the payment processor Stripe: customers, checkout and portal pages, subscriptions, and metered usage.

Functions raise BillingUnavailable if the processor does not answer.

Source: Stripe's reference, Meter Event: `identifier` is unique within a rolling period of at least 24 hours, and a second
one is refused (400, "An event already exists with identifier …"); `timestamp` lies within the past 35 days. Meter Event
Summary: sums of whole minutes, eventually consistent. Idempotent requests: a key returns the first response again, even
a 500, so each attempt uses its own key, and only the identifier prevents double counting.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from typing import Any

import stripe
from django.conf import settings
from django.urls import reverse

from billing.errors import BillingUnavailable, UnknownToProcessor
from billing.processor_json import SubscriptionState
from billing.subscription_plans import METERED_PLAN
from config import outbound

logger = logging.getLogger(__name__)
TIMEOUT_SECONDS = 10.0
MAX_ANSWER_BYTES = 10_000_000
MAX_SUBSCRIPTIONS = 100  # maximum of one page of the processor's API, newest first


class StripeHttpClient(stripe.HTTPClient):
    """The HTTP client for Stripe's Python library that sends all requests through this service's client, config/outbound.

    The cause of each APIConnectionError is an OutboundError.
    """

    name = "outbound"

    def request(
        self, method: str, url: str, headers: Mapping[str, str] | None, post_data: Any = None, **unused: Any
    ) -> tuple[str, int, Mapping[str, str]]:
        """Send one HTTP request of Stripe's library, and return the response's body, status and headers."""
        try:
            answer = outbound.request(
                method, url, headers=headers, data=post_data, timeout=TIMEOUT_SECONDS, max_bytes=MAX_ANSWER_BYTES
            )
        except outbound.OutboundError as error:
            may_work_again = not isinstance(error, outbound.NotSentToForbiddenHost | outbound.ResponseTooLarge)
            raise stripe.APIConnectionError(str(error), should_retry=may_work_again) from error
        return answer.body.decode(errors="replace"), answer.status, answer.headers

    def close(self) -> None:
        """Do nothing when Stripe's library closes its HTTP client: there is no open connection to close."""


def _new_client(*, retries: int) -> stripe.StripeClient:
    """Return a client of the payment processor Stripe that repeats a failed request up to `retries` times."""
    return stripe.StripeClient(
        settings.STRIPE_SECRET_KEY,
        base_addresses={"api": settings.STRIPE_API_BASE},
        http_client=StripeHttpClient(),
        max_network_retries=retries,
    )


@contextmanager
def _processor_client(*, retries: int = 1) -> Iterator[stripe.StripeClient]:
    """Return a context manager with a Stripe client. It turns Stripe's errors into BillingUnavailable or UnknownToProcessor.

    Use `retries=0` for work that is repeated anyway.
    """
    try:
        yield _new_client(retries=retries)
    except stripe.StripeError as error:
        logger.warning("A request to the payment processor failed: %s", _loggable_fault(error))
        unknown = error.http_status == 404 or error.code == "resource_missing"
        kind = UnknownToProcessor if unknown and isinstance(error, stripe.InvalidRequestError) else BillingUnavailable
        raise kind(
            "The payment processor did not answer the request.",
            suggested_action="Try again after the time in Retry-After.",
            headers={"Retry-After": "30"},
        ) from error


def _loggable_fault(error: stripe.StripeError) -> str:
    """Return a Stripe error's type, status and ids for the log.

    The error's message is left out, because it may quote the request.
    """
    return f"{type(error).__name__}, status {error.http_status}, code {error.code}, request {error.request_id}"


@dataclass(frozen=True)
class CheckoutOrPortalPage:
    """The checkout or portal page that Stripe created: its id and its URL, which are None in a dry run.

    The page works for a limited time.
    """

    id: str | None
    url: str | None


def create_customer(workspace_id: str, name: str) -> str:
    """Ask Stripe to create a workspace's customer, and return its id. A repeated call within a day returns the same id."""
    with _processor_client() as client:
        customer = client.v1.customers.create(
            {"name": name, "metadata": {"workspace_id": workspace_id}}, {"idempotency_key": f"customer-{workspace_id}"}
        )
    return str(customer.id)


def create_checkout_session(workspace_id: str, customer_id: str, plan: str) -> CheckoutOrPortalPage:
    """Ask Stripe to create a checkout page, where the customer subscribes to the plan."""
    metadata = {"workspace_id": workspace_id, "plan": plan}
    with _processor_client() as client:
        session = client.v1.checkout.sessions.create(
            {
                "mode": "subscription",
                "customer": customer_id,
                "client_reference_id": workspace_id,
                "line_items": _line_items(plan),
                "metadata": metadata,
                "subscription_data": {"metadata": metadata},
                "success_url": f"{_page(workspace_id)}?checkout=done",
                "cancel_url": f"{_page(workspace_id)}?checkout=cancelled",
            }
        )
    return CheckoutOrPortalPage(session.id, session.url)


def create_portal_session(workspace_id: str, customer_id: str) -> CheckoutOrPortalPage:
    """Ask Stripe to create a portal page, for the customer's payment methods, invoices and subscription."""
    with _processor_client() as client:
        session = client.v1.billing_portal.sessions.create({"customer": customer_id, "return_url": _page(workspace_id)})
    return CheckoutOrPortalPage(session.id, session.url)


def _line_items(plan: str) -> list[Any]:
    """Return a Stripe checkout page's line items: the plan's price, and the metered price for use beyond the free credit."""
    metered = settings.STRIPE_PRICES[METERED_PLAN]
    items: list[Any] = [{"price": metered}] if metered else []  # a metered price takes no quantity
    return items if plan == METERED_PLAN else [{"price": settings.STRIPE_PRICES[plan], "quantity": 1}, *items]


def _page(workspace_id: str) -> str:
    """Return the URL of the usage page, to which the pages of Stripe lead back."""
    return settings.BASE_URL + reverse("usage", kwargs={"workspace_id": workspace_id})


def fetch_subscriptions(customer_id: str, *, retries: int = 1) -> list[SubscriptionState]:
    """Fetch from Stripe all subscriptions of a customer, including ended ones. Raises UnknownToProcessor."""
    with _processor_client(retries=retries) as client:
        found = client.v1.subscriptions.list({"customer": customer_id, "status": "all", "limit": MAX_SUBSCRIPTIONS}).data
    return [state for state in map(SubscriptionState.from_json_or_none, (one.to_dict() for one in found)) if state]


def cancel_and_invoice_subscription(subscription_id: str) -> None:
    """Ask Stripe to cancel a subscription now. Open usage is invoiced; advance payments are not refunded."""
    try:
        with _processor_client(retries=0) as client:
            client.v1.subscriptions.cancel(subscription_id, {"invoice_now": True, "prorate": False})
    except UnknownToProcessor:  # the subscription has already ended
        return


class UsageReportOutcome(Enum):
    """What Stripe did with a usage report; UNKNOWN if it gave no clear answer."""

    RECORDED = auto()
    REFUSED = auto()  # not recorded: the report or the meter is invalid
    NOT_SERVED = auto()  # not recorded: the processor cannot be reached, or refuses all requests
    UNKNOWN = auto()


@dataclass(frozen=True)
class MeterEvent:
    """A usage report in the form that the payment processor Stripe accepts, which Stripe calls a meter event."""

    identifier: str
    customer_id: str
    cents: int
    at: datetime
    attempt: int


@dataclass(frozen=True)
class UsageReportResponse:
    """Stripe's response to a usage report. `fault` describes an error without secrets, so it may be logged."""

    outcome: UsageReportOutcome
    fault: str = ""


def send_meter_event(event: MeterEvent) -> UsageReportResponse:
    """Send a usage report to Stripe as a meter event, without retries.

    The caller sends the report again if the outcome is unknown.
    """
    try:
        _new_client(retries=0).v1.billing.meter_events.create(
            {
                "event_name": settings.STRIPE_METER_EVENT,
                "identifier": event.identifier,
                "timestamp": int(event.at.timestamp()),
                "payload": {"stripe_customer_id": event.customer_id, "value": str(event.cents)},
            },
            {"idempotency_key": f"{event.identifier}-{event.attempt}"},
        )
    except stripe.StripeError as error:
        outcome, fault = _outcome(error), _loggable_fault(error)
        if outcome is not UsageReportOutcome.RECORDED:
            logger.warning("Usage report %s: %s, %s", event.identifier, outcome.name.lower(), fault)
        return UsageReportResponse(outcome, fault[:200])
    return UsageReportResponse(UsageReportOutcome.RECORDED)


def fetch_active_meter_id_or_none() -> str | None:
    """Fetch from Stripe the id of the active usage meter named STRIPE_METER_EVENT; None if there is none."""
    with _processor_client() as client:
        for meter in client.v1.billing.meters.list({"status": "active", "limit": 100}).auto_paging_iter():
            if meter.event_name == settings.STRIPE_METER_EVENT:
                return str(meter.id)
    return None


def fetch_recorded_usage_cents(meter_id: str, customer_id: str, start: datetime, end: datetime) -> float:
    """Fetch from Stripe how many cents of a customer's usage its meter recorded from `start` to `end` (whole minutes)."""
    with _processor_client() as client:
        found = client.v1.billing.meters.event_summaries.list(
            meter_id,
            {"customer": customer_id, "start_time": int(start.timestamp()), "end_time": int(end.timestamp()), "limit": 100},
        ).data
    return sum(float(summary.aggregated_value) for summary in found)


def _outcome(error: stripe.StripeError) -> UsageReportOutcome:
    if isinstance(error, stripe.APIConnectionError):
        return UsageReportOutcome.NOT_SERVED if isinstance(error.__cause__, outbound.NotSent) else UsageReportOutcome.UNKNOWN
    if _is_duplicate(error):
        return UsageReportOutcome.RECORDED
    if error.http_status in (401, 403, 429):
        return UsageReportOutcome.NOT_SERVED
    if error.http_status is not None and 400 <= error.http_status < 500 and error.http_status not in (408, 409):
        return UsageReportOutcome.REFUSED
    return UsageReportOutcome.UNKNOWN


def _is_duplicate(error: stripe.StripeError) -> bool:
    """Return whether Stripe refused a usage report because it already has the same one."""
    return error.code == "duplicate_meter_event" or (
        error.http_status == 400 and "already exists with identifier" in (error.user_message or "")
    )
