"""Creates a scheduled post in the reference API, in one transaction."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any

from psycopg import AsyncConnection

from tests.bench.reference import statements
from tests.bench.reference.admission import Caller
from tests.bench.reference.bodies import CreatePost, Target, format_time, group_body, target_body
from tests.bench.reference.identifiers import new_id
from tests.bench.reference.reading import read_post
from tests.bench.reference.refusals import RefusedError

Connection = AsyncConnection[Any]
DAY = timedelta(days=1)
PAST_IS_NOW = timedelta(seconds=60)
FURTHEST_AHEAD = timedelta(days=366)
MOST_CHARACTERS, MOST_BYTES = 300, 3000  # of the one platform that is known here
CENTS = 1  # of each target, by the default price list


@dataclass
class Draft:
    """A post to create: its input, its caller and its new ids."""

    caller: Caller
    body: CreatePost
    trace_id: str
    now: datetime
    group_id: str
    target_ids: list[str]

    @property
    def scheduled_at(self) -> datetime:
        return self.body.scheduled_at.astimezone(UTC)

    @property
    def hashes(self) -> list[str]:
        """Return the hashes of each target's text."""
        return [hashlib.sha256(shown_text(self.body, target).encode()).hexdigest() for target in self.body.targets]


async def create_post(
    connection: Connection, caller: Caller, body: CreatePost, key: str | None, trace_id: str
) -> tuple[dict[str, Any], bool]:
    """Create the post; return the group's body and whether it is a replay. Raises RefusedError."""
    caller.require("posts.schedule")
    if (body.workspace_id or caller.workspace_id) != caller.workspace_id:
        raise RefusedError(422, "VALIDATION_FAILED", "There is no such workspace.")
    if caller.workspace_status == "paused":
        raise RefusedError(423, "WORKSPACE_PAUSED", "The workspace is paused.")
    now = datetime.now(UTC)
    if not now - PAST_IS_NOW <= body.scheduled_at <= now + FURTHEST_AHEAD:
        raise RefusedError(422, "VALIDATION_FAILED", "scheduled_at lies in the past or too far ahead.")
    draft = Draft(caller, body, trace_id, now, new_id("pgr"), [new_id("tgt") for _ in body.targets])
    async with connection.transaction():
        if key is None:
            return await _write(connection, draft), False
        record_id, fingerprint = _claim_of(caller, key, body)
        values = {"id": record_id, "fingerprint": fingerprint, "now": now, "expires_at": now + DAY}
        if not (await connection.execute(statements.CLAIM, values)).rowcount:
            row = await (await connection.execute(statements.CLAIMED, [record_id])).fetchone()
            if row is None:
                raise RefusedError(409, "IDEMPOTENCY_IN_PROGRESS", "The key is in use.")
            return await read_post(connection, caller, row[0]), True
        group_json = await _write(connection, draft)
        answered = {"id": record_id, "now": datetime.now(UTC), "group": draft.group_id, "workspace": caller.workspace_id}
        await connection.execute(statements.ANSWERED, answered)
        return group_json, False


def shown_text(body: CreatePost, target: Target) -> str:
    """Return the text that is published at a target."""
    return body.text if target.text is None else target.text


async def _write(connection: Connection, draft: Draft) -> dict[str, Any]:
    await _check_accounts(connection, draft)
    _check_texts(draft.body)
    # A duplicate is only a warning, which the response to a new post omits; the service searches for it nevertheless.
    ids = [target.connected_account_id for target in draft.body.targets]
    await (await connection.execute(statements.SENT_BEFORE, [ids, draft.hashes, draft.now - DAY])).fetchall()
    await _hold(connection, draft)
    group_json = _shown(draft)
    await connection.execute(statements.GROUP, _group_values(draft))
    await connection.execute(_with_rows(statements.TARGETS, statements.TARGET, len(ids)), _target_values(draft))
    await connection.execute(statements.EVENT, _event_values(draft, group_json))
    audit = {
        "id": new_id("log"),
        "workspace": draft.caller.workspace_id,
        "key": draft.caller.key_id,
        "group": draft.group_id,
        "ip": draft.caller.ip,
        "trace": draft.trace_id,
        "tier": draft.caller.retention_tier,
        "now": datetime.now(UTC),
    }
    await connection.execute(statements.AUDIT, audit)
    return group_json


async def _check_accounts(connection: Connection, draft: Draft) -> None:
    asked = [target.connected_account_id for target in draft.body.targets]
    rows = await (await connection.execute(statements.ACCOUNTS, [draft.caller.workspace_id, asked])).fetchall()
    found = {account_id: (platform, status) for account_id, platform, status in rows}
    for target in draft.body.targets:
        platform, status = found.get(target.connected_account_id, ("", ""))
        if platform != target.platform or len(set(asked)) < len(asked):
            raise RefusedError(422, "VALIDATION_FAILED", "An account is not there, repeated, or of another platform.")
        if status != "active":
            raise RefusedError(422, "CONTENT_INVALID", f"An account is {status}.")


