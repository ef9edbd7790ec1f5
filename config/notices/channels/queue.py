"""The queue of messages to notice channels: queues them, claims due ones for a worker, and records what became of them.

A message may be sent twice if a worker dies after sending it and before saving that, as e-mail may.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta

import orjson
from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import override

from auditlog.services import record_entry
from config.api.caller import WorkspaceStatus, system_caller
from config.db.encryption import SealedValueError
from config.jobs.backoff import retry_pause_from_list_or_none
from config.jobs.claims import claim_due, claimed_row_queryset
from config.jobs.wake_up import wake_worker_loop_after_commit
from config.notices.channels.answers import AttemptResult, MessageVerdict, result_of_attempt
from config.notices.channels.destinations import message_body_with_telegram_chat, url_to_send_messages_to
from config.notices.channels.message_bodies import build_body, webhook_event_name
from config.notices.models import ChannelKind, ChannelMessage, NoticeChannel, NoticeKind
from webhooks.sender import AttemptOutcome, DeliveryRequest
from webhooks.services import get_or_create_secrets_by_workspace_id
from webhooks.signing import delivery_headers_with_signature, signature_header_value
from workspaces.services import MailMessage

logger = logging.getLogger(__name__)
CHANNELS_LOOP = "notice_channels"
LEASE = timedelta(seconds=60)  # well beyond an attempt's deadline and the time to record its outcome
MAX_RETRY_AFTER_SECONDS = 36_000.0
MAX_REASON = 300
PAUSED_REASON = "The channel was paused."


def queue_notice_for_channels(*, workspace_id: str, kind: NoticeKind, build_message: Callable[[], MailMessage]) -> bool:
    """Queue a notice for each channel of the workspace that wants this kind and is not paused; False if there is none.

    The channels are locked, so that none is removed before the caller's transaction has committed. See
    `queue_notice_messages` for `build_message`.
    """
    active = NoticeChannel.objects.filter(workspace_id=workspace_id, paused_at=None).order_by("pk")
    channels = [channel for channel in active.select_for_update(no_key=True) if kind in channel.notice_kinds]
    queue_notice_messages(channels, build_message, kind=kind)
    return bool(channels)


def queue_notice_messages(
    channels: Iterable[NoticeChannel], build_message: Callable[[], MailMessage], *, kind: str = ""
) -> None:
    """Queue a message for these notice channels, to be sent by a worker after the caller's transaction has committed.

    `build_message` is called for each channel, and returns the message in the current language, which is the channel's.
    """
    rows = [ChannelMessage(channel=channel, notice_kind=kind, due_at=timezone.now()) for channel in channels]
    for row in rows:
        with override(row.channel.language):
            row.body = build_body(row, build_message())
    ChannelMessage.objects.bulk_create(rows)
    wake_worker_loop_after_commit(CHANNELS_LOOP)


def claim_messages(messages: QuerySet[ChannelMessage], *, limit: int) -> list[ChannelMessage]:
    """Claim up to `limit` of these messages of notice channels, if they are due, for this worker."""
    return claim_due(messages.select_related("channel__workspace"), limit=limit, lease=LEASE)


def increment_attempt_counts(messages: Sequence[ChannelMessage]) -> None:
    """Count an attempt for each message to a notice channel before it is sent, so that it counts even if the worker dies."""
    with transaction.atomic():
        rows = ChannelMessage.objects.filter(pk__in=[message.pk for message in messages])
        _lock_in_order(rows)
        rows.update(attempts=F("attempts") + 1)
    for message in messages:
        message.attempts += 1


def get_or_create_secrets_for_messages(messages: Iterable[ChannelMessage]) -> dict[str, tuple[str, ...]]:
    """Return, by workspace id, the secrets that sign queued messages to webhook channels; creates missing secrets."""
    channels = [message.channel for message in messages if message.channel.kind == ChannelKind.WEBHOOK]
    return get_or_create_secrets_by_workspace_id(
        channel.workspace_id for channel in channels if channel.workspace.status != WorkspaceStatus.DELETED
    )


def build_request_or_result(
    message: ChannelMessage, secrets: Mapping[str, tuple[str, ...]]
) -> DeliveryRequest | AttemptResult:
    """Return the HTTP request that sends a claimed message to its notice channel, or the result if nothing is to be sent.

    `secrets` are the signing secrets of workspaces that have webhook messages.
    """
    channel = message.channel
    if channel.workspace.status == WorkspaceStatus.DELETED:
        return AttemptResult(MessageVerdict.GIVE_UP, "The workspace was deleted.")
    if channel.paused_at:
        return AttemptResult(MessageVerdict.GIVE_UP, PAUSED_REASON)
    if message.attempts > len(settings.WEBHOOK_RETRY_SCHEDULE) + 1:
        return AttemptResult(MessageVerdict.GIVE_UP, "No attempt was finished.")
    try:
        destination = channel.destination
        body = orjson.dumps(message_body_with_telegram_chat(channel.kind, destination, message.body or {}))
        url = url_to_send_messages_to(channel.kind, destination)
    except SealedValueError as error:
        logger.error("The notice %s cannot be sent: %s", message.pk, error)
        return AttemptResult(MessageVerdict.TRY_AGAIN, "The channel's secrets cannot be read.")
    headers = {"content-type": "application/json"}
    if channel.kind == ChannelKind.WEBHOOK:
        if channel.workspace_id not in secrets:
            return AttemptResult(MessageVerdict.TRY_AGAIN, "The workspace's signing secret cannot be read.")
        signature = signature_header_value(secrets[channel.workspace_id], body, at=int(timezone.now().timestamp()))
        headers = delivery_headers_with_signature(str(message.pk), webhook_event_name(message), signature)
    return DeliveryRequest(url, body, headers)


def record_outcome_and_pause_refused_channel(message: ChannelMessage, outcome: AttemptOutcome | AttemptResult) -> None:
    """Save what became of a claimed message to a notice channel: sent, to be tried again later, or given up.

    A channel that refuses it for good is paused. It is locked before its messages, as by those who pause and remove it.
    """
    channel = message.channel
    result = outcome if isinstance(outcome, AttemptResult) else result_of_attempt(channel, outcome)
    with transaction.atomic():
        if result.verdict is MessageVerdict.PAUSE_CHANNEL and not channel.paused_at:
            _pause_refused_channel(channel, result.reason)
        if result.verdict is MessageVerdict.TRY_AGAIN:
            _retry_later(message, result)
        elif result.verdict is MessageVerdict.SENT:
            _finish(message, sent_at=timezone.now(), last_error="")
        else:
            _finish(message, last_error=result.reason[:MAX_REASON])


def discard_waiting_messages(channel: NoticeChannel) -> None:
    """Give up the queued messages of a notice channel that is paused or removed; the caller has locked the channel's row."""
    waiting = channel.messages.filter(due_at__isnull=False)
    _lock_in_order(waiting)
    waiting.update(due_at=None, lease_until=None, body=None, last_error=PAUSED_REASON)


