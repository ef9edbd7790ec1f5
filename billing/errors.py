"""The refusals of billing; those of the caps are raised with the numbers by billing/caps.py.

ApiError
├── SignatureInvalid 400
├── SpendCapExceeded 402
├── PaymentMethodRequired 402
├── SocialUrlPostCapExceeded 403
├── PostsPerDayCapExceeded 429
└── BillingUnavailable 503
    └── NotAtProcessor
"""

from __future__ import annotations

from typing import Any

from config.api.errors import ApiError


class SpendCapExceeded(ApiError):
    status, code = 402, "SPEND_CAP_EXCEEDED"
    message = "The monthly spend cap is exceeded."
    suggested_action = "Ask the owner of the workspace for a higher spend cap, or post in another month."


class PaymentMethodRequired(ApiError):
    """Past the free credit, and no subscription that pays for more."""

    status, code = 402, "PAYMENT_METHOD_REQUIRED"
    message = "The free credit of the month is used up, and no subscription pays for more."
    suggested_action = (
        "Ask the owner or an admin of the workspace to open billing in the dashboard (or POST /billing/checkout-sessions), "
        "then send this again."
    )


class SocialUrlPostCapExceeded(ApiError):
    status, code = 403, "SOCIAL_URL_POST_CAP_EXCEEDED"
    message = "The monthly cap on posts with URLs is exceeded."
    suggested_action = "Take the URLs out of the text, or ask the owner of the workspace for a higher cap."


class PostsPerDayCapExceeded(ApiError):
    """Always with `Retry-After`: the seconds until the day that is full has ended."""

    status, code = 429, "POSTS_PER_DAY_CAP_EXCEEDED"
    message = "This agent may not post to so many targets in one day."
    suggested_action = "Wait for the time in Retry-After, or schedule for another day (UTC)."
    auto_fixable = True


class SignatureInvalid(ApiError):
    """The bytes did not come from the payment processor, or not now."""

    status, code = 400, "SIGNATURE_INVALID"
    message = "The signature does not fit the body."
    suggested_action = "Sign `<t>.<raw body>` with the endpoint's own secret, at the time of sending."


class BillingUnavailable(ApiError):
    """Always with `Retry-After`."""

    status, code = 503, "BILLING_UNAVAILABLE"
    message = "This service is in free beta: nothing is invoiced, so there is nothing to subscribe to or to pay."
    suggested_action = "Go on without; GET /capabilities tells under `billing` which actions are available."

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.headers.setdefault("Retry-After", "3600")


class NotAtProcessor(BillingUnavailable):
    """The payment processor knows no such customer or subscription."""
