"""Audit entries, and other rows, as CSV (RFC 4180), streamed: memory holds a few rows, however long the list is."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from typing import Any

from django.db.models import QuerySet
from django.http import StreamingHttpResponse

from auditlog.serializers import LogSerializer

COLUMNS = LogSerializer.Meta.fields
ROWS_AT_ONCE = 500
# What a spreadsheet takes for a formula (OWASP: CSV injection).
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def csv_response(rows: QuerySet[Any], name: str, columns: Sequence[str] = COLUMNS) -> StreamingHttpResponse:
    """The rows in their order under one header row, as a file `<name>.csv`; `columns` are fields of theirs."""
    return StreamingHttpResponse(
        _pieces(rows, columns),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.csv"'},
    )


def _pieces(rows: QuerySet[Any], columns: Sequence[str]) -> Iterator[str]:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(columns)
    for number, row in enumerate(rows.values_list(*columns).iterator(ROWS_AT_ONCE), start=1):
        writer.writerow(map(_cell, row))
        if number % ROWS_AT_ONCE == 0:
            yield _take(buffer)
    yield _take(buffer)


def _take(buffer: io.StringIO) -> str:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text


def _cell(value: Any) -> str:
    """The value as JSON shows it, null as an empty cell; a text that looks like a formula gets a leading apostrophe."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str):
        return f"'{value}" if value.startswith(FORMULA_STARTS) else value
    return json.dumps(value, ensure_ascii=False)
