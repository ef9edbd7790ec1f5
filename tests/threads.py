"""Work done by many threads at the same moment."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.db import connection

Result = TypeVar("Result")


def at_once(number: int, work: Callable[[int], Result]) -> list[Result]:
    """What `work(0)`, `work(1)`, … returned, each in a thread with a connection of its own, all let go together."""
    gate = threading.Barrier(number)

    def run(n: int) -> Result:
        try:
            connection.ensure_connection()
            gate.wait(30)
            return work(n)
        finally:
            connection.close()

    with ThreadPoolExecutor(number) as threads:
        return list(threads.map(run, range(number)))
