"""Idempotency-Keys: requests with the same key run once, and repeats get the stored answer for 24 hours.

There are three modes. In `transaction` mode the record, the effect and the answer commit together, so a crash leaves
everything or nothing, and a second request with the key waits on the record's unique id. `commit` mode does the same for
services that write all rows at once: the record is one of these rows. `lease` mode is for work that uses the network: the
record is committed first as running, then completed. When its lease expires because the process died, the next request
takes over. Only successes are stored: a failed request may be repeated with the same key.
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
from django.db.models import Q, QuerySet
from django.utils import timezone

from config.api.errors import IdempotencyInProgress, ValidationFailed
from config.api.models import IdempotencyRecord
from config.db.fixed_select import FixedSelect
from config.db.writes import Write, build_insert_or_replace_write

REPLAY_WINDOW = timedelta(hours=24)
LEASE = timedelta(seconds=90)
WAIT_SECONDS = 10.0
POLL_SECONDS = 0.05
_LOCK_NOT_AVAILABLE = "55P03"  # PostgreSQL: lock_timeout ran out
_record = FixedSelect(IdempotencyRecord, where=("id",))


@dataclass(frozen=True)
class StoredAnswer:
    """The stored response of a request with an Idempotency-Key: status, body without secrets, resource, workspace."""

    status: int
    body: Any
    resource_id: str = ""
    workspace_id: str = ""  # a replay is shown only to members of this workspace


@dataclass(frozen=True)
class KeyedRequest:
    """A request with an Idempotency-Key: the id of its stored record, its operation, and a hash of its input."""

    record_id: str
    operation: str
    fingerprint: str


def validated_idempotency_key(value: str | None) -> str | None:
    """Return a request's Idempotency-Key header. Raises ValidationFailed unless it is 1 to 255 printable characters."""
    if value is None:
        return None
    if not 1 <= len(value) <= 255 or not all(" " <= character <= "~" for character in value):
        raise ValidationFailed.for_field("Idempotency-Key", "Must be 1 to 255 printable ASCII characters.")
    return value


def build_keyed_request(*, workspace_id: str, actor: str, operation: str, key: str, request: Any) -> KeyedRequest:
    """Build the KeyedRequest of a request; the hash of its input shows whether a key is reused for a different request."""
    scope = "\n".join((workspace_id, actor, operation, key))
    content = json.dumps(request, sort_keys=True, default=str)
    return KeyedRequest(_sha256(scope), operation, _sha256(content))


def run_or_replay_in_transaction(
    keyed: KeyedRequest, work: Callable[[], Any], answer_of: Callable[[Any], StoredAnswer]
) -> Any:
    """Run a request and store its response in one transaction; if its Idempotency-Key was used, return the stored record.

    Raises IdempotencyInProgress if the first request with the key still runs in lease mode, or has not ended within the lock
    time-out of the database (10 s).
    """
    with transaction.atomic():
        record = _claim(keyed, lease_until=None)
        if record is not None:
            if record.answered_at is None:  # its request runs in lease mode
                raise IdempotencyInProgress()
            return record
        result = work()
        _settle(keyed, answer_of(result), lease_until=None)
    return result


def run_request_storing_its_response_or_replay(keyed: KeyedRequest, work: Callable[[], Any]) -> Any:
    """Run a request that stores its response itself; if its Idempotency-Key was used before, return the stored record.

    A request whose key is in use fails at its writes, or earlier because of what the first request has written, and then
    returns the record of that. So requests with a new key need no query for it. Raises IdempotencyInProgress as
    `run_or_replay_in_transaction` does.
    """
    try:
        return work()
    except Exception as error:
        if record := find_answered_record(keyed):
            return record
        if isinstance(error, OperationalError) and getattr(error.__cause__, "sqlstate", None) == _LOCK_NOT_AVAILABLE:
            raise IdempotencyInProgress() from error
        raise


