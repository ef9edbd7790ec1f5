"""Which billing actions this service offers."""

from __future__ import annotations

from typing import Any


def billing_capabilities() -> dict[str, Any]:
    """The `billing` part of GET /capabilities: without a payment processor the service is in free beta."""
    return {"mode": "free_beta", "checkout_available": False, "portal_available": False, "available_plans": []}
