"""The JSON of a series, for API responses and events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from posts.models import Series
from posts.post_group_json import format_timestamp


@dataclass(frozen=True)
class UpcomingOccurrence:
    """An upcoming occurrence in a series' JSON: its time, and the post made of it, or why none could be made."""

    at: datetime
    local: str
    post_group_id: str | None = None
    error: dict[str, Any] | None = None


def series_json(series: Series, upcoming: Sequence[UpcomingOccurrence]) -> dict[str, Any]:
    """Return the JSON data of a series with its next occurrences."""
    return {
        "id": series.id,
        "workspace_id": series.workspace_id,
        "name": series.name,
        "status": str(series.status),
        "timezone": series.timezone,
        "starts_at": series.starts_at,
        "rrule": series.rrule,
        "exdates": series.exdates,
        "post": series.post,
        "next": [
            {
                "at": format_timestamp(each.at),
                "local": each.local,
                "post_group_id": each.post_group_id,
                "error": each.error,
            }
            for each in upcoming
        ],
        "made": series.made,
        "cost_cents_each": series.cost_cents_each,
        "created_by": series.created_by,
        "created_at": format_timestamp(series.created_at),
        "trace_id": series.trace_id,
    }
