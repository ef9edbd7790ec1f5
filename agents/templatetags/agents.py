"""Template filters that return display texts of agent modes (such as drafts only) and of scopes (permissions)."""

from __future__ import annotations

from django import template

from agents.dashboard.forms import AGENT_SCOPE_LABELS, KEY_SCOPE_LABELS, MODE_LABELS
from agents.models import ApiKey
from config.api.caller import AgentMode
from config.api.scopes import SCOPES

register = template.Library()


@register.filter
def mode_label(mode: str) -> str:
    """Template filter: return the display name of an agent mode, which limits what the agent may do (such as only drafts)."""
    return MODE_LABELS[AgentMode(mode)][0]


@register.filter
def mode_description(mode: str) -> str:
    """Template filter: return the description of an agent mode, which limits what the agent may do (such as only drafts)."""
    return MODE_LABELS[AgentMode(mode)][1]


@register.filter
def agent_scope_labels(scopes: list[str]) -> list[str]:
    """Template filter: return the labels of an agent's scopes (permissions)."""
    return _labels_of(scopes, AGENT_SCOPE_LABELS)


@register.filter
def key_scope_labels(key: ApiKey) -> list[str]:
    """Template filter: return the labels of an API key's scopes (permissions)."""
    return _labels_of(key.held_scopes, AGENT_SCOPE_LABELS if key.agent_id else KEY_SCOPE_LABELS)


def _labels_of(scopes: list[str], labels: dict[str, str]) -> list[str]:
    """Return the labels of scopes (permissions) for a template filter, in the order of config/api/scopes.py."""
    return [labels[scope] for scope in SCOPES if scope in scopes]
