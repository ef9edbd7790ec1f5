"""The job queue in the database: a worker claims a due row for a limited time (the lease), then processes the row.

A worker claims a row until its lease ends, and the claim gets a fence: a number that grows with each claim of the row.
Every write of an outcome is filtered by the fence, so a worker that lost its claim (because it was stopped, swapped out or
cut off) cannot overwrite the work of the worker that claimed the row after it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, TypeVar

from django.db import connection
from django.db.models import Q, QuerySet
from django.utils import timezone

from config.db.models import DueRow
from config.jobs.fenced_updates import FencedUpdate, apply_fenced_updates

Row = TypeVar("Row", bound=DueRow)
# The pause after an empty search: a multiple of its duration, at most so many seconds.
PAUSE_FACTOR, LONGEST_PAUSE = 20, 2.0


class PauseAfterEmptySearch:
    """Pauses a worker's search for due rows after a search without results, so that searches take little of its time.

    Each search reads all due rows of busy accounts or webhook receivers, however many there are. While searches find
    nothing, pauses limit them to a small part of the worker's time.
    """

    def __init__(self) -> None:
        self._again_at = float("-inf")

    def __call__(self, claim: Callable[[], list[Row]]) -> list[Row]:
        """Return the due rows that the function `claim` finds and claims, or none while searches for due rows are paused."""
        began = time.monotonic()
        if began < self._again_at:
            return []
        found = claim()
        now = time.monotonic()
        self._again_at = now if found else now + min(PAUSE_FACTOR * (now - began), LONGEST_PAUSE)
        return found


def unclaimed_due_rows(queryset: QuerySet[Row], *, now: datetime | None = None) -> QuerySet[Row]:
    """Return the due rows that no worker has claimed, earliest first."""
    now = now or timezone.now()
    free = Q(lease_until=None) | Q(lease_until__lte=now)
    return queryset.filter(free, due_at__lte=now).order_by("due_at", "pk")


def claim_due(
    queryset: QuerySet[Row],
    *,
    limit: int,
    lease: timedelta,
    due_rows_found: bool = False,
    read: Callable[[Iterable[str]], Sequence[Row]] | None = None,
) -> list[Row]:
    """Claim up to `limit` due rows for one worker: no other worker gets these rows until the time `lease` has passed.

    The rows are found and claimed by one statement, in which PostgreSQL skips rows that another worker is claiming; on SQLite
    only one statement writes at a time. The query before it avoids taking SQLite's only write lock in an idle poll;
    `due_rows_found` skips that query, for callers that have just found due rows. The statement runs without the queryset's
    joins, which are read for the claimed rows only: otherwise the database could join and sort all due rows before it applies
    the limit. `read` reads the rows with these primary keys, if not the queryset shall.
    """
    now = timezone.now()
    if limit <= 0 or not (due_rows_found or unclaimed_due_rows(queryset, now=now).exists()):
        return []
    free = unclaimed_due_rows(queryset, now=now).order_by("due_at").select_related(None).values("pk")[:limit]
    fences = _claim(queryset.model, free, now + lease)
    if not fences:
        return []
    rows = queryset.filter(pk__in=fences) if read is None else read(fences)
    # If this worker slept between the two statements, another one may have claimed a row since.
    own = [row for row in rows if row.due_at and row.fence == fences[row.pk]]
    return sorted(own, key=attrgetter("due_at", "pk"))


def _claim(model: type[DueRow], free: QuerySet[Any, Any], lease_until: datetime) -> dict[Any, int]:
    """Claim the rows of a queryset until `lease_until`, by one statement; return their `fence` counters by primary key."""
    table, key = (connection.ops.quote_name(str(name)) for name in (model._meta.db_table, model._meta.pk.column))
    found, parameters = free.query.sql_with_params()
    lock = f"FOR UPDATE OF {table} SKIP LOCKED" if connection.features.has_select_for_update_skip_locked else ""
    statement = (  # all names are the models' own; the query's only column is called pk
        f"WITH free AS MATERIALIZED ({found} {lock}) UPDATE {table} SET fence = fence + 1, lease_until = %s "  # noqa: S608
        f"WHERE {key} IN (SELECT free.pk FROM free) RETURNING {key}, fence"
    )
    lease = model._meta.get_field("lease_until").get_db_prep_save(lease_until, connection)
    with connection.cursor() as cursor:
        cursor.execute(statement, [*parameters, lease])
        return {model._meta.pk.to_python(pk): fence for pk, fence in cursor.fetchall()}


def claimed_row_queryset(queryset: QuerySet[Row], row: Row) -> QuerySet[Row]:
    """Return a queryset of one due row that this worker claimed; it is empty if another worker has claimed the row since."""
    return queryset.filter(pk=row.pk, fence=row.fence)


def release_claims(rows: Sequence[DueRow]) -> None:
    """Release the claims on due rows that the worker has not processed, so that any worker may claim the rows at once."""
    apply_fenced_updates([FencedUpdate(row, {"lease_until": None}) for row in rows])
