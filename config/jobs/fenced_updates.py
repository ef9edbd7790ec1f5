"""Updates of many rows by one SQL statement, which skips rows that another worker has claimed meanwhile.

A worker that claims a row gets a fence, the number of that claim (config/jobs/claims.py). When another worker has claimed the
row since, the numbers differ and the other worker's values remain. One statement for each row would cost several
times the CPU. The SQL is written by hand because the ORM's `bulk_update` cannot check a fence for each row; a test compares
it with `claimed_row_queryset(...).update(...)`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from django.db import connection, transaction
from django.db.models import Model

from config.db.given_rows import SqlValuesTable, sends_rows_as_json
from config.db.models import DueRow
from config.db.writes import ROWS_PER_STATEMENT, Write, run_write_returning_column


@dataclass(frozen=True)
class FencedUpdate:
    """A fenced update: new values of one row by field name, not written if another worker has claimed it meanwhile.

    A `DueRow` is written only if its fence in the database equals the one in memory. `states`, if given, are the values of
    its `status` from which it may change. `unchanged` are further fields whose values must equal those in memory.
    """

    row: Model
    changes: Mapping[str, Any]
    states: Collection[str] = ()
    unchanged: tuple[str, ...] = ()

    def set_in_memory(self) -> None:
        """Set the new values of this FencedUpdate on the row in memory, once they are written."""
        for name, value in self.changes.items():
            setattr(self.row, name, value)


def apply_fenced_updates(writes: Sequence[FencedUpdate]) -> list[bool]:
    """Write several FencedUpdates in one transaction; return for each of them whether its row was changed or skipped.

    A row is skipped if the worker no longer holds it or its status is not one of `states`. Writes to the same fields from
    the same states share a statement. Rows that were changed get the new values in memory too. Rows are sorted by primary
    key within a statement. Callers whose rows others write at the same time lock them first, in the order of primary keys.
    """
    statements = build_fenced_update_writes(writes)
    with transaction.atomic(savepoint=False) if len(statements) > 1 else nullcontext():
        changed = {pk for statement in statements for pk in run_write_returning_column(statement)}
    for write in writes:
        if write.row.pk in changed:
            write.set_in_memory()
    return [write.row.pk in changed for write in writes]


def build_fenced_update_writes(
    updates: Sequence[FencedUpdate], subject: Any = None, *, may_skip: bool = False
) -> list[Write]:
    """Return the SQL statements of fenced updates, which write new values to many rows, for `write_all_or_return_failed`.

    A row that is not changed makes them fail, unless rows `may_skip`, that is, be skipped.
    """
    groups: dict[tuple[tuple[str, ...], ...], list[FencedUpdate]] = defaultdict(list)
    for update in sorted(updates, key=lambda update: update.row.pk):
        guards = ("fence", *update.unchanged) if isinstance(update.row, DueRow) else update.unchanged
        groups[tuple(update.changes), tuple(sorted(update.states)), guards].append(update)
    writes = [
        _statement(group[start : start + ROWS_PER_STATEMENT], names, states, guards, subject)
        for (names, states, guards), group in groups.items()
        for start in range(0, len(group), ROWS_PER_STATEMENT)
    ]
    return [replace(write, rows=None, may_fail=False) for write in writes] if may_skip else writes


def _statement(
    updates: Sequence[FencedUpdate], names: tuple[str, ...], states: Sequence[str], guards: tuple[str, ...], subject: Any
) -> Write:
    """Return one SQL statement for fenced updates of the same fields; it returns the primary keys of the changed rows."""
    model = type(updates[0].row)
    rows = [[update.row.pk, *(getattr(update.row, name) for name in guards), *update.changes.values()] for update in updates]
    sql = _sql(model, 2 if sends_rows_as_json(len(rows)) else len(rows), names, len(states), guards)
    return Write(sql, [*_given_rows(model, names, guards).parameters(rows), *states], len(updates), subject)


@lru_cache(maxsize=500)
def _given_rows(model: type[Model], names: tuple[str, ...], guards: tuple[str, ...]) -> SqlValuesTable:
    columns = ["id", *(f"old_{name}" for name in guards), *(f"new_{name}" for name in names)]
    return SqlValuesTable(columns, [model._meta.pk, *map(model._meta.get_field, (*guards, *names))])


@lru_cache(maxsize=500)
def _sql(model: type[Model], rows: int, names: tuple[str, ...], states: int, guards: tuple[str, ...]) -> str:
    options, quote = model._meta, connection.ops.quote_name
    fields: list[Any] = [options.get_field(name) for name in names]
    table, key = quote(options.db_table), quote(str(options.pk.column))
    assignments = ", ".join(
        f"{quote(str(field.column))} = {_cast(f'given.new_{name}', field)}" for name, field in zip(names, fields, strict=True)
    )
    conditions = [f"{table}.{key} = given.id", *(f"{table}.{name} = given.old_{name}" for name in guards)]
    if states:
        conditions.append(f"{table}.status IN ({', '.join(['%s'] * states)})")
    return (
        f"WITH {_given_rows(model, names, guards).sql(rows)} UPDATE {table} SET {assignments} FROM given "  # noqa: S608
        f"WHERE {' AND '.join(conditions)} RETURNING {table}.{key}"  # all names are the models' own
    )


def _cast(value: str, field: Any) -> str:
    """Return the SQL of a fenced update's new value with a cast to its column's type, which PostgreSQL may need."""
    return f"{value}::{field.db_type(connection)}" if connection.vendor == "postgresql" else value
