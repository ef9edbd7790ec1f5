"""Writing to many rows at once, each its own values: one statement where one for each row would cost several times the CPU.

This is the hand-written SQL on the way of a post; a test holds it equal to `held(...).update(...)`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Model

from config.db.models import DueRow


@dataclass(frozen=True)
class Write:
    """What changes of a row, by field name. A claimed row is filtered by the fence of its claim; `states`, where they are
    given, are the values of its `status` from which it may change."""

    row: Model
    changes: Mapping[str, Any]
    states: Collection[str] = ()


def update_rows(writes: Sequence[Write]) -> list[bool]:
    """Write to rows of one table; of each, whether it took effect. Those that did are changed in memory too."""
    alike: dict[tuple[tuple[str, ...], tuple[str, ...]], list[Write]] = defaultdict(list)
    for write in writes:
        alike[tuple(write.changes), tuple(sorted(write.states))].append(write)
    stood = {pk for (names, states), group in alike.items() for pk in _update(group, names, states)}
    for write in writes:
        if write.row.pk in stood:
            for name, value in write.changes.items():
                setattr(write.row, name, value)
    return [write.row.pk in stood for write in writes]


def _update(writes: Sequence[Write], names: Sequence[str], states: Sequence[str]) -> list[str]:
    """Writes that change the same fields from the same states; the ids of those that took effect."""
    options, quote = writes[0].row._meta, connection.ops.quote_name
    wanted = ["fence"] if isinstance(writes[0].row, DueRow) else []
    fields: list[Any] = [options.get_field(name) for name in names]
    table, key = quote(options.db_table), quote(str(options.pk.column))
    parameters: list[Any] = []
    for write in writes:
        values = zip(fields, write.changes.values(), strict=True)
        parameters += [write.row.pk, *(getattr(write.row, name) for name in wanted)]
        parameters += [field.get_db_prep_save(value, connection) for field, value in values]
    row = f"({', '.join(['%s'] * (1 + len(wanted) + len(fields)))})"
    columns = ", ".join(["id", *wanted, *(f"v{number}" for number in range(len(fields)))])
    changed = ", ".join(f"{quote(str(each.column))} = {_cast(f'given.v{n}', each)}" for n, each in enumerate(fields))
    conditions = [f"{table}.{key} = given.id", *(f"{table}.{name} = given.{name}" for name in wanted)]
    if states:
        conditions.append(f"{table}.status IN ({', '.join(['%s'] * len(states))})")
    statement = (
        f"WITH given ({columns}) AS (VALUES {', '.join([row] * len(writes))}) UPDATE {table} SET {changed} "  # noqa: S608
        f"FROM given WHERE {' AND '.join(conditions)} RETURNING {table}.{key}"  # all names are the models' own
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, [*parameters, *states])
        return [pk for (pk,) in cursor.fetchall()]


def _cast(value: str, field: Any) -> str:
    """PostgreSQL takes a column of VALUES for text where its first rows are null or strings; SQLite has no types there."""
    return f"{value}::{field.db_type(connection)}" if connection.vendor == "postgresql" else value
