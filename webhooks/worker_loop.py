"""The worker loop of webhook deliveries: claims due ones, as the fair shares allow, and saves the outcomes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import takewhile

from django.db.models import QuerySet

from config.jobs.claims import PauseAfterEmptySearch
from config.jobs.fair_shares import QUICK_SECONDS
from webhooks.host_shares import WORKSPACE_AND_HOST_EXPRESSION, HostShares, workspace_and_host_key
from webhooks.models import Delivery
from webhooks.sender import AttemptOutcome, DeliveryRequest
from webhooks.sending_loop import HttpSendingLoop
from webhooks.services import deliveries
from webhooks.services.events import DELIVER_LOOP_NAME

MAX_QUICK_CLAIMS = 128  # deliveries per claim, for quick holders
MAX_SLOW_CLAIMS = 16


class DeliverLoop(HttpSendingLoop[Delivery, AttemptOutcome]):
    """The worker loop that sends hundreds of webhook deliveries at a time, with a fair share for each workspace and host."""

    name = DELIVER_LOOP_NAME
    _shares: HostShares

    def __init__(self) -> None:
        super().__init__(HostShares())
        self._begun_at: dict[str, float] = {}  # of attempts that are not in _long_waits, earliest first
        self._long_waits: set[str] = set()  # attempts that have had no answer for QUICK_SECONDS
        self._search_pauses = PauseAfterEmptySearch()
        self._found = False  # whether the last claim for quick holders returned any deliveries

    def fair_share_key(self, row: Delivery) -> str:
        return workspace_and_host_key(row)

    def build_request_preparer(self, rows: Sequence[Delivery]) -> Callable[[Delivery], DeliveryRequest | AttemptOutcome]:
        keys = deliveries.get_or_create_secrets_for_deliveries(rows)
        self._begun_at.update({row.pk: time.monotonic() for row in rows})
        return lambda row: deliveries.signed_request_or_outcome(row, keys)

    def save_outcomes(self, outcomes: Sequence[tuple[Delivery, AttemptOutcome]]) -> Sequence[object]:
        return deliveries.record_outcomes_if_still_claimed(outcomes)

    def free_slot_in_fair_shares(self, row: Delivery, outcome: AttemptOutcome) -> None:
        silent, long = outcome.silent, row.pk in self._long_waits
        self._shares.record_attempt_end(self.fair_share_key(row), outcome.seconds, silent=silent, after_long_wait=long)
        self._long_waits.discard(row.pk)
        self._begun_at.pop(row.pk, None)

    def claim(self) -> list[Delivery]:
        """Claim due webhook deliveries within the fair shares: first those to fast hosts, then those to slow or new hosts."""
        self._record_long_waits()
        rows = Delivery.objects.alias(holder=WORKSPACE_AND_HOST_EXPRESSION)
        free_slots = self._shares.claimable_slots_by_quick_holder()
        limit = min(MAX_QUICK_CLAIMS, self._shares.max_new_attempts_to_quick_hosts(free_slots))
        quick = deliveries.claim_deliveries(rows.filter(holder__in=free_slots), limit=limit, due_rows_found=self._found)
        self._found = bool(quick)
        if not self._in_flight and not quick:  # no finished attempt will wake the loop, so skip PauseAfterEmptySearch
            return self._claim_from_slow_hosts(rows, claimed=0)
        return quick + self._search_pauses(lambda: self._claim_from_slow_hosts(rows, claimed=len(quick)))

    def _claim_from_slow_hosts(self, rows: QuerySet[Delivery], *, claimed: int) -> list[Delivery]:
        """Claim due webhook deliveries to slow or new hosts; `claimed` counts those already claimed for fast ones."""
        limit = min(MAX_SLOW_CLAIMS, self._shares.free_slow_job_slots, self._shares.free_job_slots_of_worker - claimed)
        others = rows.exclude(self._shares.senders_and_hosts_to_skip_for_slow_hosts().as_exclude_condition())
        return deliveries.claim_deliveries(others, limit=limit)

    def _record_long_waits(self) -> None:
        """Record which running webhook attempts of the loop have had no answer for QUICK_SECONDS."""
        latest = time.monotonic() - QUICK_SECONDS
        for pk in list(takewhile(lambda pk: self._begun_at[pk] <= latest, self._begun_at)):
            del self._begun_at[pk]
            self._long_waits.add(pk)
            self._shares.count_running_attempt_as_slow(self.fair_share_key(self._in_flight[pk]))
