"""The publish duty of a worker: claims due targets platform by platform and publishes them in a pool of threads."""

from __future__ import annotations

import logging
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial, reduce
from operator import or_

from django.db import DatabaseError, close_old_connections, connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from config import metrics
from config.db.connection import trust_if_fresh
from config.db.due import claim_due, due, give_back
from config.db.duty import POLL_SECONDS, PollingDuty
from config.db.fair_shares import FairShares, Shares
from posts.models import PostTarget
from posts.publishing.beforehand import with_their_turns
from posts.publishing.engine import LEASE, claimable, publish_target

logger = logging.getLogger(__name__)
RENEW_SECONDS = LEASE.total_seconds() / 4
# The bulkheads: a slow account holds few of the threads, the slow ones of a platform a quarter, so that a platform (or
# somebody's own server) that hangs delays nothing else.
# More is claimed than there are threads, so that none is idle while the next targets are claimed.
THREADS = 32
SHARES = Shares(places=64, quick=24, slow=4, slow_together=24)
SLOW_OF_A_PLATFORM = 8
WORTH_A_LOOK = 24  # places that are free before more is claimed ahead of the poll: a claim costs as one of them


class PublishDuty(PollingDuty):
    """`run_once` claims as many targets as there are free threads; each target frees its thread and rings for more."""

    name = "publish"

    def __init__(self) -> None:
        super().__init__()
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="publish")
        self._lock = threading.Lock()
        self._shares = FairShares(SHARES)
        self._in_hand: dict[Future[None], PostTarget] = {}
        self._renewed = self._claimed = time.monotonic()
        self._platforms: list[str] = []
        self._looked = time.monotonic()

    def run_once(self) -> bool:
        self._renew_leases()
        if self._shares.places < WORTH_A_LOOK and time.monotonic() - self._claimed < POLL_SECONDS:
            return False
        self._claimed = time.monotonic()
        for platform in list(self._platforms_with_due()):
            claimed = self._claim(claimable().filter(platform=platform), platform)
            for target in with_their_turns(claimed):
                self._submit(target)
            if not claimed:
                self._platforms.remove(platform)
        return False

    def finish(self, seconds: float) -> None:
        """Let what is being published end; what has not begun is given back to the other workers.

        What takes longer goes on until the process is ended, and stays this worker's as long as that.
        """
        with self._lock:
            in_hand = dict(self._in_hand)
        # Outside the lock: a future that is cancelled calls `_done` in this thread.
        waiting = {future: target for future, target in in_hand.items() if future.cancel()}
        with suppress(DatabaseError):  # their leases will give them back
            give_back(PostTarget.objects.all(), waiting.values())
        wait(in_hand.keys() - waiting.keys(), timeout=seconds)
        self._pool.shutdown(wait=False, cancel_futures=True)
        threading.Thread(target=self._keep_leases, name="publish-leases", daemon=True).start()

    def _platforms_with_due(self) -> list[str]:
        """The platforms that have due targets: looked for at each poll and, while there are none, at each ring."""
        if not self._platforms or time.monotonic() - self._looked >= POLL_SECONDS:
            targets = due(PostTarget.objects.all()).order_by()
            self._platforms = list(targets.values_list("platform", flat=True).distinct())
            self._looked = time.monotonic()
        return self._platforms

    def _claim(self, rows: QuerySet[PostTarget], platform: str) -> list[PostTarget]:
        """Due targets with room: first of accounts that are known to be quick, then of the others."""
        with self._lock:
            room, left_out = self._shares.room_at_quick(), self._shares.left_out()
            free, free_for_slow = self._shares.places, self._shares.places_for_slow
            here = [each for each in self._in_hand.values() if each.platform == platform]
            slow_here = sum(not self._shares.is_quick(each.account_id) for each in here)
            # Claims that may have run out while the database was away: theirs must not be taken from this worker itself.
            old = timezone.now() + LEASE / 2
            mine = [each.pk for each in self._in_hand.values() if each.lease_until is None or each.lease_until < old]
        rows = rows.exclude(pk__in=mine)
        quick = claim_due(
            rows.filter(account_id__in=room), limit=min(free, sum(room.values())), lease=LEASE, looked=True
        )
        limit = min(free - len(quick), free_for_slow, SLOW_OF_A_PLATFORM - slow_here)
        return quick + claim_due(rows.exclude(account_id__in=left_out), limit=limit, lease=LEASE)

    def _submit(self, target: PostTarget) -> None:
        with self._lock:
            taken = self._shares.take(target.account_id)
        if not taken:  # its account is full now, so the next claim passes it by
            give_back(PostTarget.objects.all(), [target])
            return
        future = self._pool.submit(_publish, target)
        with self._lock:
            self._in_hand[future] = target
        future.add_done_callback(partial(self._done, time.monotonic()))

    def _done(self, began: float, future: Future[None]) -> None:
        with self._lock:
            target = self._in_hand.pop(future)
            self._shares.release(target.account_id, time.monotonic() - began)
            free = self._shares.places
        if free >= WORTH_A_LOOK or free == SHARES.places:
            self.wake()

    def _renew_leases(self) -> None:
        """Short leases, renewed while the work goes on: what a killed worker held is taken over within seconds, and a
        long step is not taken from a worker that lives."""
        if time.monotonic() - self._renewed < RENEW_SECONDS:
            return
        with self._lock:
            mine = [Q(pk=target.pk, fence=target.fence) for target in self._in_hand.values()]
        if mine:
            rows = PostTarget.objects.filter(reduce(or_, mine), lease_until__isnull=False).order_by("pk")
            with transaction.atomic():  # what somebody is writing at this moment needs no longer lease
                free = list(rows.select_for_update(skip_locked=True).values_list("pk", flat=True))
                PostTarget.objects.filter(pk__in=free).update(lease_until=timezone.now() + LEASE)
        self._renewed = time.monotonic()

    def _keep_leases(self) -> None:
        while self._in_hand:
            with suppress(DatabaseError):
                self._renew_leases()
            time.sleep(1.0)
        connection.close()


def publish_due(*, limit: int = 100) -> int:
    """Claim what is due and publish it in this thread, one after another; returns how many. For commands and tests."""
    claimed = claim_due(claimable(), limit=limit, lease=LEASE)
    for target in with_their_turns(claimed):
        publish_target(target)
    return len(claimed)


def _publish(target: PostTarget) -> None:
    if target.due_at is not None:
        late = (timezone.now() - target.due_at).total_seconds()
        metrics.LATENESS.labels("sandbox" if target.sandbox else target.platform).observe(late)
    close_old_connections()
    trust_if_fresh()
    try:
        publish_target(target)
    except Exception:  # the database was away, most likely: the claim runs out and the row is taken up again
        logger.exception("%s was left in the middle.", target.id)
    finally:
        close_old_connections()
