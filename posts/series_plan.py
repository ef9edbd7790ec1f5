"""The class for the plan of a new series, and what the hash of a plan contains of a series."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from media.models import MediaAsset
from posts.models import Series
from posts.plan import Plan, attachment_data_for_hash


@dataclass(frozen=True, kw_only=True)
class NewSeriesPlan(Plan):
    """The plan of a new series: the series without its occurrences. `assets` are the media of its post by id."""

    series: Series
    assets: Mapping[str, MediaAsset]

    @cached_property
    def hashed_data(self) -> dict[str, Any]:
        """Return the JSON data of this NewSeriesPlan from which its hash is computed."""
        return {
            "operation": self.operation,
            "workspace_id": self.workspace_id,
            "ceiling": str(self.caller.mode),
            "series": series_content_in_plan(self.series, self.assets),
        }

    @property
    def resource_ids(self) -> list[str]:
        return [self.series.id]


def series_content_in_plan(series: Series, assets: Mapping[str, MediaAsset]) -> dict[str, Any]:
    """Return the content of a series for a plan: its post, rule, zone and price, but not which occurrences come next."""
    return {
        "status": str(series.status),
        "post": {
            **{name: series.post[name] for name in ("text", "targets", "webhook_url")},
            "texts": series.post.get("texts", []),
            "media": [attachment_data_for_hash(entry, assets) for entry in series.post["media"]],
        },
        "starts_at": series.starts_at,
        "timezone": series.timezone,
        "rrule": series.rrule,
        "exdates": series.exdates,
        "cost_cents_each": series.cost_cents_each,
    }
