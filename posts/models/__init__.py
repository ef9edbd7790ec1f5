"""Models of post groups with their targets, series, plans, calendar feeds, imported rows, saved filters and the composer."""

from __future__ import annotations

from posts.models.calendar_feeds import CalendarFeed
from posts.models.composer import ComposerDraft, PublishingPreference
from posts.models.imports import ImportedRow
from posts.models.posts import PostGroup, PostTarget
from posts.models.saved_filters import SavedFilter
from posts.models.series import Series, SeriesOccurrence
from posts.models.stored_plans import StoredPlan

__all__ = [
    "CalendarFeed",
    "ComposerDraft",
    "ImportedRow",
    "PostGroup",
    "PostTarget",
    "PublishingPreference",
    "SavedFilter",
    "Series",
    "SeriesOccurrence",
    "StoredPlan",
]
