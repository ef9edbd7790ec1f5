"""The worker loop that publishes: it claims due targets platform by platform and publishes them in a pool of threads."""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from functools import reduce
from operator import or_

from django.db import Error, close_old_connections, connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from config import metrics
from config.db.connection import release_connection
from config.jobs.due import LookPast, claim_due, due, give_back
from config.jobs.fair_shares import FairShares, Shares
from config.jobs.worker_loop import POLL_SECONDS, WorkerLoop
from posts.models import PostTarget
from posts.publishing.attempts import Attempt, begin_attempts
from posts.publishing.engine import LEASE, claimable, continue_attempt, publish_target
from posts.publishing.preconditions import take_account_turns
from posts.publishing.writer import Writer

logger = logging.getLogger(__name__)
RENEW_SECONDS = LEASE.total_seconds() / 4
# The bulkheads: a platform gets half of the threads that the others leave, an account few of them, and fewer while it is
# not known to be quick. So a platform (or somebody's own server) that hangs leaves threads for others.
THREADS = 256
SHARES = Shares(places=THREADS, quick=24, slow=4, slow_together=32)
MAX_SLOW_PER_PLATFORM = 8
PAUSE_SECONDS = 0.02  # between two looks, or claims of a platform, so that the second finds more
MIN_FREE_PLACES = 24  # a platform's free places before more is claimed ahead of the poll: few cost as much as many


