"""The posts of the dashboard's lists by day: the columns that the calendar shows, and the query that reads them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from functools import cache
from typing import Any, NamedTuple

from django.db.models.functions import Left

from config.db.fast_read import (
    ColumnConverters,
    column_converters_of_fields,
    in_list_condition,
    list_parameter,
    quoted_column,
    read_rows,
)
from posts.models import PostGroup, PostTarget
from posts.tags import joined_tags_expression

EXCERPT_CHARACTERS = 80  # beginning of the text that the calendar shows


class CalendarTarget(NamedTuple):
    """A target in the lists of posts by day: when and where it is published, and whether the calendar can move it."""

    platform: str
    status: str
    scheduled_at: datetime | None
    lease_until: datetime | None
    attempts: int
    account_id: str


class CalendarPost(NamedTuple):
    """A post in the lists of posts by day, at one time of its targets; a tuple, because model objects take 4 times as long.

    `excerpt` is the beginning of the text, `tags` those of the metadata, separated by commas; `targets` are all targets of
    the post. `moment` is the time that the targets of this entry have, None without one; `shown_at` the time at which they
    are shown, on the local `day`, which has `on_day` entries.
    """

    id: str
    status: str
    excerpt: str
    media: Sequence[dict[str, Any]]
    tags: str | None
    targets: Sequence[CalendarTarget]
    moment: datetime | None
    shown_at: datetime
    day: date
    on_day: int


def calendar_columns_of_groups(ids: set[str]) -> dict[str, tuple[Any, ...]]:
    """Return the columns of calendar posts that come from the post groups and their targets, by the groups' ids."""
    sql, parameters, converters = _columns_of_groups_sql()
    of_group: dict[str, tuple[Any, ...]] = {}
    for group_id, media, *target, status, text, tags in read_rows(sql, [*parameters, list_parameter(ids)], converters):
        group = of_group.setdefault(group_id, (group_id, status, text, media, tags, []))
        group[-1].append(CalendarTarget._make(target))
    return of_group


@cache
def _columns_of_groups_sql() -> tuple[str, Sequence[Any], ColumnConverters]:
    """Return the SELECT that reads the calendar's columns of post groups, its first parameters, and its column converters.

    Its last parameter is the list of ids. It is compiled once, because that takes as long as running it.
    """
    of_target = [PostTarget._meta.get_field(name) for name in CalendarTarget._fields]
    fields = [PostTarget._meta.get_field("group"), PostGroup._meta.get_field("media"), *of_target]
    names = ["group_id", "group__media", *CalendarTarget._fields]
    of_group = ("group__status", Left("group__text", EXCERPT_CHARACTERS), joined_tags_expression("group__metadata"))
    columns = PostTarget.objects.order_by().values_list(*names, *of_group)
    sql, parameters = columns.query.sql_with_params()
    condition = in_list_condition(quoted_column(PostTarget._meta.get_field("group")))
    order = quoted_column(PostTarget._meta.get_field("position"))
    return f"{sql} WHERE {condition} ORDER BY {order}", parameters, column_converters_of_fields(fields)