def build_stored_answer_write(keyed: KeyedRequest, answer: StoredAnswer) -> Write:
    """Return the Write that stores the response for an Idempotency-Key; it fails if another request uses the key."""
    now = timezone.now()
    record = IdempotencyRecord(
        id=keyed.record_id,
        operation=keyed.operation,
        fingerprint=keyed.fingerprint,
        answered_at=now,
        status=answer.status,
        body=answer.body,
        resource_id=answer.resource_id,
        workspace_id=answer.workspace_id,
        created_at=now,
        expires_at=now + REPLAY_WINDOW,
    )
    free = "{table}.expires_at <= %s OR ({table}.answered_at IS NULL AND {table}.lease_until <= %s)"
    at = IdempotencyRecord._meta.get_field("expires_at").get_db_prep_save(now, connection)
    return build_insert_or_replace_write(record, replace_if=free, params=[at, at], subject=keyed)


def run_slow_request_or_replay(
    keyed: KeyedRequest, work: Callable[[], Any], answer_of: Callable[[Any], StoredAnswer], *, lease: timedelta = LEASE
) -> Any:
    """Run a slow request outside a transaction, once for its Idempotency-Key, and store its response.

    A second request with the key waits for that response for at most 10 s, and returns the stored record. It raises
    IdempotencyInProgress if there is none by then. If the first request fails or its lease expires, the second one runs.
    """
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        lease_until = timezone.now() + lease
        with transaction.atomic():
            record = _claim(keyed, lease_until=lease_until)
        if record is None:
            break
        if record.answered_at is not None:
            return record
        if time.monotonic() > deadline:
            raise IdempotencyInProgress()
        time.sleep(POLL_SECONDS)
    try:
        result = work()
    except BaseException:
        _running(keyed, lease_until).delete()
        raise
    _settle(keyed, answer_of(result), lease_until=lease_until)
    return result


def find_answered_record(keyed: KeyedRequest) -> IdempotencyRecord | None:
    """Return the unexpired record with the stored response for an Idempotency-Key, or None."""
    record = _record.first(keyed.record_id)
    return record if record and record.answered_at and record.expires_at > timezone.now() else None


def _claim(keyed: KeyedRequest, *, lease_until: datetime | None) -> IdempotencyRecord | None:
    """Reserve a request's Idempotency-Key and return None, or return the record of an earlier request that uses the key."""
    now = timezone.now()
    values = {
        "fingerprint": keyed.fingerprint,
        "lease_until": lease_until,
        "answered_at": None,
        "created_at": now,
        "expires_at": now + REPLAY_WINDOW,
    }
    try:
        if _insert(IdempotencyRecord(id=keyed.record_id, operation=keyed.operation, **values)):
            return None
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", None) == _LOCK_NOT_AVAILABLE:
            raise IdempotencyInProgress() from error
        raise
    rows = IdempotencyRecord.objects.filter(pk=keyed.record_id)
    if rows.filter(Q(expires_at__lte=now) | Q(answered_at=None, lease_until__lte=now)).update(**values):
        return None
    # Without a record the other request has failed in the meantime, and the key is free.
    return rows.first() or _claim(keyed, lease_until=lease_until)


def _insert(row: IdempotencyRecord) -> bool:
    """Insert the idempotency record of a request unless one exists, and return whether it was inserted."""
    fields = IdempotencyRecord._meta.concrete_fields
    columns = ", ".join(connection.ops.quote_name(str(field.column)) for field in fields)
    marks = ", ".join(["%s"] * len(fields))
    table = connection.ops.quote_name(IdempotencyRecord._meta.db_table)
    values = [field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields]
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {table} ({columns}) VALUES ({marks}) ON CONFLICT (id) DO NOTHING", values)  # noqa: S608
        return cursor.rowcount == 1


def _settle(keyed: KeyedRequest, answer: StoredAnswer, *, lease_until: datetime | None) -> None:
    _running(keyed, lease_until).update(
        answered_at=timezone.now(),
        status=answer.status,
        body=answer.body,
        resource_id=answer.resource_id,
        workspace_id=answer.workspace_id,
    )


def _running(keyed: KeyedRequest, lease_until: datetime | None) -> QuerySet[IdempotencyRecord]:
    """Return a queryset of an unfinished request's idempotency record; it is empty if another request took over the key."""
    return IdempotencyRecord.objects.filter(pk=keyed.record_id, lease_until=lease_until, answered_at=None)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
