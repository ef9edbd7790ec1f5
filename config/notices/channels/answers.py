"""Interprets the answers of Slack, Telegram and webhook receivers to notices, such as try again or pause the channel."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from accounts.platforms.errors import PlatformError, ReauthRequired
from accounts.platforms.http.errors import PlatformHttpError
from accounts.platforms.slack import webhook as slack
from accounts.platforms.telegram import client as telegram
from config.notices.models import ChannelKind, NoticeChannel
from config.outbound import Response
from webhooks.sender import AttemptOutcome, DeliveryVerdict


class MessageVerdict(Enum):
    """The verdict on one attempt to send a notice to a channel: sent, try again, give up, or pause the channel."""

    SENT = auto()
    TRY_AGAIN = auto()
    GIVE_UP = auto()  # the service refuses this message for good
    PAUSE_CHANNEL = auto()  # the service refuses every message for good


@dataclass(frozen=True)
class AttemptResult:
    """The result of one attempt to send a notice to a channel: the verdict, the reason, and the wait asked for in seconds."""

    verdict: MessageVerdict
    reason: str = ""
    retry_after: float = 0.0


def result_of_attempt(channel: NoticeChannel, outcome: AttemptOutcome) -> AttemptResult:
    """Return the verdict on one attempt to send a notice to a channel, by the answer of Slack, Telegram or the receiver."""
    if outcome.verdict is DeliveryVerdict.DELIVERED:
        return AttemptResult(MessageVerdict.SENT)
    refused = outcome.verdict is DeliveryVerdict.REFUSED
    if outcome.status_code is None or channel.kind == ChannelKind.WEBHOOK:
        verdict = MessageVerdict.PAUSE_CHANNEL if refused else MessageVerdict.TRY_AGAIN
        return AttemptResult(verdict, outcome.error or "", outcome.retry_after)
    error, known = _platform_error(channel, Response(outcome.status_code, {}, (outcome.excerpt or "").encode()))
    if isinstance(known, ReauthRequired):
        return AttemptResult(MessageVerdict.PAUSE_CHANNEL, known.message)
    for_good = known is None and error.from_api and error.status in (400, 413)
    reason = f"{channel.get_kind_display()} answered {error.status}: {error.reason}"
    return AttemptResult(
        MessageVerdict.GIVE_UP if for_good else MessageVerdict.TRY_AGAIN,
        reason,
        max(outcome.retry_after, error.retry_after or 0.0),
    )


def _platform_error(channel: NoticeChannel, response: Response) -> tuple[PlatformHttpError, PlatformError | None]:
    """Return the error response of Slack or Telegram to a notice channel's message, and its special meaning, if any."""
    if channel.kind == ChannelKind.SLACK:
        refusal = slack.WebhookError(response)
        return refusal, slack.ERRORS.platform_specific_error(refusal)
    error = telegram.BotApiError(response, channel.destination["bot_token"])
    return error, telegram.ERRORS.platform_specific_error(error)
