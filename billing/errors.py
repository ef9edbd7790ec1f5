"""The API errors of billing: exceeded caps, missing payment method, and problems with the payment processor.

ApiError
├── SignatureInvalid 400
├── SpendCapExceeded 402
├── PaymentMethodRequired 402
├── UrlPostCapExceeded 403
├── PostsPerDayCapExceeded 429
└── BillingUnavailable 503
    └── UnknownToProcessor
"""

from __future__ import annotations

from django.utils.translation import gettext_noop

from config.api.errors import ApiError


class SpendCapExceeded(ApiError):
    status, code = 402, "SPEND_CAP_EXCEEDED"
    message = "The monthly spend cap is exceeded."
    suggested_action = "Ask the owner of the workspace for a higher spend cap, or post in another month."


class PaymentMethodRequired(ApiError):
    """The API error for charges beyond the month's free credit when no subscription pays for the workspace's usage."""

    status, code = 402, "PAYMENT_METHOD_REQUIRED"
    message = "The free credit of the month is used up, and no subscription pays for more."
    suggested_action = (
        "Ask the owner or an admin of the workspace to open billing in the dashboard (or POST /billing/checkout-sessions), "
        "then send this again."
    )


class UrlPostCapExceeded(ApiError):
    status, code = 403, "SOCIAL_URL_POST_CAP_EXCEEDED"
    message = "The monthly cap on posts with URLs is exceeded."
    suggested_action = "Remove the URLs from the text, or ask the owner of the workspace for a higher cap."


class PostsPerDayCapExceeded(ApiError):
    """The billing error if charges exceed an agent's daily cap on posts. `Retry-After` has the seconds until the day ends."""

    status, code = 429, "POSTS_PER_DAY_CAP_EXCEEDED"
    message = "This agent may not post to more targets on this day."
    suggested_action = "Wait for the time in Retry-After, or schedule for another day (UTC)."
    auto_fixable = True


class SignatureInvalid(ApiError):
    """The API error for a webhook request of the payment processor whose signature is missing, wrong or too old."""

    status, code = 400, "SIGNATURE_INVALID"
    message = "The signature does not match the body."
    suggested_action = "Sign `<t>.<raw body>` with the endpoint's own secret, at the time of sending."


class BillingUnavailable(ApiError):
    """The billing error if the payment processor is not configured or does not answer. The response has `Retry-After`."""

    status, code = 503, "BILLING_UNAVAILABLE"
    message = gettext_noop(
        "This service is in free beta: nothing is invoiced, so there is nothing to subscribe to or to pay."
    )
    suggested_action = "Continue without it; GET /capabilities lists the available actions under `billing`."
    default_headers = {"Retry-After": "3600"}


class UnknownToProcessor(BillingUnavailable):
    """The billing error if the payment processor does not know a customer or subscription."""
