"""Which plans and billing actions this service offers, by the settings of its payment processor."""

from __future__ import annotations

from typing import Any

from django.conf import settings

PLANS = ("payg", "pro", "scale")
METERED_PLAN = "payg"
MODES = ("free_beta", "paid")


def is_paid() -> bool:
    """Whether a payment processor is set up; without one the service is in free beta and nothing is invoiced."""
    return bool(settings.STRIPE_SECRET_KEY)


def billing_mode() -> str:
    """One of MODES."""
    return "paid" if is_paid() else "free_beta"


def available_plans() -> list[str]:
    """The plans that can be subscribed to: those with a price at the processor."""
    return [plan for plan in PLANS if is_paid() and settings.STRIPE_PRICES[plan]]


def billing_capabilities() -> dict[str, Any]:
    """The `billing` part of GET /capabilities."""
    return {
        "mode": billing_mode(),
        "checkout_available": bool(available_plans()),
        "portal_available": is_paid(),
        "available_plans": available_plans(),
    }
