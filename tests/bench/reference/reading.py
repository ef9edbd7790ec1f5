"""Reads of the reference API: one post, and the posts of a day."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections import defaultdict
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from psycopg import AsyncConnection

from tests.bench.reference.admission import Caller
from tests.bench.reference.bodies import format_time, group_body, target_body
from tests.bench.reference.refusals import RefusedError

READ_GROUP = """
SELECT id, workspace_id, status, content_version, text, media, scheduled_at, sandbox, webhook_url, metadata,
  created_by_type, created_by_id, rejection_reason, trace_id, created_at, updated_at, finished_at
FROM posts_postgroup WHERE id = %s AND workspace_id = %s
"""
READ_TARGETS = """
SELECT id, platform, account_id, status, text, options, external_id, permalink, attempts, due_at, published_at,
  price_cents, error, scheduled_at, slot
FROM posts_posttarget WHERE group_id = %s ORDER BY position
"""
_DAY = """
SELECT id, status, scheduled_at, text, sandbox FROM posts_postgroup
WHERE workspace_id = %s AND scheduled_at >= %s AND scheduled_at < %s AND status NOT IN ('draft', 'rejected', 'cancelled')
ORDER BY scheduled_at, id LIMIT %s
"""
_DAY_TARGETS = """
SELECT group_id, id, platform, account_id, status FROM posts_posttarget WHERE group_id = ANY(%s) ORDER BY position
"""


async def read_post(connection: AsyncConnection[Any], caller: Caller, group_id: str) -> dict[str, Any]:
    """Return the body of a group. Raises RefusedError."""
    caller.require("posts.read")
    row = await (await connection.execute(READ_GROUP, [group_id, caller.workspace_id])).fetchone()
    if row is None:
        raise RefusedError(404, "NOT_FOUND", "There is no such post group.")
    targets = await (await connection.execute(READ_TARGETS, [group_id])).fetchall()
    return group_body(row, [target_body(target) for target in targets])


async def posts_on_day(
    connection: AsyncConnection[Any], caller: Caller, workspace_id: str, day: date, timezone: str, limit: int
) -> dict[str, Any]:
    """Return the first `limit` groups of the day, earliest first. Raises RefusedError."""
    caller.require("posts.read")
    if workspace_id != caller.workspace_id:
        raise RefusedError(404, "NOT_FOUND", "There is no such workspace.")
    zone = ZoneInfo(timezone)
    start, end = (datetime.combine(each, time(), tzinfo=zone).astimezone(UTC) for each in (day, day + timedelta(days=1)))
    found = await (await connection.execute(_DAY, [workspace_id, start, end, limit + 1])).fetchall()
    rows = found[:limit]
    of_group: dict[str, list[dict[str, Any]]] = defaultdict(list)
    targets = await (await connection.execute(_DAY_TARGETS, [[row[0] for row in rows]])).fetchall()
    for group_id, target_id, platform, account_id, status in targets:
        of_group[group_id].append(
            {"id": target_id, "platform": platform, "connected_account_id": account_id, "status": status}
        )
    return {
        "posts": [
            {
                "id": group_id,
                "status": status,
                "scheduled_at": format_time(at),
                "local_time": f"{at.astimezone(zone):%H:%M}",
                "text": text,
                "sandbox": sandbox,
                "targets": of_group[group_id],
            }
            for group_id, status, at, text, sandbox in rows
        ],
        "next_cursor": _cursor(rows[-1]) if len(found) > limit else None,
        "date": day.isoformat(),
        "timezone": timezone,
        "window": {"start": format_time(start), "end": format_time(end)},
    }


def _cursor(last: tuple[Any, ...]) -> str:
    return urlsafe_b64encode(f"1:{last[2].isoformat()}|{last[0]}".encode()).decode().rstrip("=")
