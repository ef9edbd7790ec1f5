"""Post groups as lists show them: a few values of each, since whole instances took most of a list's time."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db.models import QuerySet

from config.api.paging import Page
from posts.models import PostGroup, PostTarget

# What a page of them is read by: `paginate` and `paginate_by_time` take the rows as they come.
SUMMARY_COLUMNS = ("pk", "status", "scheduled_at", "text", "sandbox", "created_at")


class TargetSummary(NamedTuple):
    """A target as a list shows it."""

    id: str
    platform: str
    account_id: str
    status: str


@dataclass(frozen=True)
class PostSummary:
    """A group as a list shows it."""

    id: str
    status: str
    scheduled_at: datetime | None
    text: str
    sandbox: bool
    created_at: datetime
    targets: list[TargetSummary]


def select_summary_columns(groups: QuerySet[PostGroup]) -> QuerySet[PostGroup]:
    """The groups' columns that lists show."""
    return groups.values_list(*SUMMARY_COLUMNS, named=True)  # rows that have these attributes


def load_summaries(page: Page[PostGroup]) -> Page[PostSummary]:
    """A page of `columns_of`, with the targets of its groups: one statement more."""
    targets: dict[str, list[TargetSummary]] = defaultdict(list)
    ids = [row.pk for row in page.rows]
    rows = PostTarget.objects.filter(group_id__in=ids).order_by("group_id", "position")
    for group_id, *shown in rows.values_list("group_id", *TargetSummary._fields) if ids else ():
        targets[group_id].append(TargetSummary(*shown))
    return Page([_listed(row, targets[row.pk]) for row in page.rows], page.next_cursor)


def _listed(row: PostGroup, targets: list[TargetSummary]) -> PostSummary:
    return PostSummary(row.pk, row.status, row.scheduled_at, row.text, row.sandbox, row.created_at, targets)
