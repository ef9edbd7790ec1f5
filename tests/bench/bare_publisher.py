"""The hand-written SQL reference for publishing: claims and completes every due target.

One process, one connection, and no platform: a batch is claimed, begun, and ended as published with all that this brings
about (group, ledger, counters, usage, event). The rows are the service's own, so its books are checked for these as well.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import psycopg
from psycopg.rows import DictRow, dict_row

from config.db.ids import new_id

BATCH = 50  # as many as the service ends in one transaction at the most
CLAIM = """
WITH free AS (SELECT id FROM posts_posttarget WHERE platform = 'bluesky' AND due_at <= now()
  AND (lease_until IS NULL OR lease_until <= now()) ORDER BY due_at LIMIT %s FOR UPDATE SKIP LOCKED)
UPDATE posts_posttarget t SET fence = fence + 1, lease_until = now() + interval '20 seconds' FROM free WHERE t.id = free.id
RETURNING t.id
"""
READ = """
SELECT t.id, t.group_id, t.account_id, t.fence, t.attempts, t.price_cents, t.options, g.workspace_id, g.text, g.media,
  g.metadata, g.scheduled_at, g.created_at, g.created_by_type, g.created_by_id, g.trace_id, g.event_sequence,
  w.status AS workspace_status, a.status AS account_status, a.external_id AS account_external_id
FROM posts_posttarget t JOIN posts_postgroup g ON g.id = t.group_id JOIN workspaces_workspace w ON w.id = g.workspace_id
  JOIN accounts_connectedaccount a ON a.id = t.account_id
WHERE t.id = ANY(%s)
"""
BEGIN = """
UPDATE posts_posttarget t SET status = 'publishing', phase = 'put', progress = given.progress::jsonb, turn_at = NULL,
  step_begun_at = now(), attempts = attempts + 1, round_attempts = round_attempts + 1,
  lease_until = now() + interval '20 seconds', updated_at = now()
FROM unnest(%s::text[], %s::int[], %s::text[]) given (id, fence, progress)
WHERE t.id = given.id AND t.fence = given.fence AND t.status IN ('pending', 'processing', 'publishing', 'retrying')
"""
BEGIN_GROUPS = """
UPDATE posts_postgroup SET status = 'publishing', updated_at = now() WHERE id IN
  (SELECT id FROM posts_postgroup WHERE id = ANY(%s) AND status = 'scheduled' ORDER BY id FOR UPDATE)
"""
LOCK_GROUPS = "SELECT id FROM posts_postgroup WHERE id = ANY(%s) ORDER BY id FOR UPDATE"
END = """
UPDATE posts_posttarget t SET status = 'published', due_at = NULL, lease_until = NULL, turn_at = NULL, step_begun_at = NULL,
  worker_losses = 0, external_id = given.external_id, permalink = given.permalink, published_at = %s, error = NULL,
  certainty = 'confirmed', updated_at = now()
FROM unnest(%s::text[], %s::int[], %s::text[], %s::text[]) given (id, fence, external_id, permalink)
WHERE t.id = given.id AND t.fence = given.fence AND t.status = 'publishing' RETURNING t.id
"""
HOLDS = """
SELECT * FROM billing_ledgerentry h WHERE target_id = ANY(%(ids)s) AND kind = 'hold' AND NOT EXISTS (SELECT FROM
  billing_ledgerentry e WHERE e.target_id = h.target_id AND e.round = h.round AND e.kind IN ('settle', 'release'))
ORDER BY target_id, round FOR UPDATE
"""
SETTLE = """
INSERT INTO billing_ledgerentry (id, workspace_id, agent_id, target_id, platform, round, kind, cents, url_posts, month, day,
  created_at)
SELECT given.id, workspace_id, agent_id, target_id, platform, round, 'settle', cents, url_posts, month, day, now()
FROM unnest(%s::text[], %s::text[]) given (id, hold_id) JOIN billing_ledgerentry h ON h.id = given.hold_id
"""
COUNT = """
UPDATE billing_monthcounter SET held_cents = held_cents - %(cents)s, settled_cents = settled_cents + %(cents)s
WHERE holder_id = %(workspace_id)s AND month = %(month)s
"""
USAGE = """
INSERT INTO billing_usagetotal AS total (workspace_id, month, agent_id, platform, published, failed, url_posts, spend_cents)
VALUES (%(workspace_id)s, %(month)s, '', 'bluesky', %(targets)s, 0, %(url_posts)s, %(cents)s)
ON CONFLICT (workspace_id, month, agent_id, platform) DO UPDATE SET published = total.published + excluded.published,
  url_posts = total.url_posts + excluded.url_posts, spend_cents = total.spend_cents + excluded.spend_cents
"""
ROLL_UP = "SELECT group_id, bool_and(status = 'published') AS out FROM posts_posttarget WHERE group_id = ANY(%s) GROUP BY 1"
END_GROUPS = """
UPDATE posts_postgroup SET status = 'published', finished_at = %s, updated_at = %s, event_sequence = event_sequence + 1
WHERE id = ANY(%s)
"""
EVENTS = """
INSERT INTO webhooks_event (id, kind, post_group_id, sequence, payload, sandbox, trace_id, created_at, workspace_id)
SELECT given.id, 'post.published', group_id, sequence, payload, false, trace_id, now(), workspace_id
FROM unnest(%s::text[], %s::text[], %s::int[], %s::bytea[], %s::text[], %s::text[])
  given (id, group_id, sequence, payload, trace_id, workspace_id)
