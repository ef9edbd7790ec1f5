"""The subscription plans and billing actions that this service offers, as the payment processor's settings allow."""

from __future__ import annotations

from typing import Any

from django.conf import settings

PLANS = ("payg", "pro", "scale")
METERED_PLAN = "payg"
BILLING_MODES = ("free_beta", "paid")


def is_paid() -> bool:
    """Return whether a payment processor is configured; without one the service is in free beta and invoices nothing."""
    return bool(settings.STRIPE_SECRET_KEY)


def paid_or_free_beta() -> str:
    """Return the billing mode of this service: `paid`, or `free_beta` without a payment processor."""
    return "paid" if is_paid() else "free_beta"


def available_plans() -> list[str]:
    """Return the subscription plans that have a configured price, so that a workspace can subscribe to them."""
    return [plan for plan in PLANS if is_paid() and settings.STRIPE_PRICES[plan]]


def billing_capabilities() -> dict[str, Any]:
    """Return the `billing` part of GET /capabilities: the billing mode and the available plans and pages."""
    return {
        "mode": paid_or_free_beta(),
        "checkout_available": bool(available_plans()),
        "portal_available": is_paid(),
        "available_plans": available_plans(),
    }
