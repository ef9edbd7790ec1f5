"""Wakes up worker loops after a commit that may have made a row due, so that the row does not wait for the next poll.

A wake-up may be lost, duplicated or late, because workers also poll. While the broker is down, work starts at most one poll
interval later. A request never waits for the broker.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from celery import current_app
from django.conf import settings
from django.db import transaction

logger = logging.getLogger(__name__)
WAKE_TASK = "config.wake"
PAUSE_AFTER_FAILURE = 5.0  # seconds without attempts, so that a broker outage does not slow every request

_wakers: dict[str, Callable[[], None]] = {}  # registered wakers, by the name of the worker loop
_under_way: set[str] = set()  # loops whose wake-up is being sent; another one would have no effect
_lock = threading.Lock()
_silent_until = 0.0


def set_worker_loop_wake_function(loop: str, waker: Callable[[], None] | None) -> None:
    """Register a function that wakes up a worker loop of this process; None removes the function."""
    if waker is None:
        _wakers.pop(loop, None)
    else:
        _wakers[loop] = waker


def wake_worker_loop_after_commit(loop: str) -> None:
    """Wake up a worker loop, such as `publish` or `mail`, as soon as the current transaction has committed."""
    transaction.on_commit(lambda: wake_worker_loop_now(loop), robust=True)


def wake_worker_loop_now(loop: str) -> None:
    """Wake up a worker loop now: directly if it runs in this process, otherwise by a message through the broker.

    A thread sends it, because a broker that is down blocks the sender for 5 s or more, whatever its time-outs are.
    """
    if loop in _wakers:
        _wakers[loop]()
        return
    if not settings.REDIS_URL or time.monotonic() < _silent_until:
        return
    with _lock:
        if loop in _under_way:
            return
        _under_way.add(loop)
    threading.Thread(target=_send, args=(loop,), name=f"wake-{loop}", daemon=True).start()


def _send(loop: str) -> None:
    global _silent_until
    try:
        current_app.send_task(WAKE_TASK, args=[loop], retry=False, expires=60)
    except Exception as error:  # whatever the broker's client raises: the poll will find the row
        _silent_until = time.monotonic() + PAUSE_AFTER_FAILURE
        logger.warning("The wake-up of %s could not be sent (%s); the poll will find the row.", loop, error)
    finally:
        _under_way.discard(loop)
