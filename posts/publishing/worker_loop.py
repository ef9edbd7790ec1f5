"""The publishing worker's loop: claims due post targets of each platform and publishes them in a pool of threads."""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from functools import reduce
from operator import or_

from django.db import Error, close_old_connections, connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from config import metrics
from config.db.connection import close_connection_before_waiting
from config.jobs.claims import PauseAfterEmptySearch, release_claims, unclaimed_due_rows
from config.jobs.database_writer import BatchingDatabaseWriter, DatabaseWriter
from config.jobs.fair_shares import ConcurrentJobLimits, FairShares
from config.jobs.worker_loop import POLL_SECONDS, WorkerLoop
from posts.models import PostTarget
from posts.publishing.attempts import LEASE, Attempt, claim_targets
from posts.publishing.engine import begin_attempts, continue_attempt

logger = logging.getLogger(__name__)
RENEW_SECONDS = LEASE.total_seconds() / 4
# Bulkheads: a platform gets at most half of the threads that others leave, an account a few, and fewer while it is slow.
# So a platform or server that hangs leaves threads for the others.
THREADS = 256
SHARES = ConcurrentJobLimits(slots=THREADS, quick=24, slow=4, slow_together=32)
MAX_SLOW_PER_PLATFORM = 8
PAUSE_SECONDS = 0.02  # minimum time between two queries, so that the second one finds more rows
MIN_FREE_PLACES = 24  # number of a platform's free threads that justifies a claim before the next poll


