"""Summaries of post groups for lists, with only the columns that lists show, because loading full models made lists slow."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cache, lru_cache
from typing import Any, NamedTuple

from django.db.models import QuerySet

from config.db.fast_read import ColumnConverters, column_converters_of_fields, quoted_column, read_rows
from posts.models import PostGroup, PostTarget
from posts.states import shown_scheduled_at_or_none


class TargetSummary(NamedTuple):
    """The summary of a post target for lists of posts, with only the columns that the lists show.

    `scheduled_at` is not read for the list of a day.
    """

    id: str
    platform: str
    account_id: str
    status: str
    scheduled_at: datetime | None


class PostSummary(NamedTuple):
    """The summary of a post group for lists of posts: the columns that the lists show, and summaries of its targets.

    `scheduled_at` is the time in the list: of the first target on a day, or else the earliest of the unfinished targets.
    `created_at` is not read for the list of a day.
    """

    id: str
    status: str
    scheduled_at: datetime | None
    text: str
    sandbox: bool
    created_at: datetime | None
    targets: list[TargetSummary]

    @property
    def pk(self) -> str:
        return self.id


_GROUP_COLUMNS, _TARGET_COLUMNS = PostSummary._fields[:-1], TargetSummary._fields


def fetch_summaries_of_queryset(groups: QuerySet[PostGroup]) -> list[PostSummary]:
    """Read the summaries of the post groups of a queryset, and of their targets, with one statement.

    The queryset must be sorted by ids, with the newest first.
    """
    page, params = groups.values_list(*_GROUP_COLUMNS).query.sql_with_params()
    return [
        each._replace(scheduled_at=shown_scheduled_at_or_none(each.targets))
        for each in read_post_summaries_of_select(page, params, order="page.id DESC", with_times=True)
    ]


def read_post_summaries_of_select(page: str, params: Sequence[Any], *, order: str, with_times: bool) -> list[PostSummary]:
    """Read post summaries by an SQL SELECT of post groups (`page`), which is joined with their targets and sorted by `order`.

    `with_times`: also read the times of the targets.
    """
    summaries: list[PostSummary] = []
    width = len(_GROUP_COLUMNS)
    for row in read_rows(_with_targets(page, order, with_times), params, _converters()):
        if not summaries or summaries[-1].id != row[0]:
            summaries.append(PostSummary._make((*row[:width], [])))
        if row[width] is not None:
            summaries[-1].targets.append(TargetSummary._make(row[width:]))
    return summaries


@lru_cache(maxsize=100)
def _with_targets(page: str, order: str, with_times: bool) -> str:
    column = {name: quoted_column(PostTarget._meta.get_field(name)) for name in (*_TARGET_COLUMNS, "group", "position")}
    shown = [column[name] if with_times or name != "scheduled_at" else "NULL" for name in _TARGET_COLUMNS]
    return (  # the names are those of the models
        f"SELECT page.*, {', '.join(shown)} FROM ({page}) page "  # noqa: S608 - only constants
        f"LEFT JOIN {PostTarget._meta.db_table} ON {column['group']} = page.id ORDER BY {order}, {column['position']}"
    )


@cache
def _converters() -> ColumnConverters:
    fields = [PostGroup._meta.get_field(name) for name in _GROUP_COLUMNS]
    return column_converters_of_fields([*fields, *(PostTarget._meta.get_field(name) for name in _TARGET_COLUMNS)])
