"""Summaries of post groups for lists, with only the columns that lists show, because loading full models made lists slow."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from typing import NamedTuple

from django.db.models import QuerySet

from config.db.fast_read import ColumnConverters, converters_of, quoted_column, read_rows
from posts.models import PostGroup, PostTarget
from posts.states import earliest_scheduled_at


class TargetSummary(NamedTuple):
    """The summary of a post target for lists of posts, with only the columns that the lists show."""

    id: str
    platform: str
    account_id: str
    status: str
    scheduled_at: datetime | None


class PostSummary(NamedTuple):
    """The summary of a post group for lists of posts: the columns that the lists show, and summaries of its targets.

    `scheduled_at` is the time in the list: of the first target on a day, or else the earliest of the unfinished targets.
    """

    id: str
    status: str
    scheduled_at: datetime | None
    text: str
    sandbox: bool
    created_at: datetime
    targets: list[TargetSummary]

    @property
    def pk(self) -> str:
        return self.id

    @property
    def listed_at(self) -> datetime | None:
        """Return the time by which a list of a day is sorted."""
        return self.scheduled_at


_GROUP_COLUMNS, _TARGET_COLUMNS = PostSummary._fields[:-1], TargetSummary._fields


def fetch_post_summaries(groups: QuerySet[PostGroup]) -> list[PostSummary]:
    """Read the summaries of the post groups of a queryset, and of their targets, with one statement.

    The queryset must be sorted by columns of the summaries. Its annotation `listed_at`, if there is one, is the time of each
    group in the list.
    """
    dated = "listed_at" in groups.query.annotations
    names = ["listed_at" if dated and name == "scheduled_at" else name for name in _GROUP_COLUMNS]
    page, params = groups.values_list(*names).query.sql_with_params()
    column = {name: quoted_column(PostTarget._meta.get_field(name)) for name in (*_TARGET_COLUMNS, "group", "position")}
    order = [
        f"page.{name.strip('-').replace('pk', 'id')}{' DESC' * name.startswith('-')}"
        for name in map(str, groups.query.order_by)
    ]
    sql = (  # the names are those of the models
        f"SELECT page.*, {', '.join(map(column.__getitem__, _TARGET_COLUMNS))} FROM ({page}) page "  # noqa: S608
        f"LEFT JOIN {PostTarget._meta.db_table} ON {column['group']} = page.id "
        f"ORDER BY {', '.join(order)}, {column['position']}"
    )
    width = len(_GROUP_COLUMNS)
    summaries: list[PostSummary] = []
    for row in read_rows(sql, params, _converters()):
        if not summaries or summaries[-1].id != row[0]:
            summaries.append(PostSummary._make((*row[:width], [])))
        if row[width] is not None:
            summaries[-1].targets.append(TargetSummary._make(row[width:]))
    return summaries if dated else [each._replace(scheduled_at=earliest_scheduled_at(each.targets)) for each in summaries]


@cache
def _converters() -> ColumnConverters:
    fields = [PostGroup._meta.get_field(name) for name in _GROUP_COLUMNS]
    return converters_of([*fields, *(PostTarget._meta.get_field(name) for name in _TARGET_COLUMNS)])
