"""Runs frequent SQL statements so that PostgreSQL can prepare them, with a faster cursor than that of Django's ORM."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.utils import CursorWrapper
from psycopg.types.datetime import TimestamptzLoader
from psycopg.types.numeric import Int8Dumper

# The place of a column in each row, the function that converts it, and the column.
ColumnConverters = list[tuple[int, Any, Any]]


def column_converters_of_fields(fields: Iterable[Any]) -> ColumnConverters:
    """Return the ColumnConverters for fast reads of these model fields, in the order of the columns in the SELECT."""
    connection = connections[DEFAULT_DB_ALIAS]
    columns = [field.get_col(field.model._meta.db_table) for field in fields]
    return [
        (place, convert, column)
        for place, column in enumerate(columns)
        for convert in (*connection.ops.get_db_converters(column), *column.get_db_converters(connection))
    ]


def quoted_column(field: Any) -> str:
    """Return the quoted `table.column` of a model field, for SQL that is run as a fast read."""
    quote = connections[DEFAULT_DB_ALIAS].ops.quote_name
    return f"{quote(field.model._meta.db_table)}.{quote(field.column)}"


def in_list_condition(column: str) -> str:
    """Return the SQL condition of a fast read that a column has one of the values passed as `list_parameter(values)`."""
    if connections[DEFAULT_DB_ALIAS].vendor == "postgresql":
        return f"{column} = ANY(%s::text[])"
    return f"{column} IN (SELECT value FROM json_each(%s))"  # noqa: S608 - only names from the models


def list_parameter(values: Iterable[str]) -> str:
    """Return a list of values as the one parameter of `in_list_condition`: an array for PostgreSQL, JSON for SQLite."""
    if connections[DEFAULT_DB_ALIAS].vendor != "postgresql":
        return json.dumps(list(values))
    # As text, because the driver takes longer to find out the type of a list than PostgreSQL takes for the query.
    quoted = ('"{}"'.format(value.replace("\\", "\\\\").replace('"', '\\"')) for value in values)
    return f"{{{','.join(quoted)}}}"


def read_rows(sql: str, params: Sequence[Any], converters: ColumnConverters) -> Sequence[Sequence[Any]]:
    """Run a SELECT with the fast cursor and return its rows, whose columns are converted to Python values."""
    with cursor_for_prepared_statements() as cursor:
        cursor.execute(sql, params)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    if not converters:
        return rows
    converted = [list(row) for row in rows]
    convert_columns_in_place(converted, converters)
    return converted


def convert_columns_in_place(rows: Iterable[list[Any]], converters: ColumnConverters) -> None:
    """Convert the columns of rows of a fast read, in place, to Python values."""
    connection = connections[DEFAULT_DB_ALIAS]
    for row in rows:
        for place, convert, column in converters:
            row[place] = convert(row[place], column, connection)


def cursor_for_prepared_statements(*, numbered: bool = False) -> CursorWrapper:
    """Return a fast cursor; on PostgreSQL it can prepare its statements, which a cursor of Django cannot.

    With `numbered`, its placeholders are `$1`, `$2` and so on, which spares the driver the parsing of long statements.
    """
    connection: Any = connections[DEFAULT_DB_ALIAS]
    if connection.vendor != "postgresql" or connection.queries_logged:  # Django logs the values of its own cursors only
        return connection.cursor()
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    cursor: Any = (psycopg.RawCursor if numbered else psycopg.Cursor)(connection.connection)
    cursor.adapters.register_loader("timestamptz", TimestamptzLoader)  # in C; Django's loader is in Python
    cursor.adapters.register_dumper(int, Int8Dumper)  # one type for all numbers, so that one prepared statement serves them
    return connection._prepare_cursor(cursor)
