"""CSV export (RFC 4180) of audit log entries and other rows as a stream, with only a few rows in memory at a time."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from typing import Any

from django.db.models import QuerySet
from django.http import StreamingHttpResponse

from auditlog.serializers import LogSerializer

AUDIT_ENTRY_COLUMNS = LogSerializer.Meta.fields
BATCH_SIZE = 500
# A spreadsheet takes text that starts with one of these for a formula (OWASP: CSV injection).
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def stream_queryset_as_csv(
    rows: QuerySet[Any], name: str, columns: Sequence[str] = AUDIT_ENTRY_COLUMNS
) -> StreamingHttpResponse:
    """Return a streamed CSV export of audit entries or other rows: an HTTP response with the file `<name>.csv`.

    `columns` are field names. The first line of the file is a header.
    """
    return streamed_csv_response(rows.values_list(*columns).iterator(BATCH_SIZE), name, columns)


def streamed_csv_response(lines: Iterable[Sequence[Any]], name: str, columns: Sequence[str]) -> StreamingHttpResponse:
    """Return a streamed CSV export of lines of values: an HTTP response with the file `<name>.csv` and a header."""
    return StreamingHttpResponse(
        _chunks(lines, columns),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.csv"'},
    )


def _chunks(lines: Iterable[Sequence[Any]], columns: Sequence[str]) -> Iterator[str]:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(columns)
    for number, line in enumerate(lines, start=1):
        writer.writerow(map(_cell, line))
        if number % BATCH_SIZE == 0:
            yield _take(buffer)
    yield _take(buffer)


def _take(buffer: io.StringIO) -> str:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text


def _cell(value: Any) -> str:
    """Return a value for a cell of the CSV export: null is empty, and what looks like a formula gets an apostrophe."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str):
        return f"'{value}" if value.startswith(FORMULA_STARTS) else value
    return json.dumps(value, ensure_ascii=False)