"""


def publish_all(url: str) -> tuple[int, float]:
    """Publish all due targets in the database of this URL; return their number and the seconds it took."""
    count, began = 0, time.monotonic()
    with psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection:
        while rows := _claim(connection):
            _begin(connection, rows)
            _end(connection, rows)
            count += len(rows)
    return count, time.monotonic() - began


def _claim(connection: psycopg.Connection[DictRow]) -> list[DictRow]:
    claimed = [row["id"] for row in connection.execute(CLAIM, [BATCH])]
    return connection.execute(READ, [claimed]).fetchall() if claimed else []


def _begin(connection: psycopg.Connection[DictRow], rows: Sequence[DictRow]) -> None:
    """Commit that the step has started, and set the group to publishing."""
    progress = []
    for row in rows:
        created = datetime.now(UTC).isoformat()
        record = {"$type": "app.bsky.feed.post", "text": row["text"], "createdAt": created}
        progress.append(json.dumps({"rkey": row["id"][4:], "sent": [], "record": record}))
    connection.execute(BEGIN, [[row["id"] for row in rows], [row["fence"] for row in rows], progress])
    connection.execute(BEGIN_GROUPS, [[row["group_id"] for row in rows]])


def _end(connection: psycopg.Connection[DictRow], rows: Sequence[DictRow]) -> None:
    """Write all results of the publication in one transaction. Raises RuntimeError for an unexpected row."""
    now, group_ids = datetime.now(UTC), [row["group_id"] for row in rows]
    for row in rows:
        row["external_id"] = f"at://{row['account_external_id']}/app.bsky.feed.post/{row['id'][4:]}"
        row["permalink"] = f"https://bsky.app/profile/{row['account_external_id']}/post/{row['id'][4:]}"
    names = ("id", "fence", "external_id", "permalink")
    with connection.transaction():
        connection.execute(LOCK_GROUPS, [group_ids]).fetchall()
        ended = connection.execute(END, [now, *([row[name] for row in rows] for name in names)]).fetchall()
        _settle(connection, [row["id"] for row in ended])
        rolled_up = connection.execute(ROLL_UP, [group_ids]).fetchall()
        if len(ended) != len(rows) or not all(row["out"] for row in rolled_up):
            raise RuntimeError("A target that the bare loop had claimed was not its own any more.")
        connection.execute(END_GROUPS, [now, now, group_ids])
        event_ids = [new_id("evt") for _ in rows]
        payloads = [_payload(event_id, row, now) for event_id, row in zip(event_ids, rows, strict=True)]
        sequences = [row["event_sequence"] + 1 for row in rows]
        others = ([row[name] for row in rows] for name in ("trace_id", "workspace_id"))
        connection.execute(EVENTS, [event_ids, group_ids, sequences, payloads, *others])


def _settle(connection: psycopg.Connection[DictRow], target_ids: list[str]) -> None:
    holds = connection.execute(HOLDS, {"ids": target_ids}).fetchall()
    connection.execute(SETTLE, [[new_id("use") for _ in holds], [hold["id"] for hold in holds]])
    for workspace_id, month in sorted({(hold["workspace_id"], hold["month"]) for hold in holds}):
        own = [hold for hold in holds if (hold["workspace_id"], hold["month"]) == (workspace_id, month)]
        named: dict[str, Any] = {"workspace_id": workspace_id, "month": month, "targets": len(own)}
        named |= {name: sum(hold[name] for hold in own) for name in ("cents", "url_posts")}
        connection.execute(COUNT, named)
        connection.execute(USAGE, named)


def _payload(event_id: str, row: DictRow, now: datetime) -> bytes:
    """Return an event's payload with the same fields as the service's own."""
    target = {
        "id": row["id"],
        "platform": "bluesky",
        "connected_account_id": row["account_id"],
        "status": "published",
        "text": None,
        "options": row["options"],
        "external_id": row["external_id"],
        "permalink": row["permalink"],
        "attempts": row["attempts"] + 1,
        "next_attempt_at": None,
        "published_at": now.isoformat(),
        "cost_cents": row["price_cents"],
        "error": None,
    }
    group = {
        "id": row["group_id"],
        "workspace_id": row["workspace_id"],
        "status": "published",
        "content_version": 1,
        "text": row["text"],
        "media": row["media"],
        "scheduled_at": row["scheduled_at"].isoformat(),
        "sandbox": False,
        "webhook_url": None,
        "metadata": row["metadata"],
        "cost_cents": row["price_cents"],
        "created_by": {"actor_type": row["created_by_type"], "actor_id": row["created_by_id"]},
        "rejection_reason": None,
        "trace_id": row["trace_id"],
        "created_at": row["created_at"].isoformat(),
        "updated_at": now.isoformat(),
        "finished_at": now.isoformat(),
        "targets": [target],
    }
    event = {"id": event_id, "type": "post.published", "created_at": now.isoformat(), "trace_id": row["trace_id"]}
    event |= {"workspace_id": row["workspace_id"], "sandbox": False, "sequence": row["event_sequence"] + 1}
    return json.dumps({**event, "data": {"post_group": group}}, ensure_ascii=False, separators=(",", ":")).encode()
