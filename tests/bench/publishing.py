"""Benchmarks the lateness of posts when many are due at once."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from statistics import quantiles

from tests.bench.measure import Row, at_least, at_most
from tests.bench.service import Service

BATCH = 50


def schedule(service: Service, *, targets: int, due: datetime, mark: str) -> None:
    """Create this many posts with one target each, due at the same time, spread over the accounts."""
    posts = [
        {
            "text": f"{mark} {number}",
            "scheduled_at": due.isoformat().replace("+00:00", "Z"),
            "targets": [{"platform": "bluesky", "connected_account_id": service.accounts[number % len(service.accounts)]}],
        }
        for number in range(targets)
    ]
    for begin in range(0, targets, BATCH):
        service.call("POST", "/posts/batch", {"workspace_id": service.workspace_id, "posts": posts[begin : begin + BATCH]})


def lateness(service: Service, *, targets: int, pause: float, seconds: float) -> list[float]:
    """Return the sorted lateness in seconds of each post at the platform; wait at most `seconds` for all of them."""
    service.stand_in.begin(pause=pause)
    mark = f"late{time.time():.0f}"
    due = (datetime.now(UTC) + timedelta(seconds=8 + targets / 40)).replace(microsecond=0)
    schedule(service, targets=targets, due=due, mark=mark)
    deadline = due.timestamp() + seconds
    if datetime.now(UTC) > due:
        raise RuntimeError("The posts were not all taken before they were due.")
    received: list[tuple[str, float]] = []
    while len(received) < targets and time.time() < deadline:
        time.sleep(1)
        if time.time() > due.timestamp() + 2:
            received = service.stand_in.received()
    if len({text for text, _ in received}) != targets or len(received) != targets:
        raise RuntimeError(f"{targets} were due, {len(received)} came, {len({text for text, _ in received})} different ones.")
    return sorted(at - due.timestamp() for _, at in received)


def shares(sorted_seconds: list[float]) -> tuple[float, float, float]:
    """Return the minimum, the median and the 99th percentile."""
    cuts = quantiles(sorted_seconds, n=100, method="inclusive")
    return sorted_seconds[0], cuts[49], cuts[98]


def rows(service: Service) -> list[Row]:
    """Measure a thousand targets due in the same second, on a platform that answers after 200 ms."""
    lateness(service, targets=100, pause=0.2, seconds=60)  # the workers have opened their connections then
    first, middle, last = shares(lateness(service, targets=1000, pause=0.2, seconds=120))
    name = "1,000 targets due in one second, platform 200 ms"
    return [
        at_most(f"{name}: p50 of the lateness, s", f"{middle:.2f} s", middle, 2.0),
        at_most(f"{name}: p99 of the lateness, s", f"{last:.2f} s", last, 15.0),
        at_least(f"{name}: the first, s", f"{first:.2f} s", first, 0.0),
    ]
