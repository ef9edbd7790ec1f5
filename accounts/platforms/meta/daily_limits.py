"""Waiting for a limit of Meta's products on what an account publishes within 24 hours.

The limit allows another post 24 hours after one of those that are counted. Other posts of the account may wait for it too, so
the pauses grow with each attempt: the six pauses of the default retry schedule together are longer than 24 hours.
"""

from __future__ import annotations

PAUSES_HOURS = (0.5, 1.0, 2.0, 4.0, 8.0, 12.0)


def pause_seconds(attempt: int) -> float:
    """How long to wait for Meta's daily limit after this attempt, counted from 1 (Content.attempt)."""
    return PAUSES_HOURS[min(attempt, len(PAUSES_HOURS)) - 1] * 3600
