"""Idempotent calls: one key, one effect, one answer, for 24 hours.

Two kinds. `transaction`: record, effect and answer commit together, so a crash leaves all or nothing, and a second
request with the key waits at the record's unique id. `lease`: for work that goes over the network; the record is
committed first as running, then settled, and a lease that ran out (its process died) lets the next request take over.
Only successes are kept: a request that failed may be sent again with the same key.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import OperationalError, connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from config.api.errors import IdempotencyInProgress, ValidationFailed
from config.api.models import IdempotencyRecord

WINDOW = timedelta(hours=24)
LEASE = timedelta(seconds=90)
WAIT_SECONDS = 10.0
LOOK_SECONDS = 0.05
_LOCK_NOT_AVAILABLE = "55P03"  # PostgreSQL: lock_timeout ran out


@dataclass(frozen=True)
class Answer:
    """What is kept of a success: the rendered body (secrets taken out) and the resource it made."""

    status: int
    body: Any
    resource_id: str = ""
    workspace_id: str = ""  # where it was done, so that a replay is shown only to who still belongs there


@dataclass(frozen=True)
class Ticket:
    """One request's claim on a key."""

    record_id: str
    operation: str
    fingerprint: str


def read_key(value: str | None) -> str | None:
    """The Idempotency-Key header's value. Raises ValidationFailed unless it is 1 to 255 printable ASCII characters."""
    if value is None:
        return None
    if not 1 <= len(value) <= 255 or not all(" " <= character <= "~" for character in value):
        raise ValidationFailed.of("Idempotency-Key", "Must be 1 to 255 printable ASCII characters.")
    return value


def ticket(*, workspace_id: str, actor: str, operation: str, key: str, request: Any) -> Ticket:
    """The ticket of a request; `request` is what makes a repeat the same request (path and input)."""
    scope = "\n".join((workspace_id, actor, operation, key))
    content = json.dumps(request, sort_keys=True, default=str)
    return Ticket(_sha256(scope), operation, _sha256(content))


def in_transaction(ticket: Ticket, work: Callable[[], Any], answer_of: Callable[[Any], Answer]) -> Any:
    """Run `work` and keep its answer in one transaction; returns its result, or the IdempotencyRecord to replay."""
    with transaction.atomic():
        kept = _claim(ticket, lease_until=None)
        if kept is not None:
            return _answered(kept)
        result = work()
        _settle(ticket, answer_of(result), lease_until=None)
    return result


def under_lease(
    ticket: Ticket, work: Callable[[], Any], answer_of: Callable[[Any], Answer], *, lease: timedelta = LEASE
) -> Any:
    """As `in_transaction`, for work that must not hold a transaction open; another request with the key waits for it."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        lease_until = timezone.now() + lease
        with transaction.atomic():
            kept = _claim(ticket, lease_until=lease_until)
        if kept is None:
            break
        if kept.answered_at is not None:
            return kept
        if time.monotonic() > deadline:
            raise IdempotencyInProgress()
        time.sleep(LOOK_SECONDS)
    try:
        result = work()
    except BaseException:
        _running(ticket, lease_until).delete()
        raise
    _settle(ticket, answer_of(result), lease_until=lease_until)
    return result


def find_answered(ticket: Ticket) -> IdempotencyRecord | None:
    """The record of a call with this key that was answered within the window, where there is one."""
    return IdempotencyRecord.objects.filter(
        pk=ticket.record_id, answered_at__isnull=False, expires_at__gt=timezone.now()
    ).first()


def differs(kept: IdempotencyRecord, ticket: Ticket) -> bool:
    """Whether the repeat asks for something else than the first request did."""
    return kept.fingerprint != ticket.fingerprint


def _claim(ticket: Ticket, *, lease_until: datetime | None) -> IdempotencyRecord | None:
    """None when the key is ours now, else the record that stands. Waits while another transaction holds the key."""
    now = timezone.now()
    try:
        if _insert(ticket, lease_until):
            return None
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", None) == _LOCK_NOT_AVAILABLE:
            raise IdempotencyInProgress() from error
        raise
    rows = IdempotencyRecord.objects.filter(pk=ticket.record_id)
    renewed = {
        "fingerprint": ticket.fingerprint,
        "lease_until": lease_until,
        "answered_at": None,
        "created_at": now,
        "expires_at": now + WINDOW,
    }
    if rows.filter(expires_at__lte=now).update(**renewed):
        return None
    if rows.filter(answered_at=None, lease_until__lte=now).update(**renewed):
        return None
    kept = rows.first()
    return (
        kept if kept else _claim(ticket, lease_until=lease_until)
    )  # its request failed meanwhile: the key is free again


def _insert(ticket: Ticket, lease_until: datetime | None) -> bool:
    """INSERT … ON CONFLICT DO NOTHING by hand: the ORM's form does not tell whether the row went in."""
    now = timezone.now()
    row = IdempotencyRecord(
        id=ticket.record_id,
        operation=ticket.operation,
        fingerprint=ticket.fingerprint,
        lease_until=lease_until,
        created_at=now,
        expires_at=now + WINDOW,
    )
    fields = IdempotencyRecord._meta.concrete_fields
    columns = ", ".join(connection.ops.quote_name(str(field.column)) for field in fields)
    marks = ", ".join(["%s"] * len(fields))
    table = connection.ops.quote_name(IdempotencyRecord._meta.db_table)
    values = [field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields]
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {table} ({columns}) VALUES ({marks}) ON CONFLICT (id) DO NOTHING", values)  # noqa: S608
        return cursor.rowcount == 1


def _settle(ticket: Ticket, answer: Answer, *, lease_until: datetime | None) -> None:
    _running(ticket, lease_until).update(
        answered_at=timezone.now(),
        status=answer.status,
        body=answer.body,
        resource_id=answer.resource_id,
        workspace_id=answer.workspace_id,
    )


def _running(ticket: Ticket, lease_until: datetime | None) -> QuerySet[IdempotencyRecord]:
    """The record as long as this call holds it; a lease's end tells its holder from one that took over after it."""
    return IdempotencyRecord.objects.filter(pk=ticket.record_id, lease_until=lease_until, answered_at=None)


def _answered(kept: IdempotencyRecord) -> IdempotencyRecord:
    """In a transaction a standing record is an answered one, unless a lease of the same operation runs."""
    if kept.answered_at is None:
        raise IdempotencyInProgress()
    return kept


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
