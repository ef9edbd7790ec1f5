"""The claim of due rows: the database is the queue of record.

A worker claims a row for the length of a lease and gets a fencing number. Every write of an outcome is filtered by that
number, so a worker that lost its lease (stopped, swapped out, cut off) can no longer settle what another has taken over.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from config.db.models import DueRow
from config.jobs.many_rows import Write, update_rows

Row = TypeVar("Row", bound=DueRow)
REST, LONGEST_REST = 20, 2.0  # times what a look took that found none; seconds


class LookPast:
    """Looks for rows of others than the busy holders. Each look reads past all that is due for those, however long their
    backlog is; so while it finds none, it gets a small part of the time."""

    def __init__(self) -> None:
        self._again_at = float("-inf")

    def __call__(self, claim: Callable[[], list[Row]]) -> list[Row]:
        """What the claim found, or none without a look."""
        began = time.monotonic()
        if began < self._again_at:
            return []
        found = claim()
        now = time.monotonic()
        self._again_at = now if found else now + min(REST * (now - began), LONGEST_REST)
        return found


def due(queryset: QuerySet[Row], *, now: datetime | None = None) -> QuerySet[Row]:
    """The rows whose time has come and that nobody holds, earliest first."""
    now = now or timezone.now()
    free = Q(lease_until=None) | Q(lease_until__lte=now)
    return queryset.filter(free, due_at__lte=now).order_by("due_at", "pk")


def claim_due(queryset: QuerySet[Row], *, limit: int, lease: timedelta, looked: bool = False) -> list[Row]:
    """Claim up to `limit` due rows for `lease`; no row is ever claimed by two workers at once.

    PostgreSQL skips the rows that another worker is claiming; on SQLite the IMMEDIATE transaction lets one in at a time.
    The look before the transaction keeps an idle poll from taking SQLite's one write lock; who has `looked` already spares
    it. What the queryset joins is read for the claimed rows alone: in the claim itself it may be read for all due rows
    before the limit cuts them, and so would they be sorted by more than the index holds.
    """
    now = timezone.now()
    if limit <= 0 or not (looked or due(queryset, now=now).exists()):
        return []
    with transaction.atomic():
        free = due(queryset, now=now).order_by("due_at").select_related(None).only("pk")
        pks = [row.pk for row in free.select_for_update(skip_locked=True, of=("self",))[:limit]]
        if not pks:
            return []
        manager = queryset.model._default_manager
        manager.filter(pk__in=pks).update(fence=F("fence") + 1, lease_until=now + lease)
        return list(queryset.filter(pk__in=pks).order_by("due_at", "pk"))


def held(queryset: QuerySet[Row], row: Row) -> QuerySet[Row]:
    """The row as a queryset, as long as this worker's claim on it stands: filter every outcome's write by it."""
    return queryset.filter(pk=row.pk, fence=row.fence)


def give_back(rows: Sequence[DueRow]) -> None:
    """Return claimed rows that were not begun, at once due for any worker: one statement."""
    if rows:
        update_rows([Write(row, {"lease_until": None}) for row in rows])