class PublishLoop(WorkerLoop):
    """The publishing worker's loop, which claims no more due post targets than the worker has free threads.

    `pool` runs the attempts and `writer` writes their outcomes: threads and one writer thread, unless others are given.
    """

    name = "publish"

    def __init__(self, pool: Executor | None = None, writer: DatabaseWriter | None = None) -> None:
        super().__init__()
        self._pool = pool or ThreadPoolExecutor(THREADS, thread_name_prefix="publish")
        self._writer = writer or BatchingDatabaseWriter()
        self._lock = threading.Lock()
        self._all_ended = threading.Condition(self._lock)
        self._shares = FairShares(SHARES)
        self._in_progress: set[Attempt] = set()
        self._due: list[str] = []
        self._claimed_at: dict[str, float] = {}
        self._search_pauses: defaultdict[str, PauseAfterEmptySearch] = defaultdict(PauseAfterEmptySearch)
        self._queried_at = float("-inf")
        self._stopped = threading.Event()

    def start(self) -> None:
        self._writer.start()
        threading.Thread(target=self._keep_leases, name="publish-leases", daemon=True).start()
        super().start()

    def run_once(self) -> bool:
        for platform in list(self._platforms_with_due()):
            claimed_at = self._claimed_at.get(platform, float("-inf"))
            if self._free_places(platform) < MIN_FREE_PLACES and time.monotonic() - claimed_at < POLL_SECONDS:
                continue
            _pause_since(claimed_at)
            if self.stopping:
                break
            self._claimed_at[platform] = time.monotonic()
            if not self._publish_some(platform):
                self._due.remove(platform)
        return False

    def finish_current_work_and_stop(self, seconds: float) -> None:
        """Wait up to `seconds` until the worker has published the posts that it is publishing, then stop its threads.

        Work that takes longer continues until the process exits, and its leases are renewed until then.
        """
        hangs = self._thread.is_alive()
        with self._all_ended:
            ended = self._all_ended.wait_for(lambda: not self._in_progress, timeout=seconds)
        if ended and not hangs:
            self._pool.shutdown(wait=False)
            self._writer.stop(seconds)
            self._stopped.set()

    def _platforms_with_due(self) -> list[str]:
        """For the publishing worker's loop, return the platforms with due post targets, queried at most POLL_SECONDS ago."""
        if not self._due or time.monotonic() - self._queried_at >= POLL_SECONDS:
            _pause_since(self._queried_at)
            targets = unclaimed_due_rows(PostTarget.objects.all()).order_by()
            self._due = list(targets.values_list("platform", flat=True).distinct())
            self._queried_at = time.monotonic()
        return self._due

    def _free_places(self, platform: str) -> int:
        """Return how many more posts of a platform may begin: at most half of the threads that other platforms do not use."""
        with self._lock:
            here = sum(each.target.platform == platform for each in self._in_progress)
            return (THREADS - (len(self._in_progress) - here)) // 2 - here

    def _publish_some(self, platform: str) -> bool:
        """Claim due post targets of a platform and publish those for which threads are free; returns whether any were due."""
        claimed = self._claim(PostTarget.objects.filter(platform=platform), platform)
        taken, others, attempts = list[PostTarget](), list[PostTarget](), list[Attempt]()
        with self._lock:
            for target in claimed:
                free = not self.stopping and self._shares.try_take_job_slot(target.account_id)
                (taken if free else others).append(target)
        try:
            release_claims(others)
            attempts = copy_context().run(begin_attempts, taken, self._writer)  # a copy: each target sets the trace context
        finally:
            continuing = {attempt.target for attempt in attempts}
            with self._lock:
                self._in_progress.update(attempts)
                for target in taken:
                    if target not in continuing:
                        self._shares.record_job_end(target.account_id, None)
        for attempt in attempts:
            self._submit(attempt)
        if len(attempts) < len(claimed):  # others can take the places that became free
            self.wake()
        return bool(claimed)

    def _claim(self, rows: QuerySet[PostTarget], platform: str) -> list[PostTarget]:
        """Claim due post targets of a platform: first those of accounts that publish quickly, then the others."""
        free = self._free_places(platform)
        with self._lock:
            quick_places = self._shares.claimable_slots_by_quick_holder()
            excluded = self._shares.holders_excluded_from_slow_claims()
            free_for_slow = self._shares.free_slow_job_slots
            targets = [attempt.target for attempt in self._in_progress]
            slow_here = sum(each.platform == platform and not self._shares.is_quick(each.account_id) for each in targets)
            # Leases that may have expired while the database was down: this worker must not claim its own targets again.
            old = timezone.now() + LEASE / 2
            own = [each.pk for each in targets if each.lease_until is None or each.lease_until < old]
        rows = rows.exclude(pk__in=own)
        limit = min(free, sum(quick_places.values()))
        quick = claim_targets(rows.filter(account_id__in=quick_places), limit=limit, due_rows_found=True)
        limit = min(free - len(quick), free_for_slow, MAX_SLOW_PER_PLATFORM - slow_here)
        others = rows.exclude(account_id__in=excluded)
        return quick + self._search_pauses[platform](lambda: claim_targets(others, limit=limit))

    def _submit(self, attempt: Attempt) -> None:
        try:
            self._pool.submit(self._work, attempt, time.monotonic())
        except RuntimeError:  # no thread could be started; running threads will pick it up
            logger.exception("No thread could be started for %s.", attempt.target.id)

    def _work(self, attempt: Attempt, began: float) -> None:
        target = attempt.target
        try:
            _record_lateness(target)
            continue_attempt(attempt)
        finally:
            close_connection_before_waiting()
            seconds = None if attempt.stop or attempt.fault else time.monotonic() - began
            with self._all_ended:
                self._in_progress.remove(attempt)
                self._shares.record_job_end(target.account_id, seconds)
                idle = not self._in_progress
                self._all_ended.notify_all()
            if idle or self._free_places(target.platform) >= MIN_FREE_PLACES:
                self.wake()

    def _keep_leases(self) -> None:
        """Regularly extend the leases of the post targets that the worker is publishing, in a thread of its own.

        So a killed worker's targets are taken over within seconds, and a slow step retains its claim.
        """
        while not self._stopped.wait(RENEW_SECONDS):
            try:
                close_old_connections()
                self._renew_leases()
            except Error:  # the database is down, so nobody else can claim either
                connection.close()
        connection.close()

    def _renew_leases(self) -> None:
        with self._lock:
            own = [Q(pk=each.target.pk, fence=each.target.fence) for each in self._in_progress]
        if own:
            rows = PostTarget.objects.filter(reduce(or_, own), lease_until__isnull=False).order_by("pk")
            with transaction.atomic():  # rows locked by another write need no renewal
                free = list(rows.select_for_update(skip_locked=True).values_list("pk", flat=True))
                PostTarget.objects.filter(pk__in=free).update(lease_until=timezone.now() + LEASE)


def _pause_since(moment: float) -> None:
    time.sleep(max(0.0, moment + PAUSE_SECONDS - time.monotonic()))


def _record_lateness(target: PostTarget) -> None:
    if target.due_at is not None:
        late = (timezone.now() - target.due_at).total_seconds()
        with suppress(OSError):  # a full disk must not stop publishing
            metrics.PUBLISHING_LATENESS.labels("sandbox" if target.sandbox else target.platform).observe(late)
