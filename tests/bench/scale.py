"""Measures whether frequent reads stay fast with millions of rows: `make scale` (ARGS="--groups 5000000").

Starts a PostgreSQL server of its own, loads a short history and measures, loads a long one and measures again. Ends with 1
when a read became more than half as slow again, or reads a large table from end to end.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import django

from tests.bench.measure import Row, table
from tests.chaos.processes import PostgresServer, ProcessManager, postgres_binaries
from tests.chaos.stack import ROOT, CannotRun

SHORT = 10_000  # groups; each has two targets
LONG = 1_000_000
GOAL = 1.5
NOISE_SECONDS = 0.001  # what a read may take longer whatever the ratio says: the machine's own unrest


def rows(groups: int = LONG) -> list[Row]:
    """Measure in a separate process, whose settings name the server that is started here."""
    binaries = postgres_binaries()
    if binaries is None:
        raise CannotRun("No PostgreSQL server can be started here: install one (Debian: postgresql).")
    home = Path(tempfile.mkdtemp(prefix="scale-"))
    home.chmod(0o755)  # PostgreSQL runs as a user of its own
    manager = ProcessManager(random.Random(1))
    try:
        server = PostgresServer(binaries, home, home)
        manager.add(server)
        while not server.answers():
            time.sleep(0.2)
        environ = {**os.environ, "DATABASE_URL": server.url, "DATA_DIR": str(home), "REDIS_URL": ""}
        command = [sys.executable, "-m", "tests.bench.scale", "--groups", str(groups), "--json", "--here"]
        done = subprocess.run(command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, text=True, check=True)
        return [Row(**row) for row in json.loads(done.stdout)]
    finally:
        manager.stop_all()
        with suppress(OSError):
            shutil.rmtree(home)


def measured(groups: int) -> list[Row]:
    """Load the history and measure the reads in the database of the settings."""
    # Only now: Django has to be set up.
    from tests.bench.reads import Scene  # noqa: PLC0415

    scene = Scene()
    older = groups - SHORT
    scene.load(older + 1, groups, newest=groups)
    short = scene.seconds(groups - SHORT // 2)
    scene.load(1, older, newest=groups, report=lambda end: _say(f"{end:,} of {older:,} older groups are loaded"))
    long, whole = scene.seconds(groups // 2), scene.whole_tables(groups // 2)
    found = []
    for name, seconds in long.items():
        ratio = seconds / short[name]
        met = not whole[name] and (ratio <= GOAL or seconds - short[name] <= NOISE_SECONDS)
        ours = f"{1000 * seconds:.2f} ms" + (f", reads the whole of {', '.join(whole[name])}" if whole[name] else "")
        reference = f"{1000 * short[name]:.2f} ms at {SHORT:,}"
        found.append(Row(f"{name}, {groups:,} groups", ours, reference, round(ratio, 3), f"≤ {GOAL:g}", met))
    return found


def _say(line: str) -> None:
    sys.stderr.write(f"scale: {line}\n")
    sys.stderr.flush()


def main(arguments: list[str]) -> int:
    """Print the rows; the exit code is 1 when a goal was missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.scale", description="Reads with millions of rows.")
    parser.add_argument("--groups", type=int, default=5_000_000, help="post groups, each of two targets")
    parser.add_argument("--json", action="store_true", help="print the rows for machines")
    parser.add_argument("--here", action="store_true", help="in the empty database of DATABASE_URL")
    asked = parser.parse_args(arguments)
    if asked.here:
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        django.setup()
    try:
        found = measured(asked.groups) if asked.here else rows(asked.groups)
    except CannotRun as reason:
        sys.exit(str(reason))
    sys.stdout.write(json.dumps([row.as_dict() for row in found]) if asked.json else table(found))
    sys.stdout.write("\n")
    return 0 if asked.json else int(not all(row.met for row in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
