"""The worker loop that sends messages to notice channels, many at a time, so that no slow receiver delays the others."""

from __future__ import annotations

from collections.abc import Sequence

from config.notices.channels.answers import AttemptResult
from config.notices.channels.queue import (
    CHANNELS_LOOP,
    claim_messages,
    record_outcome,
    request_or_result,
    signing_secrets_for_messages,
)
from config.notices.models import ChannelMessage
from webhooks.sender import AttemptOutcome
from webhooks.sending_loop import SendingLoop

MAX_IN_FLIGHT = 256


class NoticeChannelsLoop(SendingLoop[ChannelMessage, AttemptResult]):
    """The worker loop of messages to notice channels."""

    name = CHANNELS_LOOP

    def run_once(self) -> bool:
        """Save the outcomes of finished attempts and begin due messages; return True if more messages may be due."""
        self._save_finished()
        claimed = claim_messages(MAX_IN_FLIGHT - len(self._in_flight))
        secrets = signing_secrets_for_messages(claimed)
        for message in claimed:
            self._begin(message, lambda message: request_or_result(message, secrets))
        return bool(claimed)

    def save_outcomes(self, outcomes: Sequence[tuple[ChannelMessage, AttemptOutcome | AttemptResult]]) -> Sequence[object]:
        for message, outcome in outcomes:
            record_outcome(message, outcome)
        return outcomes
