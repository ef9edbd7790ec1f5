"""Measures what callers notice of an outage: Redis refused or frozen, PostgreSQL stopped and restarted."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import quantiles

from tests.bench.measure import Row, at_most
from tests.bench.service import Service

POSTS = 200
RECOVERY_SECONDS = 5.0


@contextmanager
def redis_refuses(service: Service) -> Iterator[None]:
    """Stop Redis during the block."""
    redis = service.stack.redis
    assert redis is not None
    redis.stop(signal.SIGKILL)
    try:
        yield
    finally:
        redis.wanted = True


@contextmanager
def redis_frozen(service: Service) -> Iterator[None]:
    """Freeze Redis during the block: it accepts connections and never answers."""
    redis = service.stack.redis
    assert redis is not None
    [pid, *_] = redis.pids()
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def publish_at_once(service: Service, mark: str) -> tuple[float, float]:
    """Create posts that are due at once; return the p99 of the answers and the longest delay to the platform, in seconds."""
    service.stand_in.begin(pause=0.0)
    took: list[float] = []
    answered: dict[str, float] = {}
    for number in range(POSTS):
        text, began = f"{mark} {number}", time.monotonic()
        account = service.accounts[number % len(service.accounts)]
        targets = [{"platform": "bluesky", "connected_account_id": account}]
        service.call("POST", "/posts", {"workspace_id": service.workspace_id, "text": text, "targets": targets})
        took.append(time.monotonic() - began)
        answered[text] = time.time()
    deadline = time.monotonic() + 30
    received: dict[str, float] = {}
    while len(received) < POSTS and time.monotonic() < deadline:
        time.sleep(0.5)
        received = dict(service.stand_in.received())
    if received.keys() != answered.keys():
        raise RuntimeError(f"{POSTS} posts were taken and {len(received)} came.")
    return quantiles(took, n=100)[98], max(received[text] - at for text, at in answered.items())


def seconds_until_work_again(service: Service) -> float:
    """Return how many seconds after PostgreSQL's return a post that became due in the outage is published."""
    postgres = service.stack.postgres
    assert postgres is not None
    service.stand_in.begin(pause=0.0)
    postgres.stop(signal.SIGINT)
    time.sleep(8)
    postgres.wanted = True
    while not postgres.answers():
        time.sleep(0.05)
    back = time.time()
    publish = {"platform": "bluesky", "connected_account_id": service.accounts[0]}
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            service.call(
                "POST", "/posts", {"workspace_id": service.workspace_id, "text": f"back {back}", "targets": [publish]}
            )
            break
        except RuntimeError:
            time.sleep(0.1)
    while time.monotonic() < deadline:
        if received := service.stand_in.received():
            return received[0][1] - back
        time.sleep(0.1)
    raise RuntimeError("Nothing went out within a minute after PostgreSQL was back.")


def rows(service: Service) -> list[Row]:
    """Measure with Redis, with Redis refusing and with Redis frozen, then during an outage of PostgreSQL."""
    found: list[Row] = []
    _, usual = publish_at_once(service, "redis there")
    for name, away in (("refuses", redis_refuses), ("is frozen", redis_frozen)):
        with away(service):
            slowest, way = publish_at_once(service, f"redis {name}")
        time.sleep(RECOVERY_SECONDS)
        found.append(at_most(f"Redis {name}: p99 of POST /posts, s", f"{slowest:.2f} s", slowest, 1.0))
        later = way - usual
        measurement = f"Redis {name}: slowest way to the platform, s more"
        found.append(at_most(measurement, f"{way:.2f} s", later, 2.0, reference=f"{usual:.2f} s"))
    seconds = seconds_until_work_again(service)
    return [*found, at_most("PostgreSQL back to the first post out, s", f"{seconds:.2f} s", seconds, 15.0)]
