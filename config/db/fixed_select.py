"""SELECT statements of frequent reads, whose SQL is built only once, because Django takes long to compile a queryset.

They are for the few reads that almost every request makes. Tables and columns come from the models, and a test compares the
rows with those of querysets. PostgreSQL parses each statement only once for each connection (DATABASE_PREPARED_STATEMENTS).
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Generic, TypeVar, cast

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Model
from django.db.models.base import ModelState

from config.db.fast_read import (
    ColumnConverters,
    column_converters_of_fields,
    in_list_condition,
    list_parameter,
    quoted_column,
    read_rows,
)

Row = TypeVar("Row", bound=Model)


class _Table:
    """A table of a FixedSelect: its model, the path of foreign keys to it, and the place of its columns in each row.

    `key` is the last foreign key of the path, and `owner` the path of the table that has it.
    """

    def __init__(self, model: type[Model], path: str, key: Any, start: int) -> None:
        self.model, self.key, self.fields = model, key, cast(Any, model._meta.concrete_fields)
        self.path, self.owner = path, path.rpartition("__")[0]
        self.names = [field.attname for field in self.fields]
        self.columns = slice(start, start + len(self.fields))
        self.primary_key = start + self.names.index(model._meta.pk.attname)
        self.named_tuple: Any = namedtuple(f"{model.__name__}Values", self.names)  # type: ignore[misc]

    def instance(self, row: Sequence[Any]) -> Any:
        """Return the model instance that FixedSelect makes of a row, as Model.from_db does, but without slow signals."""
        made = self.model.__new__(self.model)
        made._state = ModelState()
        made._state.db, made._state.adding = DEFAULT_DB_ALIAS, False
        vars(made).update(zip(self.names, row[self.columns], strict=True))
        return made


class FixedSelect(Generic[Row]):
    """A SELECT of rows of one model by the values of the columns `where`; `join` names foreign keys whose rows it reads too.

    The column `where_in`, if named, has one of the values of a list, which is the last argument.

    `FixedSelect(ApiKey, where=("token_sha256",), join=("agent",))(digest)` returns the list of
    `ApiKey.objects.filter(token_sha256=digest).select_related("agent")`. Rows that refer to the same row share its instance.
    `join` names a reference of a joined row by its path, after that row: `("group", "group__workspace")`. `for_update` locks
    the rows. `subquery` returns the SQL of a subquery with one value, which `rows_and_subquery_value` reads with the rows.
    """

    def __init__(
        self,
        model: type[Row],
        where: tuple[str, ...] = (),
        join: tuple[str, ...] = (),
        order_by: str = "",
        where_in: str | None = None,
        *,
        for_update: bool = False,
        subquery: Callable[[], str] | None = None,
    ) -> None:
        self._model, self._where, self._join, self._order_by, self._where_in = model, where, join, order_by, where_in
        self._for_update, self._subquery = for_update, subquery

    def __call__(self, *values: Any) -> list[Row]:
        return self._instances(self._rows(values))

    def rows_and_subquery_value(self, *values: Any) -> tuple[list[Row], Any]:
        """Run this FixedSelect; return its rows and the value of its subquery, whose arguments come before all others.

        Without rows, the value is None.
        """
        rows = self._rows(values)
        return self._instances(rows), rows[0][-1] if rows else None

    def _instances(self, rows: Sequence[Sequence[Any]]) -> list[Row]:
        own, *others = self._tables
        found, joined = list[Row](), dict[Any, Any]()
        for row in rows:
            found.append(own.instance(row))
            instances: dict[str, Any] = {"": found[-1]}
            for table in others:
                identity = table.path, row[table.primary_key]
                if identity not in joined:
                    joined[identity] = None if identity[1] is None else table.instance(row)
                instances[table.path] = joined[identity]
                if owner := instances[table.owner]:
                    table.key.set_cached_value(owner, joined[identity])
        return found

    def first(self, *values: Any) -> Row | None:
        """Run this FixedSelect with these values and return its first row, or None."""
        return next(iter(self(*values)), None)

    def named_tuples(self, *values: Any) -> list[tuple[Any, ...]]:
        """Run this FixedSelect with these values; return for each row a named tuple of each table's columns."""
        return [tuple(each.named_tuple._make(row[each.columns]) for each in self._tables) for row in self._rows(values)]

    def _rows(self, values: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
        params = values if self._where_in is None else (*values[:-1], list_parameter(values[-1]))
        return read_rows(self._sql, params, self._converters)

    @cached_property
    def _tables(self) -> list[_Table]:
        tables = [_Table(self._model, "", None, 0)]
        models: dict[str, Any] = {"": self._model}
        for path in self._join:
            owner, _, name = path.rpartition("__")
            key = models[owner]._meta.get_field(name)
            models[path] = key.related_model
            tables.append(_Table(key.related_model, path, key, tables[-1].columns.stop))
        return tables

    @cached_property
    def _converters(self) -> ColumnConverters:
        return column_converters_of_fields(field for table in self._tables for field in table.fields)

    @cached_property
    def _sql(self) -> str:
        quote = connections[DEFAULT_DB_ALIAS].ops.quote_name

        def own(name: str) -> str:
            return quoted_column(self._model._meta.get_field(name))

        columns = ", ".join(quoted_column(field) for table in self._tables for field in table.fields)
        columns += f", ({self._subquery()})" if self._subquery else ""
        sql = f"SELECT {columns} FROM {quote(self._model._meta.db_table)}"  # noqa: S608 - only names from the models
        for table in self._tables[1:]:
            on = f"{quoted_column(table.key.target_field)} = {quoted_column(table.key)}"
            sql += f" LEFT JOIN {quote(table.model._meta.db_table)} ON {on}"
        conditions = [f"{own(name)} = %s" for name in self._where]
        conditions += [] if self._where_in is None else [in_list_condition(own(self._where_in))]
        sql += f" WHERE {' AND '.join(conditions)}"
        sql += f" ORDER BY {own(self._order_by)}" if self._order_by else ""
        lock = self._for_update and connections[DEFAULT_DB_ALIAS].features.has_select_for_update
        return f"{sql} FOR UPDATE" if lock else sql
