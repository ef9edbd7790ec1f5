"""What the processes hold after all the work, beside what they held before it."""

from __future__ import annotations

from pathlib import Path

from tests.bench.measure import Row, at_most
from tests.bench.service import Service

MOST_MB = {"web": 160.0, "worker": 220.0}


def held_mb(service: Service) -> dict[str, float]:
    """The resident memory of the largest process of each kind, in MB; gunicorn's and celery's own parents aside."""
    return {kind: max(_resident(pid) for pid in service.stack.pids(kind)) for kind in MOST_MB}


def rows(service: Service) -> list[Row]:
    """Each kind beside its bound."""
    held = held_mb(service)
    return [
        at_most(f"memory of a {kind} process after the above, MB", f"{held[kind]:.0f} MB", held[kind], most)
        for kind, most in MOST_MB.items()
    ]


def _resident(pid: int) -> float:
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line)
    return int(fields["VmRSS"].split()[0]) / 1000
