"""Template filters that return display texts of agent modes (such as drafts only) and of scopes (permissions)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django import template

from agents.dashboard.forms import AGENT_SCOPE_LABELS, KEY_SCOPE_LABELS, MODE_LABELS
from agents.models import ApiKey
from config.api.caller import AgentMode
from config.api.scopes import SCOPES

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

register = template.Library()


@register.filter
def mode_label(mode: str) -> str:
    """Template filter: return the display name of an agent mode, which limits what the agent may do (such as only drafts)."""
    return str(MODE_LABELS[AgentMode(mode)][0])


@register.filter
def mode_description(mode: str) -> str:
    """Template filter: return the description of an agent mode, which limits what the agent may do (such as only drafts)."""
    return str(MODE_LABELS[AgentMode(mode)][1])


@register.filter
def agent_scope_labels(scopes: list[str]) -> list[str]:
    """Template filter: return the labels of an agent's scopes (permissions)."""
    return _labels_of(scopes, AGENT_SCOPE_LABELS)


@register.filter
def key_scope_labels(key: ApiKey) -> list[str]:
    """Template filter: return the labels of an API key's scopes (permissions)."""
    return _labels_of(key.held_scopes, AGENT_SCOPE_LABELS if key.agent_id else KEY_SCOPE_LABELS)


def _labels_of(scopes: list[str], labels: Mapping[str, StrOrPromise]) -> list[str]:
    """Return the labels of scopes (permissions) for a template filter, in the order of config/api/scopes.py."""
    return [str(labels[scope]) for scope in SCOPES if scope in scopes]
