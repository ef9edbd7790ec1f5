"""Empties the tables after a test that commits, in place of Django's `flush`.

`flush` empties every table, used or not, and then creates all content types and permissions again.
"""

from __future__ import annotations

from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.db import connection, transaction
from django.test import TransactionTestCase

KEPT = {ContentType._meta.db_table, Permission._meta.db_table}  # the same from the first test to the last


def delete_committed_rows(case: TransactionTestCase) -> None:
    """Delete the rows of all tables but `KEPT`; replaces `TransactionTestCase._fixture_teardown`."""
    tables = sorted(set(connection.introspection.django_table_names(only_existing=True, include_views=False)) - KEPT)
    quoted = {table: connection.ops.quote_name(table) for table in tables}
    with transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "postgresql":  # wait for open transactions, as SQLite does when this one begins
            cursor.execute(f"LOCK TABLE {', '.join(quoted.values())} IN EXCLUSIVE MODE")
        used = " UNION ALL ".join(f"SELECT '{name}' WHERE EXISTS (SELECT 1 FROM {quoted[name]})" for name in tables)  # noqa: S608
        cursor.execute(used)
        for (name,) in cursor.fetchall():
            cursor.execute(f"DELETE FROM {quoted[name]}")  # noqa: S608 (the names of our own tables)
