"""Persistent database connections: an idle connection is checked before it is used again."""

from __future__ import annotations

import pytest
from django.db import OperationalError, close_old_connections, connection

from config.db import connection as db_connection
from tests.in_threads import in_threads

pytestmark = [
    pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has no connection that could be cut"),
    pytest.mark.django_db(transaction=True),
]


def work() -> int:
    """Run a query as a request or a publishing thread does."""
    close_old_connections()
    db_connection.skip_health_check_if_fresh()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def cut(backend: int) -> None:
    def terminate(_: int) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [backend])

    in_threads(1, terminate)


def after_a_cut(_: int) -> bool:
    """Return whether a query after a connection loss succeeds on a new connection."""
    first = work()
    cut(first)
    return work() != first


def test_an_idle_connection_is_checked_before_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(db_connection, "FRESH_SECONDS", 0.0)

    assert in_threads(1, after_a_cut) == [True]


def test_a_fresh_connection_is_not_checked_and_replaced_after_it_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(db_connection, "FRESH_SECONDS", 3600.0)

    def twice(_: int) -> bool:
        with pytest.raises(OperationalError):
            after_a_cut(0)
        return work() > 0

    assert in_threads(1, twice) == [True]
