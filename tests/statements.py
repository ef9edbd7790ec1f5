"""Numbers of SQL statements, which differ between the databases."""

from __future__ import annotations

from django.db import connection


def statements(*, sqlite: int, postgresql: int) -> int:
    """The number for the database that the tests run on."""
    return sqlite if connection.vendor == "sqlite" else postgresql
