"""Template filters for agent modes and scopes."""

from __future__ import annotations

from django import template

from agents.dashboard.labels import AGENT_SCOPE_LABELS, KEY_SCOPE_LABELS, MODE_LABELS, scope_labels
from agents.models import ApiKey
from config.api.caller import AgentMode

register = template.Library()


@register.filter
def mode_name(mode: str) -> str:
    """Return the display name of an agent mode."""
    return MODE_LABELS[AgentMode(mode)][0]


@register.filter
def mode_meaning(mode: str) -> str:
    """Return the description of an agent mode."""
    return MODE_LABELS[AgentMode(mode)][1]


@register.filter
def allowed(scopes: list[str]) -> list[str]:
    """Return the labels of an agent's scopes."""
    return scope_labels(scopes, AGENT_SCOPE_LABELS)


@register.filter
def opens(key: ApiKey) -> list[str]:
    """Return the labels of a key's scopes."""
    return scope_labels(key.held_scopes, AGENT_SCOPE_LABELS if key.agent_id else KEY_SCOPE_LABELS)
