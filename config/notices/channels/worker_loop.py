"""The worker loop that sends messages to notice channels, many at a time, so that no slow receiver delays the others."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Mapping

from config.jobs.claims import release_claims
from config.jobs.worker_loop import WorkerLoop
from config.notices.channels.answers import AttemptResult, MessageVerdict
from config.notices.channels.queue import (
    CHANNELS_LOOP,
    claim_messages,
    record_outcome,
    request_or_result,
    signing_secrets_for_messages,
)
from config.notices.models import ChannelMessage
from webhooks.sender import AttemptOutcome, DeliveryRequest
from webhooks.sending_thread import SendingThread

logger = logging.getLogger(__name__)
MAX_IN_FLIGHT = 256


class NoticeChannelsLoop(WorkerLoop):
    """The worker loop of messages to notice channels; the database work is done in its own thread."""

    name = CHANNELS_LOOP

    def __init__(self) -> None:
        super().__init__()
        self._sending = SendingThread(when_finished=self.wake)
        self._in_flight: dict[str, ChannelMessage] = {}
        self._unrecorded: deque[tuple[str, AttemptOutcome | AttemptResult]] = deque()

    def start(self) -> None:
        self._sending.start()
        super().start()

    def run_once(self) -> bool:
        """Record finished attempts to send to channels, and begin due ones; return True if more messages may be due."""
        self._record_finished()
        claimed = claim_messages(MAX_IN_FLIGHT - len(self._in_flight))
        secrets = signing_secrets_for_messages(claimed)
        for message in claimed:
            self._begin(message, secrets)
        return bool(claimed)

    def wait_for_current_work(self, seconds: float) -> None:
        """Stop the loop: wait up to `seconds` for running attempts, record their outcomes, and release the others."""
        if self._thread.is_alive():  # the loop's thread hangs in the database; its leases will expire
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
        release_claims(list(self._in_flight.values()))

    def _begin(self, message: ChannelMessage, secrets: Mapping[str, tuple[str, ...]]) -> None:
        key = str(message.pk)
        self._in_flight[key] = message
        try:
            prepared = request_or_result(message, secrets)
        except Exception as error:  # the other claimed messages must not wait until their leases end
            logger.exception("The notice %s could not be prepared.", key)
            prepared = AttemptResult(MessageVerdict.TRY_AGAIN, f"Internal error ({type(error).__name__}).")
        if isinstance(prepared, DeliveryRequest):
            self._sending.start_attempt(key, prepared)
        else:
            self._unrecorded.append((key, prepared))

    def _record_finished(self) -> None:
        """Save the outcomes of messages that the loop has sent to channels; if the database fails, they stay in memory."""
        self._unrecorded += self._sending.take_finished_outcomes()
        while self._unrecorded:
            key, outcome = self._unrecorded[0]
            record_outcome(self._in_flight[key], outcome)
            del self._unrecorded[0], self._in_flight[key]
