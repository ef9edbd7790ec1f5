"""Audit entries as CSV (RFC 4180), streamed: memory holds a few rows, however long the log is."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from django.db.models import QuerySet
from django.http import StreamingHttpResponse

from auditlog.models import AuditEntry
from auditlog.serializers import LogSerializer

COLUMNS = LogSerializer.Meta.fields
ROWS_AT_ONCE = 500
# What a spreadsheet takes for a formula (OWASP: CSV injection).
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def csv_response(entries: QuerySet[AuditEntry], name: str) -> StreamingHttpResponse:
    """The entries in their order under one header row, as a file `<name>.csv`."""
    return StreamingHttpResponse(
        _pieces(entries),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.csv"'},
    )


def _pieces(entries: QuerySet[AuditEntry]) -> Iterator[str]:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(COLUMNS)
    for number, row in enumerate(entries.values_list(*COLUMNS).iterator(ROWS_AT_ONCE), start=1):
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
    """The value as JSON shows it, null as an empty cell; what looks like a formula gets a leading apostrophe."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        text = value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    elif isinstance(value, str):
        text = value
    else:
        text = json.dumps(value, ensure_ascii=False)
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
