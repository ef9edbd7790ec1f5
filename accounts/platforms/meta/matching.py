"""Telling whether something that stands at an account is what an earlier try has made: by its words and its moment."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

# Between this machine's clock, by which the beginning of a publication is known, and Meta's.
CLOCKS_APART = timedelta(minutes=5)


def same_text(told: Any, given: str) -> bool:
    """Whether Meta tells the text that it was given; it trims white space."""
    return _squeezed(told if isinstance(told, str) else "") == _squeezed(given)


def earliest(since: str) -> datetime:
    """The moment before which nothing can be of a publication that began at `since` (ISO 8601)."""
    return datetime.fromisoformat(since).astimezone(UTC) - CLOCKS_APART


def moment_of(entity: Mapping[str, Any], name: str) -> datetime | None:
    """A moment as Graph tells it, `2026-11-20T12:00:00+0000`; None for anything else."""
    try:
        moment = datetime.fromisoformat(str(entity.get(name)))
    except ValueError:
        return None
    return moment if moment.tzinfo else None


def _squeezed(text: str) -> str:
    return "".join(unicodedata.normalize("NFC", text).split())
