"""The base of the worker loops that send due rows as HTTP requests, many at a time, such as webhook deliveries.

All database work is done in the loop's thread, so that the sending thread never waits for it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from config.db.models import DueRow
from config.db.outage import DATABASE_ERRORS
from config.jobs.claims import release_claims
from config.jobs.database_writer import write_all_or_each
from config.jobs.fair_shares import FairShares
from config.jobs.worker_loop import WorkerLoop
from webhooks.sender import AttemptOutcome, DeliveryRequest, DeliveryVerdict
from webhooks.sending_thread import SendingThread

logger = logging.getLogger(__name__)
Row = TypeVar("Row", bound=DueRow)
Outcome = TypeVar("Outcome")


class HttpSendingLoop(WorkerLoop, Generic[Row, Outcome]):
    """The base class of worker loops that send due webhook deliveries or notices, each as one HTTP request.

    `shares` limits how many requests each holder, such as a workspace, may have in progress.
    """

    def __init__(self, shares: FairShares) -> None:
        super().__init__()
        self._shares = shares
        self._sending = SendingThread(when_finished=self.wake)
        self._in_flight: dict[str, Row] = {}
        self._unsaved: dict[str, AttemptOutcome | Outcome] = {}

    def start(self) -> None:
        self._sending.start()
        super().start()

    def run_once(self) -> bool:
        """Save the outcomes of finished HTTP requests and start those of due rows; return True if more rows may be due."""
        self._save_finished()
        claimed = self.claim()
        if not claimed:
            return False
        begun, over_share = list[Row](), list[Row]()
        for row in claimed:
            if str(row.pk) in self._in_flight:  # its lease ended before its attempt, for example while the machine slept
                continue
            (begun if self._shares.try_take_job_slot(self.fair_share_key(row)) else over_share).append(row)
        try:
            # The shares of these rows are full now, so the next claim skips them; another worker may claim them.
            release_claims(over_share)
            prepare = self.build_request_preparer(begun)
        except Exception:
            for row in begun:
                self._shares.record_job_end(self.fair_share_key(row), None)
            raise
        for row in begun:
            self._begin(row, prepare)
        return True

    def claim(self) -> list[Row]:
        """For subclasses of HttpSendingLoop: claim the due rows to send next, within fair shares of workspaces and hosts."""
        raise NotImplementedError

    def fair_share_key(self, row: Row) -> str:
        """For subclasses of HttpSendingLoop: return the key (such as a workspace's id) that limits the row's attempts."""
        raise NotImplementedError

    def build_request_preparer(self, rows: Sequence[Row]) -> Callable[[Row], DeliveryRequest | AttemptOutcome | Outcome]:
        """For subclasses of HttpSendingLoop: return a function that builds the HTTP request of one of the claimed rows.

        Where there is nothing to send, the function returns the outcome instead.
        """
        raise NotImplementedError

    def save_outcomes(self, outcomes: Sequence[tuple[Row, AttemptOutcome | Outcome]]) -> Sequence[object]:
        """For subclasses of HttpSendingLoop: save the outcomes of attempts, and return a result for each of them.

        The same outcomes may be given again, if they could not be saved together.
        """
        raise NotImplementedError

    def free_slot_in_fair_shares(self, row: Row, outcome: AttemptOutcome | Outcome) -> None:
        """Free a row's slot in the HttpSendingLoop's fair shares, after the attempt has ended and its outcome is saved."""
        seconds = outcome.seconds if isinstance(outcome, AttemptOutcome) else None
        self._shares.record_job_end(self.fair_share_key(row), seconds)

    def finish_current_work_and_stop(self, seconds: float) -> None:
        """Stop this HttpSendingLoop: wait up to `seconds` for attempts, save their outcomes, cancel unfinished ones.

        The claims of cancelled attempts are released, so that another worker can send them.
        """
        if self._thread.is_alive():  # the loop's thread hangs in the database; its leases will expire
            self._sending.cancel_attempts_and_stop()
            return
        deadline = time.monotonic() + seconds
        self._save_finished()
        while self._in_flight and (left := deadline - time.monotonic()) > 0:
            self._awake.wait(left)
            self._awake.clear()
            self._save_finished()
        self._sending.cancel_attempts_and_stop()
        self._save_finished()
        release_claims([row for key, row in self._in_flight.items() if key not in self._unsaved])

    def _begin(self, row: Row, prepare: Callable[[Row], DeliveryRequest | AttemptOutcome | Outcome]) -> None:
        key = str(row.pk)
        self._in_flight[key] = row
        try:
            prepared = prepare(row)
        except Exception as error:  # the other claimed rows must not wait until their leases end
            logger.exception("%s %s could not be prepared.", type(row).__name__, key)
            prepared = AttemptOutcome(DeliveryVerdict.FAILED, error=f"Internal error ({type(error).__name__}).")
        if isinstance(prepared, DeliveryRequest):
            self._sending.start_attempt(key, prepared)
        else:
            self._unsaved[key] = prepared

    def _save_finished(self) -> None:
        """Save the outcomes of the HttpSendingLoop's finished attempts, together or, if that fails, one by one.

        While the database is down or a lock is held elsewhere, they stay in memory until the next call. Another outcome
        that cannot be saved is logged, and its row is sent again when the lease has ended.
        """
        self._unsaved.update(self._sending.take_finished_outcomes())
        waiting = [(self._in_flight[key], outcome) for key, outcome in self._unsaved.items()]
        results = write_all_or_each(self.save_outcomes, waiting) if waiting else ()
        for (row, outcome), result in zip(waiting, results, strict=True):
            key = str(row.pk)
            if isinstance(result, DATABASE_ERRORS):
                logger.warning("The outcome of %s %s is not saved yet: %s", type(row).__name__, key, result)
                continue
            if isinstance(result, Exception):
                logger.error("The outcome of %s %s cannot be saved.", type(row).__name__, key, exc_info=result)
            del self._in_flight[key], self._unsaved[key]
            self.free_slot_in_fair_shares(row, outcome)
