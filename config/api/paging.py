"""Pages of a list, newest first, by opaque cursors."""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from django.db.models import Model, QuerySet

from config.api.errors import ValidationFailed
from config.db.ids import PrefixedIdField, is_id

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class Page(Generic[Row]):
    rows: list[Row]
    next_cursor: str | None


def paginate(queryset: QuerySet[Row], *, limit: int, cursor: str | None = None) -> Page[Row]:
    """The rows after the cursor; ids sort by time, so newest first is highest id first."""
    if cursor:
        queryset = queryset.filter(pk__lt=_read(cursor, cast(PrefixedIdField, queryset.model._meta.pk).prefix))
    rows = list(queryset.order_by("-pk")[: limit + 1])
    more = len(rows) > limit
    return Page(rows[:limit], _write(rows[limit - 1].pk) if more else None)


def page_body(plural: str, page: Page[Any]) -> dict[str, Any]:
    """The page in the form that its serializer takes."""
    return {plural: page.rows, "next_cursor": page.next_cursor}


def _write(pk: str) -> str:
    return urlsafe_b64encode(f"1:{pk}".encode()).decode().rstrip("=")


def _read(cursor: str, prefix: str) -> str:
    try:
        text = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4)).decode("ascii")
    except (ValueError, binascii.Error):
        text = ""
    version, _, pk = text.partition(":")
    if version != "1" or not is_id(pk, prefix) or _write(pk) != cursor:
        raise ValidationFailed.of("cursor", "This cursor is not one that the service gave.", "invalid_cursor")
    return pk
