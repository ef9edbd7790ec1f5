"""Summaries of post groups for lists, with only the columns that lists show, because loading full models made lists slow."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import QuerySet

from config.api.paging import Page
from posts.models import PostGroup, PostTarget

# The fields of PostSummary. `paginate` and `paginate_by_time` need the columns that they sort by.
SUMMARY_COLUMNS = ("pk", "status", "scheduled_at", "text", "sandbox", "created_at")


class TargetSummary(NamedTuple):
    """The summary of a post target for lists of posts, with only the columns that the lists show."""

    id: str
    platform: str
    account_id: str
    status: str


class PostSummary(NamedTuple):
    """The summary of a post group for lists of posts: the columns that the lists show, and summaries of its targets."""

    id: str
    status: str
    scheduled_at: datetime | None
    text: str
    sandbox: bool
    created_at: datetime
    targets: list[TargetSummary]


def select_summary_columns(groups: QuerySet[PostGroup]) -> QuerySet[PostGroup]:
    """Restrict a queryset of post groups to the columns that their summaries need."""
    return groups.values_list(*SUMMARY_COLUMNS, named=True)  # named tuples with the attributes of a post group


def load_summaries(page: Page[PostGroup]) -> Page[PostSummary]:
    """Convert a page of post groups to summaries; their targets are loaded with one query."""
    targets: dict[str, list[TargetSummary]] = defaultdict(list)
    groups: list[Any] = page.rows  # named tuples of SUMMARY_COLUMNS
    ids = [group.pk for group in groups]
    rows = PostTarget.objects.filter(group_id__in=ids).order_by("group_id", "position")
    for group_id, *shown in rows.values_list("group_id", *TargetSummary._fields) if ids else ():
        targets[group_id].append(TargetSummary(*shown))
    return Page([PostSummary._make((*group, targets[group.pk])) for group in groups], page.next_cursor)
