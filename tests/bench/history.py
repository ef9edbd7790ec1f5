"""Creates a long history of posts, ledger entries, events, deliveries and audit entries (PostgreSQL only).

Rows are made by the server out of a series of numbers, a hundred thousand a statement; each group has two targets that
are published, one in two two ledger entries, one in five an audit entry and an event with a delivery.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from django.db import connection

AT_ONCE = 100_000
# An id of number n: it has the form of all ids, and sorts by n.
_ID = "'{prefix}_01h455vb4p' || lpad({number}::text, 16, '0')"
_AT = "now() - ({newest} - n) * interval '{seconds_apart} seconds'"

_GROUPS = """
INSERT INTO posts_postgroup (id, created_at, updated_at, status, content_version, text, media, scheduled_at, sandbox,
  event_sequence, metadata, created_by_type, created_by_id, trace_id, finished_at, workspace_id)
SELECT {group}, {at}, {at}, 'published', 1, 'A post of long ago, number ' || n, '[]', {at}, false,
  1, '{{}}', 'api_key', 'key_of_long_ago', md5(n::text), {at}, %(workspace)s FROM generate_series(%(first)s, %(end)s) n
"""
_TARGETS = """
INSERT INTO posts_posttarget (id, created_at, updated_at, fence, platform, position, sandbox, status, options,
  content_sha256, external_id, permalink, attempts, round_attempts, phase, progress, scheduled_at, published_at, price_cents,
  url_posts, slot,
  worker_losses, certainty, account_id, group_id)
SELECT {target}, {at}, {at}, 1, 'bluesky', k, false, 'published', '{{}}', md5(n::text) || md5(k::text),
  'at://post/' || n || '/' || k, 'https://example.com/' || n, 1, 1, 'put', '{{}}', {at}, {at}, 1, 0, false, 0, 'confirmed',
  (%(accounts)s::text[])[1 + k], {group} FROM generate_series(%(first)s, %(end)s) n, generate_series(0, 1) k
"""
_LEDGER = """
INSERT INTO billing_ledgerentry (id, workspace_id, agent_id, target_id, platform, round, kind, cents, url_posts, month, day,
  created_at)
SELECT {entry}, %(workspace)s, '', 'tgt_01h455vb4p' || lpad((2 * n)::text, 16, '0'), 'bluesky', 1, kind, 1, 0,
  date_trunc('month', {at})::date, ({at})::date, {at}
FROM generate_series(%(first)s, %(end)s) n, (VALUES (0, 'hold'), (1, 'settle')) AS kinds (k, kind) WHERE n %% 2 = 0
"""
_EVENTS = """
INSERT INTO webhooks_event (id, kind, post_group_id, sequence, payload, sandbox, trace_id, created_at, workspace_id)
SELECT {event}, 'post.published', {group}, 1, '\\x7b7d', false, md5(n::text), {at}, %(workspace)s
FROM generate_series(%(first)s, %(end)s) n WHERE n %% 5 = 0
"""
_DELIVERIES = """
INSERT INTO webhooks_delivery (id, fence, url, host, status, attempts, earlier_attempts, last_status_code, created_at,
  delivered_at, workspace_id, event_id)
SELECT {delivery}, 1, 'https://example.com/hook', 'example.com:443', 'delivered', 1, 0, 204, {at}, {at}, %(workspace)s,
  {event} FROM generate_series(%(first)s, %(end)s) n WHERE n %% 5 = 0
"""
_AUDIT = """
INSERT INTO auditlog_auditentry (id, workspace_id, actor_type, actor_id, operation, resource_type, resource_id, outcome,
  dry_run, trace_id, retention_tier, metadata, created_at)
SELECT {log}, %(workspace)s, 'api_key', 'key_of_long_ago', 'posts.create', 'post_group', {group}, 'succeeded', false,
  md5(n::text), 'enterprise', '{{}}', {at} FROM generate_series(%(first)s, %(end)s) n WHERE n %% 5 = 0
"""


def group_id(number: int) -> str:
    """Return the id of the group with this number."""
    return f"pgr_01h455vb4p{number:016}"


def load(
    *,
    workspace_id: str,
    account_ids: list[str],
    first: int,
    last: int,
    newest: int | None = None,
    seconds_apart: int = 30,
    report: Callable[[int], None] | None = None,
    tables: Sequence[str] = (_GROUPS, _TARGETS, _LEDGER, _EVENTS, _DELIVERIES, _AUDIT),
) -> None:
    """Create the groups numbered first to last with related rows; call `report` after each hundred thousand.

    Each group is `seconds_apart` older than the next; the group `newest` (without it, `last`) is from now.
    """
    names = {
        "at": _AT.format(newest=newest or last, seconds_apart=seconds_apart),
        "group": _ID.format(prefix="pgr", number="n"),
        "target": _ID.format(prefix="tgt", number="(2 * n + k)"),
        "entry": _ID.format(prefix="use", number="(2 * n + k)"),
        "event": _ID.format(prefix="evt", number="n"),
        "delivery": _ID.format(prefix="dlv", number="n"),
        "log": _ID.format(prefix="log", number="n"),
    }
    statements = [each.format(**names) for each in tables]
    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit = off")
        for begin in range(first, last + 1, AT_ONCE):
            end = min(begin + AT_ONCE - 1, last)
            values: dict[str, Any] = {"workspace": workspace_id, "accounts": account_ids[:2], "first": begin, "end": end}
            for statement in statements:
                cursor.execute(statement, values)
            if report:
                report(end)
        cursor.execute("SET synchronous_commit = on")


def load_millions(*, report: Callable[[int], None], **what: Any) -> None:
    """Create a history as `load` does, in a separate database: two at once, without constraints, indexes created last."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = ANY(%s) "
            "AND indexname NOT IN (SELECT conname FROM pg_constraint)",
            [list(LARGE)],
        )
        indexes = cursor.fetchall()
        for name, _ in indexes:
            cursor.execute(f'DROP INDEX "{name}"')

    def run(work: Callable[[], None]) -> None:
        try:
            with connection.cursor() as cursor:  # a superuser's: the server was started for this
                cursor.execute("SET session_replication_role = replica")
                cursor.execute("SET maintenance_work_mem = '512MB'")
            work()
        finally:
            connection.close()

    def make(definition: str) -> None:
        with connection.cursor() as cursor:
            cursor.execute(definition)

    with ThreadPoolExecutor(2) as threads:
        # The targets take about as long as everything else.
        targets = partial(load, **what, tables=[_TARGETS], report=report)
        others = partial(load, **what, tables=[_GROUPS, _LEDGER, _EVENTS, _DELIVERIES, _AUDIT])
        list(threads.map(run, [targets, others]))
        list(threads.map(run, [partial(make, definition) for _, definition in indexes]))


def analyze() -> None:
    """Update the planner's statistics."""
    with connection.cursor() as cursor:
        for table in LARGE:
            cursor.execute(f"ANALYZE {table}")


LARGE = (
    "posts_postgroup",
    "posts_posttarget",
    "billing_ledgerentry",
    "webhooks_event",
    "webhooks_delivery",
    "auditlog_auditentry",
)
