"""Creates many due rows quickly: one post is created through the API, and PostgreSQL copies its rows.

Through the API ten thousand posts would take minutes. The copies are what it would have written: group, target, event, the
hold in the ledger and what the month's counter says of it, so the books balance before and after.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import psycopg
from psycopg.rows import DictRow, dict_row

from tests.bench.service import Service

TABLES = ("posts_postgroup", "posts_posttarget", "billing_ledgerentry", "webhooks_event", "webhooks_delivery")
_KEPT = 14  # characters of an id: prefix, `_`, and the milliseconds at which it was made
_REPLACED = "convert_to(replace(replace({text}, src.id, {id}), src.post_group_id, {group}), 'UTF8')"


@dataclass(frozen=True)
class Copies:
    """The ids of copied rows; the template is number 0, `first_id` and `last_id` are the lowest and the highest id."""

    first_id: str
    last_id: str
    count: int
    mark: str
    due: datetime


def connect(service: Service) -> psycopg.Connection[DictRow]:
    """Return a connection to the service's database that commits each statement."""
    return psycopg.connect(service.stack.environ["DATABASE_URL"], autocommit=True, row_factory=dict_row)


def due_posts(service: Service, *, count: int, mark: str, seconds: float, per_second: int | None = None) -> Copies:
    """Create this many posts with one target each, over all accounts, due in `seconds`: all, or `per_second` each second."""
    due = (datetime.now(UTC) + timedelta(seconds=seconds)).replace(microsecond=0)
    body = {
        "workspace_id": service.workspace_id,
        "text": f"{mark} 0",
        "scheduled_at": due.isoformat().replace("+00:00", "Z"),
        "targets": [{"platform": "bluesky", "connected_account_id": service.accounts[0]}],
    }
    group_id = service.call("POST", "/posts", body)["post_group"]["id"]
    named = {"copies": count - 1, "mark": mark, "accounts": service.accounts, "per_second": per_second or count}
    with connect(service) as connection:
        with connection.transaction():
            _copy_post(connection, group_id, named)
        _analyze(connection)
    return Copies(*_bounds(group_id), count, mark, due)


def _copy_post(connection: psycopg.Connection[DictRow], group_id: str, named: Mapping[str, Any]) -> None:
    def one(statement: str, *values: Any) -> DictRow:
        [row] = connection.execute(statement, values)
        return row

    later = " + (n / %(per_second)s) * interval '1 second'"
    target = one("SELECT id FROM posts_posttarget WHERE group_id = %s", group_id)
    hold = one("SELECT * FROM billing_ledgerentry WHERE target_id = %s", target["id"])
    event = one("SELECT id FROM webhooks_event WHERE post_group_id = %s", group_id)
    text = "%(mark)s || ' ' || n"
    group = {"text": text, "trace_id": "md5(src.id || n)", "scheduled_at": f"src.scheduled_at{later}"}
    _copy(connection, "posts_postgroup", group_id, {"id": _new("src.id"), **group}, named)
    changes = {
        "id": _new("src.id"),
        "group_id": _new("src.group_id"),
        "account_id": "(%(accounts)s::text[])[1 + n %% cardinality(%(accounts)s::text[])]",
        "content_sha256": "encode(sha256(convert_to(src.id || n, 'UTF8')), 'hex')",
        "scheduled_at": f"src.scheduled_at{later}",
        "due_at": f"src.due_at{later}",
    }
    _copy(connection, "posts_posttarget", target["id"], changes, named)
    changes = {"id": _new("src.id"), "target_id": _new("src.target_id")}
    _copy(connection, "billing_ledgerentry", hold["id"], changes, named)
    _copy(connection, "webhooks_event", event["id"], _event_changes(), named)
    connection.execute(
        "UPDATE billing_monthcounter SET held_cents = held_cents + %s, url_posts = url_posts + %s "
        "WHERE holder_id = %s AND month = %s",
        [named["copies"] * hold["cents"], named["copies"] * hold["url_posts"], hold["workspace_id"], hold["month"]],
    )


