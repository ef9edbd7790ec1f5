"""Prepared queries, whose SQL Django compiles once, because compiling it costs more CPU time than running it.

For the few reads that every request makes. They return the same instances as the plain querysets; a test compares both.
The code relies on internals of Django's query compiler, so the Django version is pinned.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Model, QuerySet

Row = TypeVar("Row", bound=Model)
_MARK = "\ufffe{}"  # U+FFFE is not a character, so no real value contains it


@dataclass(frozen=True)
class _Compiled:
    compiler: Any
    sql: str
    params: tuple[Any, ...]
    places: tuple[tuple[int, int], ...]  # (which parameter, which of the values)


class Prepared(Generic[Row]):
    """A query that Django compiles to SQL once and then runs with different values, as `Prepared(build)(*values)`.

    The call returns the rows of the query `build(*values)`. The values are strings used unchanged in the queryset's
    conditions, such as ids. Everything else is fixed at the first call, so the queryset must not depend on the current time
    and must not prefetch.
    """

    def __init__(self, build: Callable[..., QuerySet[Row]]) -> None:
        self._build = build
        self._compiled: _Compiled | None = None

    def __call__(self, *values: str) -> list[Row]:
        compiled = self._compiled or self._compile(len(values))
        params = list(compiled.params)
        for place, which in compiled.places:
            params[place] = values[which]
        compiler = copy.copy(compiled.compiler)
        compiler.connection = connections[DEFAULT_DB_ALIAS]  # this thread's
        compiler.as_sql = lambda *args, **kwargs: (compiled.sql, tuple(params))
        query = copy.copy(compiler.query)
        query.get_compiler = lambda *args, **kwargs: compiler
        return list(QuerySet(model=query.model, query=query, using=DEFAULT_DB_ALIAS))

    def first(self, *values: str) -> Row | None:
        """Run the prepared query with these values and return its first row, or None."""
        return next(iter(self(*values)), None)

    def get(self, *values: str) -> Row:
        """Run the prepared query with these values and return its only row. Raises the model's DoesNotExist."""
        row = self.first(*values)
        if row is None:
            model: Any = self._build(*values).model
            raise model.DoesNotExist
        return row

    def _compile(self, count: int) -> _Compiled:
        marks = [_MARK.format(number) for number in range(count)]
        query = self._build(*marks).query
        compiler = query.get_compiler(using=DEFAULT_DB_ALIAS)
        sql, params = compiler.as_sql()
        places = tuple((place, marks.index(param)) for place, param in enumerate(params) if param in marks)
        if {which for _, which in places} != set(range(count)):
            raise TypeError("Each value must be used unchanged in the conditions.")
        self._compiled = _Compiled(compiler, sql, tuple(params), places)
        return self._compiled
