"""Reads whose SQL is made once: the ORM needs more CPU to build and compile a query than to run it.

For the few reads that every request makes. What comes back are the same instances that the queryset brings; a test holds
them equal. It stands on the compiler of Django's querysets, which the pinned version keeps as it is.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Model, QuerySet

Row = TypeVar("Row", bound=Model)
_MARK = "\ufffe{}"  # no value of a caller is one of these: U+FFFE is no character


@dataclass(frozen=True)
class _Compiled:
    compiler: Any
    sql: str
    params: tuple[Any, ...]
    places: tuple[tuple[int, int], ...]  # (which parameter, which of the values)


class Prepared(Generic[Row]):
    """`Prepared(build)(*values)` brings the rows of `build(*values)`, whose SQL was made at the first call.

    The values are texts that stand as they are in the queryset's conditions, such as ids. Everything else in it is fixed
    at the first call: no clock may stand in it, and no number of rows to prefetch.
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
        """The first of the rows, if there is one."""
        return next(iter(self(*values)), None)

    def get(self, *values: str) -> Row:
        """The one row. Raises the model's DoesNotExist where there is none."""
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
            raise TypeError("Each value must stand as it is in the conditions.")
        self._compiled = _Compiled(compiler, sql, tuple(params), places)
        return self._compiled
