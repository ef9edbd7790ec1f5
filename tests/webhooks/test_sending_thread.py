"""When the sending thread of webhooks reports the outcomes of attempts."""

from __future__ import annotations

import threading

import pytest
from pytest_django import Settings

from tests.fakes.receiver import Manner, Receiver
from webhooks import sending_thread
from webhooks.sender import DeliveryRequest

PATIENCE_SECONDS = 20


@pytest.fixture(autouse=True)
def _loopback(settings: Settings) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = True


def test_outcomes_of_fast_receivers_do_not_wait_for_hanging_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """The timer never ends, and more attempts hang than finish, so only the number of outcomes leads to a report."""
    monkeypatch.setattr(sending_thread, "GATHER_SECONDS", 3600)
    enough, reported = sending_thread.ENOUGH_OUTCOMES, threading.Event()
    thread = sending_thread.SendingThread(when_finished=reported.set)
    with Receiver(otherwise=Manner.HANG) as hanging, Receiver() as fast:
        thread.start()
        for number in range(enough + 8):
            thread.start_attempt(f"hanging {number}", DeliveryRequest(hanging.url, b"{}", {}))
        hanging.wait_for(enough + 8, PATIENCE_SECONDS)
        for number in range(enough):
            thread.start_attempt(f"fast {number}", DeliveryRequest(fast.url, b"{}", {}))
        assert reported.wait(PATIENCE_SECONDS)
        outcomes = thread.take_finished_outcomes()
        thread.cancel_attempts_and_stop()

    assert sorted(key for key, _ in outcomes) == sorted(f"fast {number}" for number in range(enough))
