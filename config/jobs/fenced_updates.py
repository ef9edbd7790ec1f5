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
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.db import connection, transaction
from django.db.models import Model

from config.db.models import DueRow
from config.db.writes import Write, cursor_for_params

ROWS_PER_STATEMENT = 100  # the driver's parser needs more time for each row of a longer statement


@dataclass(frozen=True)
class FencedUpdate:
    """The new values of one row, by field name; they are not written if another worker has claimed the row meanwhile.

    A `DueRow` is written only if its fence in the database equals the one in memory. `states`, if given, are the values of
    its `status` from which it may change. `unchanged` are further fields whose values must equal those in memory.
    """

    row: Model
    changes: Mapping[str, Any]
    states: Collection[str] = ()
    unchanged: tuple[str, ...] = ()


def apply_fenced_updates(writes: Sequence[FencedUpdate]) -> list[bool]:
    """Write new values to many rows in one transaction; return for each row whether it was changed or skipped.

    A row is skipped if the worker no longer holds it or its status is not one of `states`. Writes to the same fields from
    the same states share a statement. Rows that were changed get the new values in memory too. Rows are sorted by primary
    key within a statement. Callers whose rows others write at the same time lock them first, in the order of primary keys.
    """
    statements = fenced_update_writes(writes)
    with transaction.atomic(savepoint=False) if len(statements) > 1 else nullcontext():
        changed = {pk for statement in statements for pk in _run(statement)}
    for write in writes:
        if write.row.pk in changed:
            for name, value in write.changes.items():
                setattr(write.row, name, value)
    return [write.row.pk in changed for write in writes]


def fenced_update_writes(updates: Sequence[FencedUpdate], subject: Any = None) -> list[Write]:
    """Return the SQL statements that write new values to many rows, for `write_together`, which skips no row."""
    groups: dict[tuple[tuple[str, ...], ...], list[FencedUpdate]] = defaultdict(list)
    for update in sorted(updates, key=lambda update: update.row.pk):
        guards = ("fence", *update.unchanged) if isinstance(update.row, DueRow) else update.unchanged
        groups[tuple(update.changes), tuple(sorted(update.states)), guards].append(update)
    return [
        _statement(group[start : start + ROWS_PER_STATEMENT], names, states, guards, subject)
        for (names, states, guards), group in groups.items()
        for start in range(0, len(group), ROWS_PER_STATEMENT)
    ]


def _run(statement: Write) -> list[str]:
    with cursor_for_params(statement.params) as cursor:
        cursor.execute(statement.sql, statement.params)
        return [pk for (pk,) in cursor.fetchall()]


def _statement(
    updates: Sequence[FencedUpdate], names: Sequence[str], states: Sequence[str], guards: Sequence[str], subject: Any
) -> Write:
    """Return one SQL statement that writes the same fields of many rows and returns the primary keys of the changed rows."""
    options = updates[0].row._meta
    fields: list[Any] = [options.get_field(name) for name in names]
    parameters: list[Any] = []
    for update in updates:
        values = zip(fields, update.changes.values(), strict=True)
        parameters += [update.row.pk, *(getattr(update.row, name) for name in guards)]
        parameters += [field.get_db_prep_save(value, connection) for field, value in values]
    sql = _sql(type(updates[0].row), len(updates), tuple(names), len(states), tuple(guards))
    return Write(sql, [*parameters, *states], len(updates), subject)


@lru_cache(maxsize=500)
def _sql(model: type[Model], rows: int, names: tuple[str, ...], states: int, guards: tuple[str, ...]) -> str:
    options, quote = model._meta, connection.ops.quote_name
    fields: list[Any] = [options.get_field(name) for name in names]
    table, key = quote(options.db_table), quote(str(options.pk.column))
    row = f"({', '.join(['%s'] * (1 + len(guards) + len(fields)))})"
    columns = ", ".join(["id", *(f"old_{name}" for name in guards), *(f"v{number}" for number in range(len(fields)))])
    assignments = ", ".join(f"{quote(str(each.column))} = {_cast(f'given.v{n}', each)}" for n, each in enumerate(fields))
    conditions = [f"{table}.{key} = given.id", *(f"{table}.{name} = given.old_{name}" for name in guards)]
    if states:
        conditions.append(f"{table}.status IN ({', '.join(['%s'] * states)})")
    return (
        f"WITH given ({columns}) AS (VALUES {', '.join([row] * rows)}) UPDATE {table} SET {assignments} "  # noqa: S608
        f"FROM given WHERE {' AND '.join(conditions)} RETURNING {table}.{key}"  # all names are the models' own
    )


def _cast(value: str, field: Any) -> str:
    """Return SQL that casts a new value to its column's type, because PostgreSQL could otherwise take the value as text."""
    return f"{value}::{field.db_type(connection)}" if connection.vendor == "postgresql" else value
