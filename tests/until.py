"""Waiting for what other threads do."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


def wait_until(true: Callable[[], bool]) -> None:
    """Look until it is true; AssertionError after 20 s."""
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)
