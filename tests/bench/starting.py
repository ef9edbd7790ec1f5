"""Benchmarks the second start of `manage.py up`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import requests

from tests.bench.measure import Row, at_most
from tests.bench.service import LOOPBACK
from tests.chaos.processes import free_port
from tests.chaos.stack import ROOT, CannotRun

SECONDS = 60.0


def rows() -> list[Row]:
    """Measure the second start; the first creates the database and the demo."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        _seconds_to_answer(Path(folder))
        seconds = _seconds_to_answer(Path(folder))
    return [at_most("manage.py up, second start to first answer, s", f"{seconds:.2f} s", seconds, 3.0)]


def _seconds_to_answer(folder: Path) -> float:
    port, began = free_port(), time.monotonic()
    environ = {**os.environ, "DATABASE_URL": "", "REDIS_URL": "", "DATA_DIR": str(folder)}
    environ = {name: value for name, value in environ.items() if value or name not in ("DATABASE_URL", "REDIS_URL")}
    command = [sys.executable, "manage.py", "up", "--port", str(port), "--data-dir", str(folder)]
    up = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not _answers(port):
            if up.poll() is not None or time.monotonic() - began > SECONDS:
                raise CannotRun("manage.py up did not answer.")
            time.sleep(0.02)
        return time.monotonic() - began
    finally:
        up.send_signal(signal.SIGTERM)
        up.wait(30)


def _answers(port: int) -> bool:
    try:
        return LOOPBACK.get(f"http://127.0.0.1:{port}/healthz", timeout=1).ok
    except requests.RequestException:
        return False
