"""The delivery worker in the calling thread: tests run the production loop and see what it has written."""

from __future__ import annotations

from django.db.models import Sum

from tests.sending_loops import RunsUntilIdle, started
from webhooks.models import Delivery
from webhooks.worker_loop import DeliverLoop


class LoopOfTest(RunsUntilIdle, DeliverLoop):
    """The production loop of webhook deliveries in the calling thread."""


def deliver_until_idle() -> int:
    """Send all due webhook deliveries and record the outcomes; return how many deliveries were claimed."""
    before = _claims()
    with started(LoopOfTest()) as loop:
        loop.run_until_idle()
    return _claims() - before


def _claims() -> int:
    """The number of all claims ever made, which the deliveries' fences count."""
    return int(Delivery.objects.aggregate(claims=Sum("fence"))["claims"] or 0)