class PublishLoop(WorkerLoop):
    """`run_once` claims as many targets as have places.

    Each target frees its place when it ends, and wakes the loop when many places are free.
    """

    name = "publish"

    def __init__(self) -> None:
        super().__init__()
        self._writer = Writer()
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="publish", initializer=self._writer.serve)
        self._lock = threading.Lock()
        self._all_ended = threading.Condition(self._lock)
        self._shares = FairShares(SHARES)
        self._in_hand: dict[int, PostTarget] = {}  # by the attempts' id()
        self._due: list[str] = []
        self._claimed: dict[str, float] = {}
        self._past_quick: defaultdict[str, LookPast] = defaultdict(LookPast)
        self._looked = float("-inf")
        self._over = threading.Event()

    def start(self) -> None:
        self._writer.start()
        threading.Thread(target=self._keep_leases, name="publish-leases", daemon=True).start()
        super().start()

    def run_once(self) -> bool:
        for platform in list(self._platforms_with_due()):
            claimed_at = self._claimed.get(platform, float("-inf"))
            if self._room(platform) < MIN_FREE_PLACES and time.monotonic() - claimed_at < POLL_SECONDS:
                continue
            _pause_since(claimed_at)
            if self.stopping:
                break
            self._claimed[platform] = time.monotonic()
            if not self._publish_some(platform):
                self._due.remove(platform)
        return False

    def finish(self, seconds: float) -> None:
        """Let what is being published end; what has not begun was never claimed, or is given back.

        What takes longer goes on until the process is ended, and stays this worker's as long as that.
        """
        hangs = self._thread.is_alive()
        with self._all_ended:
            ended = self._all_ended.wait_for(lambda: not self._in_hand, timeout=seconds)
        if ended and not hangs:
            self._pool.shutdown(wait=False)
            self._writer.stop(seconds)
            self._over.set()

    def _platforms_with_due(self) -> list[str]:
        """The platforms that have due targets: looked for at each poll and, while there are none, at each wake-up."""
        if not self._due or time.monotonic() - self._looked >= POLL_SECONDS:
            _pause_since(self._looked)
            targets = due(PostTarget.objects.all()).order_by()
            self._due = list(targets.values_list("platform", flat=True).distinct())
            self._looked = time.monotonic()
        return self._due

    def _room(self, platform: str) -> int:
        """How many more of a platform's targets may be in hand: a half of what the others leave is its own."""
        with self._lock:
            here = sum(each.platform == platform for each in self._in_hand.values())
            return (THREADS - (len(self._in_hand) - here)) // 2 - here

    def _publish_some(self, platform: str) -> bool:
        """Claim due targets of a platform and hand them to the threads; whether there were any."""
        claimed = self._claim(claimable().filter(platform=platform), platform)
        with self._lock:
            taken = [target for target in claimed if self._shares.take(target.account_id)]
        attempts: list[Attempt] = []
        try:
            attempts = self._taken_up(claimed, taken)
        finally:
            going_on = {attempt.target.pk for attempt in attempts}
            with self._lock:
                self._in_hand |= {id(attempt): attempt.target for attempt in attempts}
                for target in taken:
                    if target.pk not in going_on:
                        self._shares.release(target.account_id, None)
        for attempt in attempts:
            self._submit(attempt)
        if len(going_on) < len(claimed):  # whose places, or turns at the front, are free for others
            self.wake()
        return bool(claimed)

    def _taken_up(self, claimed: Sequence[PostTarget], taken: Sequence[PostTarget]) -> list[Attempt]:
        """The attempts at the targets that have a place; the others are given back."""
        pks = set() if self.stopping else {target.pk for target in taken}
        give_back([target for target in claimed if target.pk not in pks])
        ready = take_account_turns([target for target in taken if target.pk in pks])
        return copy_context().run(begin_attempts, ready)  # which speaks of one target after another in the logs

    def _claim(self, rows: QuerySet[PostTarget], platform: str) -> list[PostTarget]:
        """Due targets with room: first of accounts that are known to be quick, then of the others."""
        free = self._room(platform)
        with self._lock:
            room, left_out = self._shares.room_at_quick(), self._shares.left_out()
            free_for_slow = self._shares.places_for_slow
            here = [each for each in self._in_hand.values() if each.platform == platform]
            slow_here = sum(not self._shares.is_quick(each.account_id) for each in here)
            # Claims that may have run out while the database was away: theirs must not be taken from this worker itself.
            old = timezone.now() + LEASE / 2
            mine = [each.pk for each in self._in_hand.values() if each.lease_until is None or each.lease_until < old]
        rows = rows.exclude(pk__in=mine)
        quick = claim_due(
            rows.filter(account_id__in=room), limit=min(free, sum(room.values())), lease=LEASE, looked=True
        )
        limit = min(free - len(quick), free_for_slow, MAX_SLOW_PER_PLATFORM - slow_here)
        others = rows.exclude(account_id__in=left_out)
        return quick + self._past_quick[platform](lambda: claim_due(others, limit=limit, lease=LEASE))

    def _submit(self, attempt: Attempt) -> None:
        try:
            self._pool.submit(self._work, attempt, time.monotonic())
        except RuntimeError:  # no thread could be started; those that there are come to it
            logger.exception("There is no thread for %s at the moment.", attempt.target.id)

    def _work(self, attempt: Attempt, began: float) -> None:
        try:
            _tell_lateness(attempt.target)
            continue_attempt(attempt)
        finally:
            release_connection()
            self._done(attempt, time.monotonic() - began)

    def _done(self, attempt: Attempt, seconds: float) -> None:
        target = attempt.target
        with self._all_ended:
            del self._in_hand[id(attempt)]
            self._shares.release(target.account_id, None if attempt.stop or attempt.fault else seconds)
            idle = not self._in_hand
            if idle:
                self._all_ended.notify_all()
        if idle or self._room(target.platform) >= MIN_FREE_PLACES:
            self.wake()

    def _keep_leases(self) -> None:
        """Short leases, renewed while the work goes on: what a killed worker held is taken over within seconds, and a
        long step is not taken from a worker that lives. A thread of its own, because the loop may wait for a lock."""
        while not self._over.wait(RENEW_SECONDS):
            try:
                close_old_connections()
                self._renew_leases()
            except Error:  # the database is away, and lends nothing to others either
                connection.close()
        connection.close()

    def _renew_leases(self) -> None:
        with self._lock:
            mine = [Q(pk=target.pk, fence=target.fence) for target in self._in_hand.values()]
        if mine:
            rows = PostTarget.objects.filter(reduce(or_, mine), lease_until__isnull=False).order_by("pk")
            with transaction.atomic():  # what somebody is writing at this moment needs no longer lease
                free = list(rows.select_for_update(skip_locked=True).values_list("pk", flat=True))
                PostTarget.objects.filter(pk__in=free).update(lease_until=timezone.now() + LEASE)


def _pause_since(moment: float) -> None:
    time.sleep(max(0.0, moment + PAUSE_SECONDS - time.monotonic()))


def _tell_lateness(target: PostTarget) -> None:
    if target.due_at is not None:
        late = (timezone.now() - target.due_at).total_seconds()
        with suppress(OSError):  # a full disk, where metrics are counted, keeps nothing from going out
            metrics.LATENESS.labels("sandbox" if target.sandbox else target.platform).observe(late)


def publish_due(*, limit: int = 100) -> int:
    """Claim what is due and publish it in this thread, one after another; returns how many. For commands and tests."""
    claimed = claim_due(claimable(), limit=limit, lease=LEASE)
    for target in take_account_turns(claimed):
        publish_target(target)
    return len(claimed)
