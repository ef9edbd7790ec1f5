"""Benchmarks the publishing rate against hand-written SQL, and the lateness at a thousand due targets per second."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from tests.bench import bare_publisher, loading
from tests.bench.loading import Copies
from tests.bench.measure import Row, at_least, at_most
from tests.bench.publishing import shares
from tests.bench.service import Service

TARGETS = 10_000
PER_SECOND = 1000
MOST_SECONDS = 300.0
DRIFT = "from billing.selectors import find_wrong_month_counters; print(len(find_wrong_month_counters()))"


@contextmanager
def workers_frozen(service: Service) -> Iterator[None]:
    """Freeze the workers during the block."""
    pids = service.stack.pids("worker")
    try:
        with loading.connect(service) as connection:
            busy = True
            while busy:
                _signal(pids, signal.SIGCONT)
                time.sleep(0.05)
                _signal(pids, signal.SIGSTOP)
                time.sleep(0.05)  # what the server is just carrying out for them ends
                query = "SELECT FROM pg_stat_activity WHERE backend_xid IS NOT NULL OR state LIKE 'idle in transaction%'"
                busy = bool(connection.execute(query).fetchall())
        yield
    finally:
        _signal(pids, signal.SIGCONT)


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        os.kill(pid, number)


def drain(service: Service, *, targets: int) -> float:
    """Publish this many targets that are due at once; return the seconds from the first poll to the last result.

    RuntimeError unless each came to the platform once and is written as published.
    """
    service.stand_in.begin(pause=0.0)
    with workers_frozen(service):
        posts = loading.due_posts(service, count=targets, mark=f"drain{time.time():.0f}", seconds=1)
        time.sleep(max(0.0, posts.due.timestamp() - time.time()))
    began = time.time()
    _wait_for(service, posts)
    return _ended_at(service, posts) - began


def lateness(service: Service, *, targets: int, per_second: int) -> list[float]:
    """Return the sorted lateness in seconds at the platform with `per_second` targets due at the start of each second."""
    service.stand_in.begin(pause=0.0)
    mark, seconds = f"stream{time.time():.0f}", 5 + targets / 1000
    with workers_frozen(service):
        posts = loading.due_posts(service, count=targets, mark=mark, seconds=seconds, per_second=per_second)
    if time.time() > posts.due.timestamp():
        raise RuntimeError("The posts were not all stored before they were due.")
    due = posts.due.timestamp()
    return sorted(at - due - int(text.rpartition(" ")[2]) // per_second for text, at in _wait_for(service, posts))


def bare_drain(service: Service, *, targets: int) -> float:
    """Publish as `drain` does, with the bare loop while the workers are frozen; return its seconds."""
    with workers_frozen(service):
        posts = loading.due_posts(service, count=targets, mark=f"bare{time.time():.0f}", seconds=1)
        time.sleep(max(0.0, posts.due.timestamp() - time.time()))
        count, seconds = bare_publisher.publish_all(service.stack.environ["DATABASE_URL"])
    if count != targets:
        raise RuntimeError(f"The bare loop published {count} of {targets} targets.")
    _ended_at(service, posts)
    return seconds


def _wait_for(service: Service, posts: Copies) -> list[tuple[str, float]]:
    """Return the posts that the platform received, (text, Unix seconds). Raises RuntimeError unless each came once."""
    deadline = posts.due.timestamp() + MOST_SECONDS
    while service.stand_in.count() < posts.count and time.time() < deadline:
        time.sleep(0.5)
    query = "SELECT FROM posts_postgroup WHERE id BETWEEN %s AND %s AND finished_at IS NULL"
    with loading.connect(service) as connection:
        while connection.execute(query, [posts.first_id, posts.last_id]).fetchall() and time.time() < deadline:
            time.sleep(0.1)
    received = service.stand_in.received()
    if sorted(text for text, _ in received) != sorted(f"{posts.mark} {number}" for number in range(posts.count)):
        raise RuntimeError(f"{posts.count} were due, {len(received)} came, {len(dict(received))} different ones.")
    return received


def _ended_at(service: Service, posts: Copies) -> float:
    """Return when the last target was stored as published, in Unix seconds. Raises RuntimeError when one is not published."""
    query = "SELECT status, count(*), max(finished_at) FROM posts_postgroup WHERE id BETWEEN %s AND %s GROUP BY 1"
    with loading.connect(service) as connection:
        found = connection.execute(query, [posts.first_id, posts.last_id]).fetchall()
    if [(row["status"], row["count"]) for row in found] != [("published", posts.count)]:
        raise RuntimeError(f"Not all are published: {[(row['status'], row['count']) for row in found]}.")
    last: datetime = found[0]["max"]
    return last.astimezone(UTC).timestamp()


def check_books(service: Service) -> None:
    """Raise RuntimeError when a month's counter differs from its ledger."""
    if months := int(service.stack.run("manage.py", "shell", "--no-imports", "-c", DRIFT).split()[-1]):
        raise RuntimeError(f"Counters and ledger differ in {months} months.")


def rows(service: Service, targets: int = TARGETS) -> list[Row]:
    """Measure the bare loop before and after the drain, so that changes of the machine's speed affect both; then lateness."""
    if not service.on_postgres:
        return []
    drain(service, targets=200)  # the workers have opened their connections then
    before = bare_drain(service, targets=targets)
    seconds = drain(service, targets=targets)
    bare = (before + bare_drain(service, targets=targets)) / 2
    late = lateness(service, targets=targets, per_second=PER_SECOND)
    check_books(service)
    first, middle, last = shares(late)
    name = f"{targets:,} due targets published, a second"
    stream = f"{PER_SECOND:,} targets due each second, {targets:,} in all: p99 of the lateness, s"
    reference = f"{targets / bare:.0f}/s in bare SQL"
    return [
        at_least(name, f"{targets / seconds:.0f}/s", bare / seconds, 0.35, reference=reference),
        at_most(stream, f"{last:.2f} s (p50 {middle:.2f} s, first {first:.2f} s)", last, 2.0),
    ]
