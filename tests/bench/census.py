"""Counts the database rows that the service and a reference write for the same work, to compare them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import sql

from tests.bench.answers import ONLY_OURS

_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename"
# Of each row its own, by their nature; that there is something is compared.
_OWN = (
    *("id", "group_id", "target_id", "post_group_id", "resource_id", "trace_id", "fingerprint", "payload"),
    *("created_at", "updated_at", "answered_at", "expires_at"),
)
_NAMING = "SELECT to_jsonb(stored) FROM {} stored WHERE to_jsonb(stored)::text LIKE ANY(%s)"


class Census:
    """Counts the rows that were added to a PostgreSQL database, by side."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.grown: dict[str, Counter[str]] = {}

    @contextmanager
    def during(self, side: str) -> Iterator[None]:
        """Attribute the rows added during the block to this side."""
        before = self._rows()
        yield
        grown = self.grown.setdefault(side, Counter())
        grown.update(self._rows())
        grown.subtract(before)

    def per_post(self, side: str, posts: int) -> dict[str, float]:
        """Return the rows per post by table, omitting tables with less than one row in ten posts."""
        shares = {table: round(rows / posts, 1) for table, rows in self.grown[side].items()}
        return {table: share for table, share in sorted(shares.items()) if share}

    def stored(self, post_group: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
        """Return the rows that refer to this post or one of its targets."""
        ids = [f"%{each['id']}%" for each in (post_group, *post_group["targets"])]
        grown = {table for counted in self.grown.values() for table, rows in counted.items() if rows}
        with psycopg.connect(self._url, autocommit=True) as connection:
            found = {
                table: connection.execute(sql.SQL(_NAMING).format(sql.Identifier(table)), [ids]).fetchall()
                for table in sorted(grown)
            }
        return {table: sorted((_compared(row) for (row,) in rows), key=str) for table, rows in found.items()}

    def _rows(self) -> Counter[str]:
        with psycopg.connect(self._url, autocommit=True) as connection:
            tables = [name for (name,) in connection.execute(_TABLES).fetchall()]
            one = sql.SQL("SELECT {}, count(*) FROM {}")
            each = [one.format(sql.Literal(table), sql.Identifier(table)) for table in tables]
            return Counter(dict(connection.execute(sql.SQL(" UNION ALL ").join(each)).fetchall()))


def _compared(row: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in row.items() if name not in ONLY_OURS}
    return {name: value is not None if name in _OWN else value for name, value in kept.items()}