def _check_texts(body: CreatePost) -> None:
    for target in body.targets:
        text = shown_text(body, target)
        if not text.strip() or len(text) > MOST_CHARACTERS or len(text.encode()) > MOST_BYTES:
            raise RefusedError(422, "CONTENT_INVALID", "A text is missing or too long.")


async def _hold(connection: Connection, draft: Draft) -> None:
    """Reserve the cost in the month's counter within the cap, and write the ledger entries."""
    due = draft.scheduled_at.date()
    cents = CENTS * len(draft.target_ids)
    values = {"workspace": draft.caller.workspace_id, "month": due.replace(day=1), "cents": cents}
    values["limit"] = draft.caller.limit_cents
    while not (await connection.execute(statements.COUNT, values)).rowcount:
        if (await (await connection.execute(statements.COUNTED, values)).fetchone()) is not None:
            raise RefusedError(402, "SPEND_CAP_EXCEEDED", "The workspace's cap has no room for this.")
        await connection.execute(statements.FIRST_COUNT, values)
    holds = _hold_values(draft, due)
    await connection.execute(_with_rows(statements.HOLDS, statements.HOLD, len(draft.target_ids)), holds)


def _hold_values(draft: Draft, due: date) -> list[Any]:
    values: list[Any] = []
    for target_id, target in zip(draft.target_ids, draft.body.targets, strict=True):
        values += [new_id("use"), draft.caller.workspace_id, target_id, target.platform, CENTS]
        values += [due.replace(day=1), due, draft.now]
    return values


def _group_values(draft: Draft) -> dict[str, Any]:
    return {
        "id": draft.group_id,
        "workspace": draft.caller.workspace_id,
        "text": draft.body.text,
        "scheduled_at": draft.scheduled_at,
        "metadata": json.dumps(draft.body.metadata),
        "key": draft.caller.key_id,
        "trace": draft.trace_id,
        "now": draft.now,
    }


def _target_values(draft: Draft) -> list[Any]:
    values: list[Any] = []
    for position, (target_id, target) in enumerate(zip(draft.target_ids, draft.body.targets, strict=True)):
        values += [draft.now, draft.now, draft.scheduled_at, target_id, draft.group_id, target.connected_account_id]
        values += [target.platform, position, target.text, target.options_json(), draft.hashes[position], CENTS]
        values.append(draft.scheduled_at)
    return values


def _event_values(draft: Draft, group_json: dict[str, Any]) -> dict[str, Any]:
    event_id, at = new_id("evt"), datetime.now(UTC)
    content = {
        "id": event_id,
        "type": "post.scheduled",
        "created_at": format_time(at),
        "workspace_id": draft.caller.workspace_id,
        "trace_id": draft.trace_id,
        "sandbox": False,
        "sequence": 1,
        "data": {"post_group": group_json},
    }
    return {
        "id": event_id,
        "workspace": draft.caller.workspace_id,
        "group": draft.group_id,
        "payload": json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode(),
        "trace": draft.trace_id,
        "now": at,
    }


def _shown(draft: Draft) -> dict[str, Any]:
    """Return the new group's body, from the values that are written."""
    options = [target.options.model_dump(exclude_unset=True) for target in draft.body.targets]
    targets = []
    for target_id, target, given in zip(draft.target_ids, draft.body.targets, options, strict=True):
        row: list[Any] = [target_id, target.platform, target.connected_account_id, "pending", target.text, given]
        targets.append(target_body((*row, None, None, 0, draft.scheduled_at, None, CENTS, None, draft.scheduled_at, False)))
    body, caller = draft.body, draft.caller
    row = [draft.group_id, caller.workspace_id, "scheduled", 1, body.text, [], draft.scheduled_at, False, None]
    row += [body.metadata, "api_key", caller.key_id, None, draft.trace_id, draft.now, draft.now, None]
    return group_body(tuple(row), targets)


def _claim_of(caller: Caller, key: str, body: CreatePost) -> tuple[str, str]:
    """Return the id of the idempotency record and the request's fingerprint."""
    scope = "\n".join((caller.workspace_id, f"api_key:{caller.key_id}", "posts.create", key))
    request = json.dumps([{}, body.model_dump(mode="json"), {}], sort_keys=True)
    return hashlib.sha256(scope.encode()).hexdigest(), hashlib.sha256(request.encode()).hexdigest()


@cache
def _with_rows(insert: str, row: str, rows: int) -> str:
    """Return an INSERT for this many rows; the same text for the same number, so that it is prepared once."""
    return insert + ", ".join([row] * rows)
