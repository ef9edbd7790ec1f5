"""The worker loop that sends messages to notice channels, many at a time, so that slow receivers delay no others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from config.jobs.fair_shares import ConcurrentJobLimits, FairShares
from config.notices.channels.answers import AttemptResult
from config.notices.channels.queue import (
    CHANNELS_LOOP,
    build_request_or_result,
    claim_messages,
    get_or_create_secrets_for_messages,
    increment_attempt_counts,
    record_outcome_and_pause_refused_channel,
)
from config.notices.models import ChannelMessage
from webhooks.sender import AttemptOutcome, DeliveryRequest
from webhooks.sending_loop import HttpSendingLoop

# Slow workspaces, new ones included, together use half of the slots, so those whose receivers answer find free ones.
SHARES = ConcurrentJobLimits(slots=256, quick=16, slow=4, slow_together=128)
MAX_QUICK_CLAIMS = 32  # messages per claim, for quick workspaces
MAX_SLOW_CLAIMS = 16


class NoticeChannelsLoop(HttpSendingLoop[ChannelMessage, AttemptResult]):
    """The worker loop of messages to notice channels, with a fair share for each workspace."""

    name = CHANNELS_LOOP

    def __init__(self) -> None:
        super().__init__(FairShares(SHARES))

    def claim(self) -> list[ChannelMessage]:
        """Claim due messages to notice channels, first for workspaces with fast receivers; skip workspaces at their limit."""
        messages, free = ChannelMessage.objects.all(), self._shares.free_job_slots_of_worker
        quick_slots = self._shares.claimable_slots_by_quick_holder()
        limit = min(MAX_QUICK_CLAIMS, free, sum(quick_slots.values()))
        quick = claim_messages(messages.filter(channel__workspace__in=quick_slots), limit=limit)
        limit = min(MAX_SLOW_CLAIMS, free - len(quick), self._shares.free_slow_job_slots)
        others = messages.exclude(channel__workspace__in=self._shares.holders_excluded_from_slow_claims())
        return quick + claim_messages(others, limit=limit)

    def fair_share_key(self, row: ChannelMessage) -> str:
        return row.channel.workspace_id

    def build_request_preparer(
        self, rows: Sequence[ChannelMessage]
    ) -> Callable[[ChannelMessage], DeliveryRequest | AttemptResult]:
        increment_attempt_counts(rows)
        secrets = get_or_create_secrets_for_messages(rows)
        return lambda message: build_request_or_result(message, secrets)

    def save_outcomes(self, outcomes: Sequence[tuple[ChannelMessage, AttemptOutcome | AttemptResult]]) -> Sequence[object]:
        for message, outcome in outcomes:
            record_outcome_and_pause_refused_channel(message, outcome)
        return outcomes
