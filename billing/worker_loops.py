"""The worker loops for the payment processor: they apply its events, and report the usage that it invoices."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from billing.plans import is_paid
from billing.services import effects, events, metering
from config.jobs.worker_loop import WorkerLoop

SHORTEST_PAUSE, LONGEST_PAUSE = timedelta(seconds=2), timedelta(minutes=5)


class ProcessorEventsLoop(WorkerLoop):
    """One event at a time: each may have to wait for the processor's answer."""

    name = events.LOOP

    def run_once(self) -> bool:
        return effects.process_due_events(limit=1) > 0


class UsageReportsLoop(WorkerLoop):
    """Several reports at a time. After an attempt without an answer it pauses, longer each time, and then tries with one."""

    name = metering.LOOP

    def __init__(self) -> None:
        super().__init__()
        self._pause = timedelta()
        self._quiet_until = timezone.now()

    def run_once(self) -> bool:
        if not is_paid() or timezone.now() < self._quiet_until:
            return False
        limit = 1 if self._pause else metering.AT_ONCE
        done = metering.report_due_usage(limit=limit)
        if done.unanswered:
            self._pause = min(max(SHORTEST_PAUSE, 2 * self._pause), LONGEST_PAUSE)
            self._quiet_until = timezone.now() + self._pause
        elif done.claimed:
            self._pause = timedelta()
        return done.claimed == limit
