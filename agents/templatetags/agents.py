"""Modes and scopes in templates."""

from __future__ import annotations

from django import template

from agents.dashboard.words import AGENT_SCOPES, KEY_SCOPES, MODES, scopes_in_words
from agents.models import ApiKey
from config.api.caller import Mode

register = template.Library()


@register.filter
def mode_name(mode: str) -> str:
    """A mode as people say it."""
    return MODES[Mode(mode)][0]


@register.filter
def mode_meaning(mode: str) -> str:
    """What an agent of this mode does."""
    return MODES[Mode(mode)][1]


@register.filter
def allowed(scopes: list[str]) -> list[str]:
    """What an agent's scopes allow it."""
    return scopes_in_words(scopes, AGENT_SCOPES)


@register.filter
def opens(key: ApiKey) -> list[str]:
    """What a key allows whoever holds it."""
    return scopes_in_words(key.held_scopes, AGENT_SCOPES if key.agent_id else KEY_SCOPES)
