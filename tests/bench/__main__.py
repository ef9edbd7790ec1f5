"""`make bench`: one table of measurements, each beside its reference or its goal (ARGS="--json", "--only lateness")."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench import (
    api,
    deliveries,
    delivery_drains,
    drains,
    mcp,
    memory,
    outages,
    pages,
    publishing,
    scale,
    starting,
    texts,
)
from tests.bench.measure import Row, table
from tests.bench.service import Service, running
from tests.chaos.stack import CannotRun

# In this order on one running service; then those that need none of it.
ON_THE_SERVICE: dict[str, Callable[[Service], list[Row]]] = {
    "lateness": publishing.rows,
    "drains": drains.rows,
    "deliveries": lambda service: [*delivery_drains.rows(service), *deliveries.rows(service)],
    "outages": outages.rows,
    "memory": memory.rows,
    "api": api.rows,
    "mcp": mcp.rows,
}
# Each on a service of its own: the pages' goal is about 10,000 posts, and the others leave 50,000, most of them in this week.
ON_A_NEW_SERVICE: dict[str, Callable[[Service], list[Row]]] = {"pages": pages.rows}
ALONE: dict[str, Callable[[], list[Row]]] = {"start": starting.rows, "texts": texts.rows, "scale": scale.rows}

ALL = [*ON_THE_SERVICE, *ON_A_NEW_SERVICE, *ALONE]
ON_POSTGRES_ONLY = ("outages", "pages", "scale")


def main(arguments: list[str]) -> int:
    """Run the benchmark and print its table; return exit code 1 when a goal was missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="The service beside its goals.")
    parser.add_argument("--only", nargs="*", choices=ALL, help="these measurements alone")
    parser.add_argument("--embedded", action="store_true", help="on SQLite, without Redis: what can be measured there")
    parser.add_argument("--json", action="store_true", help="print the rows for machines")
    asked = parser.parse_args(arguments)
    wanted = asked.only or ALL
    try:
        rows = _measured(wanted, embedded=asked.embedded)
    except CannotRun as reason:
        sys.exit(str(reason))
    output = json.dumps([row.as_dict() for row in rows], indent=2) if asked.json else table(rows)
    sys.stdout.write(f"{output}\n")
    return int(not all(row.met for row in rows))


def _measured(wanted: list[str], *, embedded: bool) -> list[Row]:
    rows: list[Row] = []
    asked = [name for name in wanted if not (embedded and name in ON_POSTGRES_ONLY)]
    if on_service := [name for name in ON_THE_SERVICE if name in asked]:
        with _new_service(embedded=embedded) as service:
            if "memory" in on_service:
                memory.begin(service)
            for name in on_service:
                rows += _timed(name, lambda name=name: ON_THE_SERVICE[name](service))  # type: ignore[misc]
    for name in filter(asked.__contains__, ON_A_NEW_SERVICE):
        with _new_service(embedded=embedded) as service:
            rows += _timed(name, lambda name=name, service=service: ON_A_NEW_SERVICE[name](service))  # type: ignore[misc]
    for name in filter(asked.__contains__, ALONE):
        rows += _timed(name, ALONE[name])
    return rows


@contextmanager
def _new_service(*, embedded: bool) -> Iterator[Service]:
    """Run a service in a temporary folder, which is deleted after the block."""
    home = Path(tempfile.mkdtemp(prefix="bench-"))
    home.chmod(0o755)  # PostgreSQL runs as a user of its own
    with running(home, embedded=embedded) as service:
        yield service
    shutil.rmtree(home, ignore_errors=True)


def _timed(name: str, measure: Callable[[], list[Row]]) -> list[Row]:
    began = time.monotonic()
    sys.stderr.write(f"bench: {name} …\n")
    rows = measure()
    sys.stderr.write(f"bench: {name} took {time.monotonic() - began:.0f} s\n")
    return rows


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