def due_deliveries(service: Service, template: DictRow, *, count: int, urls: Sequence[str]) -> Copies:
    """Create this many due deliveries, each of its own event, to the `urls` in turn."""
    with connect(service) as connection:
        due = datetime.now(UTC)
        hosts = ["{0.hostname}:{0.port}".format(urlsplit(url)) for url in urls]
        named = {"copies": count, "urls": list(urls), "hosts": hosts, "due": due}
        delivery = {
            **dict.fromkeys(("lease_until", "last_status_code", "last_response_excerpt", "delivered_at"), "NULL"),
            **dict.fromkeys(("attempts", "fence"), "0"),
            "id": _new("src.id"),
            "event_id": _new("src.event_id"),
            "url": "(%(urls)s::text[])[1 + n %% cardinality(%(urls)s::text[])]",
            "host": "(%(hosts)s::text[])[1 + n %% cardinality(%(hosts)s::text[])]",
            "status": "'pending'",
            "due_at": "%(due)s",
        }
        with connection.transaction():
            _copy(connection, "webhooks_event", template["event_id"], _event_changes(), named)
            _copy(connection, "webhooks_delivery", template["id"], delivery, named)
        _analyze(connection)
    first, _ = _bounds(template["id"])
    # The template itself, whose last part is no number, stays outside.
    return Copies(first, f"{first[:_KEPT]}{count:016}", count, "", due)


def delivered(service: Service, url: str) -> DictRow:
    """Publish a sandbox post and return the row of its delivery to this URL."""
    targets = [{"platform": "bluesky", "connected_account_id": service.accounts[0]}]
    body = {"workspace_id": service.workspace_id, "text": "Told to a receiver", "sandbox": True, "webhook_url": url}
    group_id = service.call("POST", "/posts", {**body, "targets": targets})["post_group"]["id"]
    query = (
        "SELECT d.* FROM webhooks_delivery d JOIN webhooks_event e ON e.id = d.event_id "
        "WHERE e.post_group_id = %s AND e.kind = 'post.published' AND d.status = 'delivered'"
    )
    deadline = time.monotonic() + 30
    with connect(service) as connection:
        while not (found := connection.execute(query, [group_id]).fetchall()):
            if time.monotonic() > deadline:
                raise RuntimeError(f"The receiver at {url} got nothing.")
            time.sleep(0.1)
    return found[0]


def _event_changes() -> dict[str, str]:
    new, group = _new("src.id"), _new("src.post_group_id")
    payload = _REPLACED.format(text="convert_from(src.payload, 'UTF8')", id=new, group=group)
    return {"id": new, "post_group_id": group, "payload": payload}


def _new(column: str) -> str:
    """Return the SQL expression for the id of copy n: the template's time, then the number."""
    return f"left({column}, {_KEPT}) || lpad(n::text, 16, '0')"


def _bounds(identifier: str) -> tuple[str, str]:
    return f"{identifier[:_KEPT]}{'0' * 16}", f"{identifier[:_KEPT]}{'z' * 16}"


def _copy(
    connection: psycopg.Connection[DictRow], table: str, source: str, changes: Mapping[str, str], named: Mapping[str, Any]
) -> None:
    """Copy the row `source`; `changes` are expressions of the source's row `src` and the number n, by column."""
    found = connection.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped", [table]
    )
    columns = [row["attname"] for row in found]
    values = ", ".join(changes.get(column, f'src."{column}"') for column in columns)
    names = ", ".join(f'"{column}"' for column in columns)
    statement = (
        f"INSERT INTO {table} ({names}) SELECT {values} "  # noqa: S608
        f"FROM {table} src, generate_series(1, %(copies)s) n WHERE src.id = %(source)s"  # names are the tables' own
    )
    connection.execute(statement.encode(), {**named, "source": source})


def _analyze(connection: psycopg.Connection[DictRow]) -> None:
    """Update the planner's statistics, as autovacuum would if the rows had been inserted one by one."""
    for table in TABLES:
        connection.execute(f"ANALYZE {table}".encode())
