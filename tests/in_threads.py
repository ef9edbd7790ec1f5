"""Runs a function in several threads that start at the same moment, for tests of races."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

from django.db import connection

Result = TypeVar("Result")


def in_threads(number: int, work: Callable[[int], Result]) -> list[Result]:
    """Run `work(n)` in `number` threads, each with its own database connection; return the results in order of n."""
    gate = Barrier(number)

    def run(n: int) -> Result:
        try:
            connection.ensure_connection()
            gate.wait(30)
            return work(n)
        finally:
            connection.close()

    with ThreadPoolExecutor(number) as threads:
        return list(threads.map(run, range(number)))
