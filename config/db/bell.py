"""The bell: after a commit, tell the workers that a row may be due.

A ring is only a nudge. It may be lost, doubled or late; the workers also poll. So a broker that is away costs at most a
poll's interval, and a request never waits for one.
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
RING_TASK = "config.ring"
PAUSE_AFTER_FAILURE = 5.0  # seconds without another try, so that a broker that is away does not slow every request

_wakers: dict[str, Callable[[], None]] = {}
_under_way: set[str] = set()  # the duties whose ring is being sent: another one would say nothing new
_lock = threading.Lock()
_silent_until = 0.0


def answer_with(duty: str, waker: Callable[[], None] | None) -> None:
    """In a worker: call `waker` when the bell of `duty` rings in this process; None takes it away again."""
    if waker is None:
        _wakers.pop(duty, None)
    else:
        _wakers[duty] = waker


def ring(duty: str) -> None:
    """Ring for a duty (`publish`, `deliver`) once the running transaction has committed."""
    transaction.on_commit(lambda: ring_now(duty), robust=True)


def ring_now(duty: str) -> None:
    """Wake this process's own worker when it has one, otherwise send the ring through the broker, if there is one.

    It is sent by a thread: a broker that is away holds a sender for 5 s and more, whatever time-outs it is given.
    """
    if duty in _wakers:
        _wakers[duty]()
        return
    if not settings.REDIS_URL or time.monotonic() < _silent_until:
        return
    with _lock:
        if duty in _under_way:
            return
        _under_way.add(duty)
    threading.Thread(target=_send, args=(duty,), name=f"bell-{duty}", daemon=True).start()


def _send(duty: str) -> None:
    global _silent_until
    try:
        current_app.send_task(RING_TASK, args=[duty], retry=False, expires=60)
    except Exception as error:  # whatever the broker's client raises: the poll will find the row
        _silent_until = time.monotonic() + PAUSE_AFTER_FAILURE
        logger.warning("The bell for %s could not be rung (%s); the poll will find the row.", duty, error)
    finally:
        _under_way.discard(duty)
