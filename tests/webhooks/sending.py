"""The delivery worker in the calling thread: tests run the production loop and see what it has written."""

from __future__ import annotations

from django.db.models import Sum

from webhooks.models import Delivery
from webhooks.worker_loop import DeliverLoop

SECONDS = 10.0


class LoopOfTest(DeliverLoop):
    """The production loop without its own thread; only the attempts are sent by another thread."""

    def start(self) -> None:
        self._sending.start()

    def run_until_idle(self) -> None:
        while self.run_once() or self._in_flight:
            if len(self._in_flight) > len(self._unrecorded):  # some are being sent
                self._awake.wait(SECONDS)
                self._awake.clear()


def deliver_until_idle() -> int:
    """Send all due webhook deliveries and record the outcomes; return how many deliveries were claimed."""
    before, loop = _claims(), LoopOfTest()
    loop.start()
    try:
        loop.run_until_idle()
    finally:
        loop.wait_for_current_work(SECONDS)
    return _claims() - before


def _claims() -> int:
    """The number of all claims ever made, which the deliveries' fences count."""
    return int(Delivery.objects.aggregate(claims=Sum("fence"))["claims"] or 0)
