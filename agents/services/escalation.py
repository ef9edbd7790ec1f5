"""Prevents privilege escalation: only a caller with every scope of an agent may let that agent do more."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from agents.models import Agent
from config.api.caller import AgentMode, Caller
from config.api.errors import ScopeMissing

CAP_FIELDS = ("posts_per_day_cap", "monthly_spend_cap_cents", "monthly_social_url_post_cap")


def forbid_escalation(caller: Caller, agent: Agent, changes: dict[str, Any]) -> None:
    """Raise ScopeMissing if a change lets the agent do more and the caller lacks one of the agent's scopes."""
    increased = [name for name, value in changes.items() if _increases_permission(agent, name, value)]
    missing = [scope for scope in agent.scopes if scope not in caller.scopes]
    if increased and missing:
        raise ScopeMissing(
            f"This change of {', '.join(increased)} lets the agent do more, but the caller does not hold "
            f"{', '.join(missing)}, which the agent holds.",
            suggested_action="Use a key that holds every scope of the agent.",
        )


def _increases_permission(agent: Agent, name: str, value: Any) -> bool:
    """Return whether the value is a higher mode, rate or cap, a removed cap, or a wider or removed allowlist."""
    before = getattr(agent, name)
    if name == "default_mode":
        return _mode_rank(value) > _mode_rank(before)
    if name == "account_allowlist":
        return before is not None and (value is None or not set(value) <= set(before))
    if name == "rate_limit_per_minute":
        return _requests_per_minute(value) > _requests_per_minute(agent.effective_rate_limit)
    return name in CAP_FIELDS and before is not None and (value is None or value > before)


def _mode_rank(mode: str) -> int:
    return list(AgentMode.values).index(mode)


def _requests_per_minute(limit: int | None) -> int:
    return settings.RATE_LIMIT_PER_MINUTE if limit is None else limit
