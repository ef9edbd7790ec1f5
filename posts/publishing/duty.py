"""The publish duty of a worker: claims due targets platform by platform and publishes them in a pool of threads."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import reduce
from operator import or_

from django.db import close_old_connections
from django.db.models import Q
from django.utils import timezone

from config.db.due import claim_due, due, give_back
from config.db.duty import PollingDuty
from posts.models import PostTarget
from posts.publishing.engine import LEASE, publish_target

logger = logging.getLogger(__name__)
IN_FLIGHT = 24
RENEW_SECONDS = LEASE.total_seconds() / 4
IN_FLIGHT_OF_A_PLATFORM = 8  # the bulkhead: a slow platform holds a third of the threads at most


class PublishDuty(PollingDuty):
    """`run_once` claims as many targets as there are free threads; each target frees its thread and rings for more."""

    name = "publish"

    def __init__(self) -> None:
        super().__init__()
        self._pool = ThreadPoolExecutor(IN_FLIGHT, thread_name_prefix="publish")
        self._lock = threading.Lock()
        self._in_flight: Counter[str] = Counter()
        self._futures: dict[Future[None], PostTarget] = {}
        self._renewed = time.monotonic()

    def run_once(self) -> bool:
        self._renew_leases()
        for platform in due(PostTarget.objects.all()).order_by().values_list("platform", flat=True).distinct():
            for target in claim_due(
                PostTarget.objects.filter(platform=platform), limit=self._room(platform), lease=LEASE
            ):
                self._submit(target)
        return False

    def finish(self, seconds: float) -> None:
        """Let what is being published end; what has not begun is given back to the other workers."""
        with self._lock:
            futures = dict(self._futures)
        # Outside the lock: a future that is cancelled calls `_done` in this thread.
        waiting = {future: target for future, target in futures.items() if future.cancel()}
        give_back(PostTarget.objects.all(), waiting.values())
        wait(futures.keys() - waiting.keys(), timeout=seconds)
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _renew_leases(self) -> None:
        """Short leases, renewed while the work goes on: what a killed worker held is taken over within seconds, and a
        long step is not taken from a worker that lives."""
        if time.monotonic() - self._renewed < RENEW_SECONDS:
            return
        self._renewed = time.monotonic()
        with self._lock:
            mine = [Q(pk=target.pk, fence=target.fence) for target in self._futures.values()]
        if mine:
            rows = PostTarget.objects.filter(reduce(or_, mine), lease_until__isnull=False)
            rows.update(lease_until=timezone.now() + LEASE)

    def _room(self, platform: str) -> int:
        with self._lock:
            return min(IN_FLIGHT_OF_A_PLATFORM - self._in_flight[platform], IN_FLIGHT - self._in_flight.total())

    def _submit(self, target: PostTarget) -> None:
        with self._lock:
            self._in_flight[target.platform] += 1
        future = self._pool.submit(_publish, target)
        with self._lock:
            self._futures[future] = target
        future.add_done_callback(self._done)

    def _done(self, future: Future[None]) -> None:
        with self._lock:
            target = self._futures.pop(future)
            self._in_flight[target.platform] -= 1
        self.wake()


def publish_due(*, limit: int = 100) -> int:
    """Claim what is due and publish it in this thread, one after another; returns how many. For commands and tests."""
    claimed = claim_due(PostTarget.objects.all(), limit=limit, lease=LEASE)
    for target in claimed:
        publish_target(target)
    return len(claimed)


def _publish(target: PostTarget) -> None:
    close_old_connections()
    try:
        publish_target(target)
    except Exception:  # the database was away, most likely: the claim runs out and the row is taken up again
        logger.exception("%s was left in the middle.", target.id)
    finally:
        close_old_connections()
