"""Waits until another thread has done something."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


def wait_until(true: Callable[[], bool]) -> None:
    """Call `true` until it returns True; raise AssertionError after 20 s."""
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)
