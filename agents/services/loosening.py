"""Loosening an agent, for which the caller needs every scope that the agent holds."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from agents.models import Agent
from config.api.caller import Caller, Mode
from config.api.errors import ScopeMissing

CAPS = ("posts_per_day_cap", "monthly_spend_cap_cents", "monthly_social_url_post_cap")


def require_for_loosening(caller: Caller, agent: Agent, changes: dict[str, Any]) -> None:
    """Raise ScopeMissing for a change that lets the agent do more, unless the caller holds all of its scopes."""
    loosened = [name for name, value in changes.items() if _loosens(agent, name, value)]
    missing = [scope for scope in agent.scopes if scope not in caller.scopes]
    if loosened and missing:
        raise ScopeMissing(
            f"This change of {', '.join(loosened)} lets the agent do more, but the caller does not hold "
            f"{', '.join(missing)}, which the agent holds.",
            suggested_action="Use a key that holds every scope of the agent.",
        )


def _loosens(agent: Agent, name: str, value: Any) -> bool:
    """Whether the new value is a higher mode, a higher or removed cap, a wider or removed allowlist, or a higher rate."""
    before = getattr(agent, name)
    if name == "default_mode":
        return _rank(value) > _rank(before)
    if name == "account_allowlist":
        return before is not None and (value is None or not set(value) <= set(before))
    if name == "rate_limit_per_minute":
        return _requests(value) > _requests(agent.effective_rate_limit)
    return name in CAPS and before is not None and (value is None or value > before)


def _rank(mode: str) -> int:
    return list(Mode.values).index(mode)


def _requests(limit: int | None) -> int:
    return settings.RATE_LIMIT_PER_MINUTE if limit is None else limit