def _lock_in_order(messages: QuerySet[ChannelMessage]) -> None:
    """Lock rows of messages to notice channels in a fixed order, so that two transactions cannot deadlock."""
    list(messages.order_by("pk").select_for_update().values_list("pk"))


def _retry_later(message: ChannelMessage, result: AttemptResult) -> None:
    retry_after = min(result.retry_after, MAX_RETRY_AFTER_SECONDS)
    pause = retry_pause_from_list_or_none(settings.WEBHOOK_RETRY_SCHEDULE, message.attempts, retry_after=retry_after)
    reason = result.reason[:MAX_REASON]
    if pause is None:
        _finish(message, last_error=reason)
        logger.warning("The notice %s is given up: %s", message.pk, reason)
        return
    waiting = claimed_row_queryset(ChannelMessage.objects.filter(due_at__isnull=False), message)
    waiting.update(due_at=timezone.now() + pause, lease_until=None, last_error=reason)


def _finish(message: ChannelMessage, **outcome: object) -> None:
    """Mark a message of a notice channel as sent or failed and delete its body."""
    claimed_row_queryset(ChannelMessage.objects.all(), message).update(due_at=None, lease_until=None, body=None, **outcome)


def _pause_refused_channel(channel: NoticeChannel, reason: str) -> None:
    now = timezone.now()
    active = NoticeChannel.objects.filter(pk=channel.pk, paused_at=None)
    if not active.update(paused_at=now, pause_reason=reason[:MAX_REASON], updated_at=now):
        return
    discard_waiting_messages(channel)
    record_entry(
        caller=system_caller(channel.workspace_id, retention_tier=channel.workspace.retention_tier),
        operation="notice_channels.pause",
        workspace_id=channel.workspace_id,
        resource_type="notice_channel",
        resource_id=str(channel.pk),
        metadata={"kind": channel.kind},
    )
