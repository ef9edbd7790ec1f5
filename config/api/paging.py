"""The paging of API lists: cursor pagination of querysets by id or by time, the query parameters, and the page's schema."""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar, cast

from django.db.models import Model, Q, QuerySet
from django.utils.dateparse import parse_datetime
from rest_framework import serializers

from config.api import fields
from config.api.errors import ValidationFailed
from config.api.serializers import QuerySerializer
from config.db.ids import PrefixedIdField, is_id

Row = TypeVar("Row", bound=Model)
Item = TypeVar("Item")


@dataclass(frozen=True)
class Page(Generic[Item]):
    """One page of an API list: its rows, and the cursor of the next page, or None at the end."""

    rows: list[Item]
    next_cursor: str | None


class PageQuery(QuerySerializer):
    """The query parameters of an operation that returns a paginated list."""

    limit = fields.QueryInteger(
        min_value=1, max_value=200, default=50, help_text="Maximum number of rows (1 to 200, default 50)."
    )
    cursor = fields.Text(required=False, help_text="`next_cursor` of the previous page.")


def page_serializer_class(name: str, plural: str, item: type[serializers.BaseSerializer]) -> type[serializers.Serializer]:
    """Build the serializer class for a page of a list: `{"<plural>": [...], "next_cursor": string|null}`."""
    members = {
        plural: item(many=True),
        "next_cursor": serializers.CharField(allow_null=True, help_text="Pass it as `cursor` to get the next page."),
        "__module__": __name__,
    }
    return type(name, (serializers.Serializer,), members)


def paginate_newest_first(
    queryset: QuerySet[Row], *, limit: int, cursor: str | None = None, fetch: Callable[[QuerySet[Row]], list[Any]] = list
) -> Page[Any]:
    """Return one page of a list, newest first: the rows that follow the request's `cursor`, in descending order of ids.

    Another order of the queryset is ignored. `fetch` reads the rows of a sorted queryset; they have at least a `pk`.
    """
    rows = fetch(_after(queryset, cursor).order_by("-pk")[: limit + 1])
    more = len(rows) > limit
    return Page(rows[:limit], _encoded(rows[limit - 1].pk) if more else None)


def paginate_with_scan_limit(
    queryset: QuerySet[Row],
    *,
    wanted: Q,
    span: int,
    limit: int,
    cursor: str | None = None,
    fetch: Callable[[QuerySet[Row]], list[Any]] = list,
) -> Page[Any]:
    """Return one page of the rows that match the Q object `wanted`, searching at most the next `span` rows of the queryset.

    The bound limits the work when few rows match. A page may therefore be empty without being the last one. `fetch` is that
    of `paginate_newest_first`.
    """
    behind = _after(queryset, cursor)
    last = behind.order_by("-pk").values_list("pk", flat=True)[span - 1 : span].first()
    found = behind.filter(wanted) if last is None else behind.filter(wanted, pk__gte=last)
    page = paginate_newest_first(found, limit=limit, fetch=fetch)
    if page.next_cursor or last is None:
        return page
    return Page(page.rows, _encoded(last))


def paginate_earliest_first(queryset: QuerySet[Row], *, field: str, limit: int, cursor: str | None = None) -> Page[Row]:
    """Return one page of a list, earliest first by a time field and then by id: the rows that follow the request's cursor."""
    if after := decode_earliest_first_cursor_or_none(cursor, queryset.model):
        at, pk = after
        queryset = queryset.filter(Q(**{f"{field}__gt": at}) | Q(**{field: at, "pk__gt": pk}))
    return build_page_of_read_rows_earliest_first(list(queryset.order_by(field, "pk")[: limit + 1]), field=field, limit=limit)


def decode_earliest_first_cursor_or_none(cursor: str | None, model: type[Model]) -> tuple[datetime, str] | None:
    """Decode the cursor of a list sorted by time and id: return the time and the id after which the page begins, or None.

    Raises ValidationFailed for a bad cursor.
    """
    if cursor is None:
        return None
    text, _, pk = _decoded(cursor).partition("|")
    at = _time(text)
    if at is None or not is_id(pk, _prefix(model)):
        raise _invalid_cursor()
    return at, pk


def build_page_of_read_rows_earliest_first(rows: list[Item], *, field: str, limit: int) -> Page[Item]:
    """Make the page of a list from rows sorted by a time field and by `id`, with the cursor of the next page.

    `rows` holds up to `limit` + 1 rows: one more than the page shows if another page follows.
    """
    last: Any = rows[limit - 1] if len(rows) > limit else None
    return Page(rows[:limit], _encoded(f"{getattr(last, field).isoformat()}|{last.id}") if last else None)


def page_response_body(plural: str, page: Page[Any]) -> dict[str, Any]:
    """Return the JSON body of the response for one page of a list: `{plural: rows, "next_cursor": …}`."""
    return {plural: page.rows, "next_cursor": page.next_cursor}


def _after(queryset: QuerySet[Row], cursor: str | None) -> QuerySet[Row]:
    """Return the rows of a paginated list with ids lower than the cursor's. Raises ValidationFailed for a bad cursor."""
    if cursor is None:
        return queryset
    pk = _decoded(cursor)
    if not is_id(pk, _prefix(queryset.model)):
        raise _invalid_cursor()
    return queryset.filter(pk__lt=pk)


def _time(text: str) -> datetime | None:
    """Return the time in the cursor of a paginated list; None if it is invalid."""
    try:
        return parse_datetime(text) if text.endswith("+00:00") else None
    except ValueError:  # formatted as a time, but no such time exists
        return None


def _prefix(model: type[Model]) -> str:
    return cast(PrefixedIdField, model._meta.pk).prefix


def _encoded(position: str) -> str:
    return urlsafe_b64encode(f"1:{position}".encode()).decode().rstrip("=")


def _decoded(cursor: str) -> str:
    """Return the position that the cursor of a paginated list encodes. Raises ValidationFailed for an invalid cursor."""
    try:
        text = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4)).decode("ascii")
    except (ValueError, binascii.Error):
        text = ""
    version, _, position = text.partition(":")
    if version != "1" or _encoded(position) != cursor:
        raise _invalid_cursor()
    return position


def _invalid_cursor() -> ValidationFailed:
    return ValidationFailed.for_field("cursor", "This is not a cursor of this service.", "invalid_cursor")
