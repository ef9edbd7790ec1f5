"""Waiting for a limit that counts what was published within the last 24 hours.

A place comes free 24 hours after the post that took it. Other posts of the account may wait for the same place, so the
pauses grow with each attempt: a retry schedule of six pauses, as is the default, reaches beyond the 24 hours.
"""

from __future__ import annotations

PAUSES_HOURS = (0.5, 1.0, 2.0, 4.0, 8.0, 12.0)


def pause_seconds(attempt: int) -> float:
    """How long to wait after this attempt, counted from 1 (Content.attempt)."""
    return PAUSES_HOURS[min(attempt, len(PAUSES_HOURS)) - 1] * 3600
