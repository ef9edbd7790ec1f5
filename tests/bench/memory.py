"""Measures the processes' memory after the benchmark, compared with the start."""

from __future__ import annotations

from pathlib import Path

from tests.bench import deliveries, publishing
from tests.bench.measure import Row, at_most
from tests.bench.service import Service

MOST_MB = {"web": 160.0, "worker": 220.0}
MOST_GROWTH = 1.1  # of what was held after the warm-up
WARM_UP = 400  # posts, and deliveries; TLS alone takes ten megabytes at its first use


def held_mb(service: Service) -> dict[str, float]:
    """Return the resident memory of the largest process of each kind in MB, without gunicorn's and Celery's parents."""
    return {kind: max(_resident(pid) for pid in service.stack.pids(kind)) for kind in MOST_MB}


def begin(service: Service) -> None:
    """Run every operation a few times, so that code is loaded and threads run, and record the memory used then."""
    publishing.lateness(service, targets=WARM_UP, pause=0.05, seconds=60)
    tls = (service.certificate, service.certificate_key)
    receivers = deliveries.Receivers(service.stack, silent=0, tls=tls)
    deliveries.publish_now(service, urls=[receivers.url] * WARM_UP)
    receivers.wait_for(WARM_UP, seconds=60)
    service.held_at_start = held_mb(service)


def rows(service: Service) -> list[Row]:
    """Return a row for each kind of process: its memory, its limit and its memory at the start."""
    held, start = held_mb(service), service.held_at_start
    bounds = [
        at_most(f"memory of a {kind} process after the above, MB", f"{held[kind]:.0f} MB", held[kind], most)
        for kind, most in MOST_MB.items()
    ]
    growth = [
        at_most(
            f"memory of a {kind} process after the above, beside its start",
            f"{held[kind]:.0f} MB",
            held[kind] / start[kind],
            MOST_GROWTH,
            reference=f"{start[kind]:.0f} MB",
        )
        for kind in start
    ]
    return bounds + growth


def _resident(pid: int) -> float:
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line)
    return int(fields["VmRSS"].split()[0]) / 1000
