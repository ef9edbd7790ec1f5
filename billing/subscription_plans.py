"""The subscription plans and billing pages that this service offers, depending on the payment processor's settings."""

from __future__ import annotations

from typing import Any

from django.conf import settings

SUBSCRIPTION_PLANS = ("payg", "pro", "scale")
METERED_PLAN = "payg"
BILLING_MODES = ("free_beta", "paid")


def has_payment_processor() -> bool:
    """Return whether a payment processor for paid plans is configured; without one, the service is in free beta."""
    return bool(settings.STRIPE_SECRET_KEY)


def billing_mode() -> str:
    """Return the billing mode of this service: `paid` with a configured payment processor, else `free_beta`."""
    return "paid" if has_payment_processor() else "free_beta"


def offered_subscription_plans() -> list[str]:
    """Return the subscription plans that this service offers: those that have a price in the settings."""
    return [plan for plan in SUBSCRIPTION_PLANS if has_payment_processor() and settings.STRIPE_PRICES[plan]]


def billing_capabilities() -> dict[str, Any]:
    """Return the plans and billing pages that this service offers, and the billing mode, for GET /capabilities."""
    return {
        "mode": billing_mode(),
        "checkout_available": bool(offered_subscription_plans()),
        "portal_available": has_payment_processor(),
        "available_plans": offered_subscription_plans(),
    }
