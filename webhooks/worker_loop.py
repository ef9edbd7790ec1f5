"""The worker loop that delivers events: due rows to the sending thread, outcomes back into the database.

All of the database's work is done in the loop's own thread, so the event loop never waits for it.
"""

from __future__ import annotations

import time

from config.jobs.due import LookPast, give_back
from config.jobs.worker_loop import WorkerLoop
from webhooks.host_shares import HOLDER, HostShares, holder_of
from webhooks.models import Delivery
from webhooks.sender import Outcome, Parcel
from webhooks.sending_thread import SendingThread
from webhooks.services import deliveries
from webhooks.services.events import LOOP

CLAIM = 128  # at once, for holders that are quick
CLAIM_SLOW = 16


class DeliverLoop(WorkerLoop):
    """Keeps hundreds of attempts in flight, each workspace and each host within its share."""

    name = LOOP

    def __init__(self) -> None:
        super().__init__()
        self._sending = SendingThread(when_finished=self.wake)
        self._shares = HostShares()
        self._in_flight: dict[str, Delivery] = {}
        self._unrecorded: list[tuple[str, Outcome]] = []
        self._past_quick = LookPast()
        self._found = False  # whether the last claim for quick holders found any

    def start(self) -> None:
        self._sending.start()
        super().start()

    def run_once(self) -> bool:
        """Record what is finished and begin what is due; true when there may be more due than was begun."""
        self._record_finished()
        claimed = self._claim()
        if not claimed:
            return False
        keys = deliveries.keys_for(claimed)
        over_share = []
        for row in claimed:
            if self._shares.take(holder_of(row)):
                self._begin(row, deliveries.pack(row, keys))
            else:
                over_share.append(row)
        # They have no room now, so the next claim passes them by; another worker may take them.
        give_back(over_share)
        return True

    def finish(self, seconds: float) -> None:
        """Wait for what is in flight and record it; what takes longer is broken off and given back."""
        if self._thread.is_alive():  # it hangs in the database: the leases will give back what it holds
            self._sending.stop()
            return
        deadline = time.monotonic() + seconds
        self._record_finished()
        while self._in_flight and (left := deadline - time.monotonic()) > 0:
            self._awake.wait(left)
            self._awake.clear()
            self._record_finished()
        self._sending.stop()
        self._record_finished()
        give_back(list(self._in_flight.values()))

    def _claim(self) -> list[Delivery]:
        """Due deliveries that have room: first of holders known to be quick, then of the others."""
        rows = Delivery.objects.alias(holder=HOLDER)
        room = self._shares.room_at_quick()
        limit = min(CLAIM, self._shares.most_at_quick(room))
        quick = deliveries.claim(rows.filter(holder__in=room), limit=limit, looked=self._found)
        self._found = bool(quick)
        limit = min(CLAIM_SLOW, self._shares.places_for_slow, self._shares.places - len(quick))
        others = rows.exclude(self._shares.full().query())
        if not self._in_flight and not quick:  # nothing will wake the loop when it may look again
            return deliveries.claim(others, limit=limit)
        return quick + self._past_quick(lambda: deliveries.claim(others, limit=limit))

    def _begin(self, row: Delivery, packed: Parcel | Outcome) -> None:
        self._in_flight[row.pk] = row
        if isinstance(packed, Parcel):
            self._sending.submit(row.pk, packed)
        else:
            self._unrecorded.append((row.pk, packed))

    def _record_finished(self) -> None:
        """Outcomes are kept until they are written, should the database be away."""
        self._unrecorded += self._sending.finished()
        deliveries.record([(self._in_flight[pk], outcome) for pk, outcome in self._unrecorded])
        for pk, outcome in self._unrecorded:
            self._shares.ended(holder_of(self._in_flight.pop(pk)), outcome.seconds, silent=outcome.silent)
        self._unrecorded = []
