"""Writes of many rows that happen together or not at all: one SQL statement on PostgreSQL, one transaction on SQLite.

PostgreSQL gets all writes as data-modifying CTEs of one prepared statement, which takes a fraction of the time of one
statement for each table. Tables and columns come from the models. The SQL does not depend on the number of rows
(config/db/given_rows.py), so it is made only once.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.db import DataError, connection, models, transaction

from config.db.fast_read import cursor_for_prepared_statements, in_list_condition, list_parameter, quoted_column
from config.db.given_rows import SqlValuesTable, sends_rows_as_json

ROWS_PER_STATEMENT = 500
_DIVISION_BY_ZERO = "22012"


@dataclass(frozen=True)
class Write:
    """An INSERT, UPDATE or DELETE statement. If it affects another number of rows than `rows`, all writes are undone.

    The statement ends with RETURNING and one column. `rows` is None if any number will do. `subject` says what is written,
    for callers that ask which write failed. `may_fail` is False if the statement cannot affect another number of rows.
    """

    sql: str
    params: Sequence[Any]
    rows: int | None
    subject: Any = None
    may_fail: bool = True


def build_insert_writes(rows: Sequence[models.Model]) -> list[Write]:
    """Return the Writes that insert new rows of one model, in their order."""
    return [_insert(rows[start : start + ROWS_PER_STATEMENT]) for start in range(0, len(rows), ROWS_PER_STATEMENT)]


def build_insert_or_replace_write(row: models.Model, *, replace_if: str, params: Sequence[Any], subject: Any) -> Write:
    """Return the write that inserts a row, or replaces the stored row with this primary key if the SQL condition holds."""
    plain = _insert([row])
    key, *others = _columns(type(row))[1].names
    sets = ", ".join(f"{column} = excluded.{column}" for column in others)
    table = _quoted(row._meta.db_table)
    sql = plain.sql.replace(
        " RETURNING", f" ON CONFLICT ({key}) DO UPDATE SET {sets} WHERE {replace_if.format(table=table)} RETURNING"
    )
    return Write(sql, [*plain.params, *params], 1, subject)


def build_counter_upsert_write(counter: models.Model, key: Sequence[str], amounts: Sequence[str]) -> Write:
    """Return the Write that inserts a counter, or adds its amounts to those of the stored one with the same key fields."""
    plain, table = _insert([counter]), _quoted(counter._meta.db_table)
    sums = ", ".join(f"{name} = {table}.{name} + excluded.{name}" for name in map(_quoted, amounts))
    conflict = f" ON CONFLICT ({', '.join(map(_quoted, key))}) DO UPDATE SET {sums} RETURNING"
    return Write(plain.sql.replace(" RETURNING", conflict), plain.params, 1, may_fail=False)


def build_limited_counter_add_write(
    counter: models.Model,
    key: Sequence[str],
    amounts: Mapping[str, int],
    limits: Sequence[tuple[tuple[str, ...], int]] | None = None,
    *,
    subject: Any = None,
) -> Write:
    """Return the Write that adds amounts to the stored counter with these key fields, within limits if any are given.

    With `limits` it fails if the counter is missing or would exceed one of them; without, nothing is added to a missing one.

    Each limit is fields and the number that their sum may reach: `((("held_cents", "settled_cents"), 500),)`.
    """
    checked = limits or ()
    added = {fields: sum(amounts.get(name, 0) for name in fields) for fields, _ in checked}
    fields_of_key: list[Any] = [counter._meta.get_field(name) for name in key]
    values = [field.get_db_prep_save(getattr(counter, field.attname), connection) for field in fields_of_key]
    params = [*amounts.values(), *values]
    params += [limit - added[fields] for fields, limit in checked]
    sql = _counter_sql(type(counter), tuple(key), tuple(amounts), tuple(fields for fields, _ in checked))
    return Write(sql, params, 1 if limits is not None else None, subject, may_fail=limits is not None)


def build_delete_by_field_values_write(model: type[models.Model], field: str, values: Sequence[str]) -> Write:
    """Return the Write that deletes the rows whose field has one of these values, if there are any."""
    table, key = _quoted(model._meta.db_table), _quoted(str(model._meta.pk.column))
    condition = in_list_condition(quoted_column(model._meta.get_field(field)))
    sql = f"DELETE FROM {table} WHERE {condition} RETURNING {key}"  # noqa: S608 - only names from the models
    return Write(sql, [list_parameter(values)], None, may_fail=False)


def write_all_or_return_failed(writes: Sequence[Write]) -> Write | None:
    """Run all writes or none; return None, or the first write that affects another number of rows than it must.

    No two writes may concern the same row. They run in their order, so that concurrent calls lock rows in one order.
    """
    if len(writes) == 1 and writes[0].rows == 1:  # changes its row or nothing
        return _first_failed(writes)
    undoable = any(write.may_fail for write in writes) and connection.in_atomic_block
    if connection.vendor == "postgresql" and writes:
        numbered = not connection.queries_logged
        sql = _joined(tuple(write.sql for write in writes), tuple(write.rows is not None for write in writes), numbered)
        params = [value for write in writes for value in write.params]
        params += [write.rows for write in writes if write.rows is not None]
        try:
            # Outside a transaction the statement is its own; inside, a failure undoes this statement alone.
            with (
                transaction.atomic() if undoable else nullcontext(),
                cursor_for_prepared_statements(numbered=numbered) as cursor,
            ):
                cursor.execute(sql, params)
            return None
        except DataError as error:
            if getattr(error.__cause__, "sqlstate", None) != _DIVISION_BY_ZERO:
                raise
    with transaction.atomic(savepoint=undoable):
        if failed := _first_failed(writes):
            transaction.set_rollback(True)
        return failed


def _first_failed(writes: Sequence[Write]) -> Write | None:
    """Run Writes until one affects another number of rows than it must; return that Write, or None if all succeed."""
    for write in writes:
        if len(run_write_returning_column(write)) != write.rows and write.rows is not None:
            return write
    return None


def run_write_returning_column(write: Write) -> list[Any]:
    """Run one Write and return the values of its only column, for the rows that it has affected."""
    with cursor_for_prepared_statements() as cursor:
        cursor.execute(write.sql, write.params)
        return [value for (value,) in cursor.fetchall()]


@lru_cache(maxsize=1000)
def _joined(statements: tuple[str, ...], counted: tuple[bool, ...], numbered: bool) -> str:
    """Return one SQL statement that runs several Writes as CTEs; if one affects a wrong number of rows, it divides by zero.

    The numbers of rows are its last parameters. CASE evaluates its conditions in order, and a CTE runs when it is first
    read, so the statements run in their order. With `numbered`, the placeholders are `$1`, `$2` and so on.
    """
    parts = ", ".join(f"w{place} AS ({sql})" for place, sql in enumerate(statements))
    wrong = ["<> %s" if each else "< 0" for each in counted]
    checks = " ".join(f"WHEN (SELECT count(*) FROM w{place}) {test} THEN 0" for place, test in enumerate(wrong))  # noqa: S608
    joined = f"WITH {parts} SELECT 1 / CASE {checks} ELSE 1 END"
    if not numbered:
        return joined
    numbers = itertools.count(1)
    return re.sub("%s", lambda _: f"${next(numbers)}", joined)


def _insert(rows: Sequence[models.Model]) -> Write:
    model = type(rows[0])
    fields, columns = _columns(model)
    values = [[field.pre_save(row, True) for field in fields] for row in rows]
    sql = _insert_sql(model, 2 if sends_rows_as_json(len(rows)) else len(rows))
    return Write(sql, columns.parameters(values), len(rows), may_fail=False)


@lru_cache(maxsize=1000)
def _insert_sql(model: type[models.Model], count: int) -> str:
    _, columns = _columns(model)
    names, table = ", ".join(columns.names), _quoted(model._meta.db_table)
    if sends_rows_as_json(count):
        sql = f"WITH {columns.sql(count)} INSERT INTO {table} ({names}) SELECT {names} FROM given"  # noqa: S608
    else:
        sql = f"INSERT INTO {table} ({names}) {columns.values_sql(count)}"
    return f"{sql} RETURNING {columns.names[0]}"


@lru_cache(maxsize=200)
def _counter_sql(
    model: type[models.Model], key: tuple[str, ...], amounts: tuple[str, ...], limits: tuple[tuple[str, ...], ...]
) -> str:
    sets = ", ".join(f"{_quoted(name)} = {_quoted(name)} + %s" for name in amounts)
    conditions = [f"{_quoted(name)} = %s" for name in key]
    conditions += [f"{' + '.join(map(_quoted, fields))} <= %s" for fields in limits]
    table = _quoted(model._meta.db_table)
    return f"UPDATE {table} SET {sets} WHERE {' AND '.join(conditions)} RETURNING {_quoted(key[0])}"  # noqa: S608


@lru_cache(maxsize=200)
def _columns(model: type[models.Model]) -> tuple[list[Any], SqlValuesTable]:
    """Return the stored fields of a model and their columns, the primary key first, for the SQL of a Write."""
    stored = [field for field in model._meta.concrete_fields if field.db_returning is False]
    fields: list[Any] = sorted(stored, key=lambda field: not field.primary_key)
    return fields, SqlValuesTable([_quoted(field.column) for field in fields], fields)


def _quoted(name: str) -> str:
    return connection.ops.quote_name(name)
