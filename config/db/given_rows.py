"""Rows of values as a table of an SQL statement, which inserts or updates many rows at once.

PostgreSQL gets many rows as one JSON document: the statement has the same text for any number of rows, so that it is parsed
and planned once, and the driver has one parameter to convert instead of one for each value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

import orjson
from django.db import connection, models

from config.db.ids import PrefixedIdField

# Fields whose values PostgreSQL's driver takes as they are, without a conversion by Django.
_PLAIN_FIELDS = (
    *(models.BooleanField, models.CharField, models.TextField, PrefixedIdField, models.DateField, models.DateTimeField),
    *(models.SmallIntegerField, models.IntegerField, models.BigIntegerField),
    *(models.PositiveSmallIntegerField, models.PositiveIntegerField, models.PositiveBigIntegerField),
)


class SqlValuesTable:
    """A table of values within an SQL statement (the common table expression `given`): its column names and model fields."""

    def __init__(self, names: Sequence[str], fields: Sequence[Any]) -> None:
        self.names = list(names)
        self._fields = fields
        self._for_values = [_conversion(field, document=False) for field in fields]
        self._for_document = [_conversion(field, document=True) for field in fields]

    def sql(self, count: int) -> str:
        """Return the SQL of the table `given` with `count` rows, as a common table expression for `parameters(rows)`."""
        if sends_rows_as_json(count):
            types = (field.db_type(connection) for field in self._fields)
            columns = ", ".join(f"{name} {kind}" for name, kind in zip(self.names, types, strict=True))
            return f"given AS (SELECT * FROM json_to_recordset(%s::json) AS document ({columns}))"  # noqa: S608
        return f"given ({', '.join(self.names)}) AS ({self.values_sql(count)})"

    def values_sql(self, count: int) -> str:
        row = f"({', '.join(['%s'] * len(self.names))})"
        return f"VALUES {', '.join([row] * count)}"

    def parameters(self, rows: Sequence[Sequence[Any]]) -> list[Any]:
        """Return the SQL parameters of the table `given`; the values of each row are in the order of the table's columns."""
        document = sends_rows_as_json(len(rows))
        conversions = self._for_document if document else self._for_values
        converted = [
            [
                value if convert is None or value is None else convert(value)
                for value, convert in zip(row, conversions, strict=True)
            ]
            for row in rows
        ]
        if not document:
            return [value for row in converted for value in row]
        names = [name.strip('"') for name in self.names]
        return [_json([dict(zip(names, row, strict=True)) for row in converted])]


def sends_rows_as_json(count: int) -> bool:
    """Return whether the table `given` with `count` rows is sent to the database as one JSON parameter."""
    return count > 1 and connection.vendor == "postgresql"


def _conversion(field: Any, *, document: bool) -> Callable[[Any], Any] | None:
    """Return the function that converts a field's values for the table `given`; None if they need no conversion."""
    kind = type(field.target_field if field.is_relation else field)
    if connection.vendor == "postgresql" and (kind in _PLAIN_FIELDS or (document and kind is models.JSONField)):
        return None
    if document and kind is models.BinaryField:
        return lambda value: f"\\x{value.hex()}"
    if document:
        return lambda value: None if (prepared := field.get_db_prep_save(value, connection)) is None else str(prepared)
    return lambda value: field.get_db_prep_save(value, connection)


def _json(rows: list[dict[str, Any]]) -> str:
    try:
        return orjson.dumps(rows).decode()
    except TypeError:  # orjson refuses integers of more than 64 bits, which callers may have sent in JSON
        return json.dumps(rows, default=date.isoformat)
