"""The worker loops of billing: one processes the payment processor's events, the other sends usage reports to it."""

from __future__ import annotations

from django.utils import timezone

from billing.services import processor_events, usage_reporting
from billing.subscription_plans import has_payment_processor
from config.jobs.backoff import exponential_retry_pause
from config.jobs.worker_loop import WorkerLoop

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 2.0, 300.0


class ProcessorEventsLoop(WorkerLoop):
    """The worker loop that processes one event of the payment processor in each run, because an event may take long."""

    name = processor_events.PROCESSOR_EVENTS_LOOP

    def run_once(self) -> bool:
        return processor_events.process_due_events(limit=1) > 0


class UsageReportsLoop(WorkerLoop):
    """The worker loop that sends several usage reports in each run. It pauses after a report got no answer."""

    name = usage_reporting.USAGE_REPORTS_LOOP

    def __init__(self) -> None:
        super().__init__()
        self._unanswered = 0  # consecutive rounds without an answer
        self._quiet_until = timezone.now()

    def run_once(self) -> bool:
        if not has_payment_processor() or timezone.now() < self._quiet_until:
            return False
        limit = 1 if self._unanswered else usage_reporting.REPORTS_AT_ONCE
        done = usage_reporting.send_or_postpone_due_usage_reports(limit=limit)
        if done.unanswered:
            self._unanswered += 1
            pause = exponential_retry_pause(self._unanswered, first=FIRST_PAUSE_SECONDS, longest=LONGEST_PAUSE_SECONDS)
            self._quiet_until = timezone.now() + pause
        elif done.claimed:
            self._unanswered = 0
        return done.claimed == limit
