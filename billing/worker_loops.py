"""The worker loops for the payment processor: they apply its events, and report the usage that it invoices."""

from __future__ import annotations

from django.utils import timezone

from billing.plans import is_paid
from billing.services import effects, events, metering
from config.jobs.backoff import doubling_pause
from config.jobs.worker_loop import WorkerLoop

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 2.0, 300.0


class ProcessorEventsLoop(WorkerLoop):
    """Applies events one at a time, because each may wait for the processor's answer."""

    name = events.LOOP

    def run_once(self) -> bool:
        return effects.process_due_events(limit=1) > 0


class UsageReportsLoop(WorkerLoop):
    """Sends several reports at a time. After attempts without an answer it pauses, twice as long each time, and then
    sends one."""

    name = metering.LOOP

    def __init__(self) -> None:
        super().__init__()
        self._unanswered = 0  # rounds in a row
        self._quiet_until = timezone.now()

    def run_once(self) -> bool:
        if not is_paid() or timezone.now() < self._quiet_until:
            return False
        limit = 1 if self._unanswered else metering.AT_ONCE
        done = metering.report_due_usage(limit=limit)
        if done.unanswered:
            self._unanswered += 1
            pause = doubling_pause(self._unanswered, first=FIRST_PAUSE_SECONDS, longest=LONGEST_PAUSE_SECONDS)
            self._quiet_until = timezone.now() + pause
        elif done.claimed:
            self._unanswered = 0
        return done.claimed == limit
