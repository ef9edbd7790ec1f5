"""Messages to notice channels that fail: what is tried again, what is given up, and what pauses a channel."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import DataError, OperationalError, connection
from django.utils import timezone

from auditlog.models import AuditEntry
from config.db.encryption import Ciphertext
from config.notices.channels.queue import CHANNELS_LOOP, LEASE, claim_messages
from config.notices.models import ChannelMessage, NoticeChannel
from config.notices.sending import create_and_queue_notices
from tests.conftest import ApiClient
from tests.fakes.receiver import answer_with
from tests.fakes.slack import WEBHOOK
from tests.notices.channels import LoopOfTest, Services, send_to_channels
from tests.notices.rounds import ended, real_account, scheduled
from tests.sending_loops import started
from workspaces.models import OutgoingMail, Workspace

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("running_clock")]


def only_message() -> ChannelMessage:
    return ChannelMessage.objects.get()


def paused(channel: NoticeChannel) -> str | None:
    """The reason why the channel is paused; None if it is not."""
    channel.refresh_from_db()
    return channel.pause_reason if channel.paused_at else None


@pytest.mark.parametrize(
    ("kind", "refusal"),
    [
        ("slack", lambda it: it.slack.rate_limit_next(WEBHOOK, 90)),
        ("slack", lambda it: it.slack.fail_next(WEBHOOK, 500)),
        ("slack", lambda it: it.slack.drop_next(WEBHOOK, after_accept=False)),
        ("telegram", lambda it: it.telegram.rate_limit_next(1, retry_after=90)),
        ("telegram", lambda it: it.telegram.fail_next("sendMessage", 502)),
        ("webhook", lambda it: it.receiver.will_answer(answer_with(429, {"Retry-After": "90"}))),
        ("webhook", lambda it: it.receiver.will_answer(404)),
    ],
)
def test_a_notice_that_could_not_be_sent_is_tried_again(
    services: Services,
    workspace: Workspace,
    waiting_post: dict[str, Any],
    running_clock: time_machine.Traveller,
    kind: str,
    refusal: Any,
) -> None:
    channel = services.add(workspace, kind)
    refusal(services)
    send_to_channels()
    first = only_message()
    assert first.due_at
    running_clock.move_to(first.due_at + timedelta(seconds=1))
    send_to_channels()

    assert first.sent_at is None
    assert first.last_error
    assert (only_message().attempts, only_message().sent_at is None, paused(channel)) == (2, False, None)


def test_a_service_that_asks_to_wait_is_left_alone_that_long(
    services: Services, workspace: Workspace, waiting_post: dict[str, Any], running_clock: time_machine.Traveller
) -> None:
    for kind in ("slack", "telegram"):
        services.add(workspace, kind)
    services.slack.rate_limit_next(WEBHOOK, 90)
    services.telegram.rate_limit_next(1, retry_after=90)
    send_to_channels()
    running_clock.shift(timedelta(seconds=89))
    send_to_channels()

    assert services.slack.messages(services.slack_channel) == []
    assert services.telegram.messages(services.chat) == ()


def test_a_notice_is_given_up_after_all_attempts(
    services: Services,
    workspace: Workspace,
    waiting_post: dict[str, Any],
    running_clock: time_machine.Traveller,
    settings: Any,
) -> None:
    settings.WEBHOOK_RETRY_SCHEDULE = (60, 60)
    channel = services.add(workspace, "webhook")
    services.receiver.otherwise = 503
    for _ in range(5):
        send_to_channels()
        running_clock.shift(timedelta(minutes=2))

    message = only_message()
    assert (message.attempts, message.due_at, message.sent_at, message.body) == (3, None, None, None)
    assert (message.last_error, paused(channel)) == ("The receiver answered 503.", None)


@pytest.mark.parametrize(
    ("kind", "refusal", "reason"),
    [
        ("slack", lambda it: it.slack.remove_webhooks(it.slack_channel), "no_service"),
        ("slack", lambda it: setattr(it.slack_channel, "archived", True), "channel_is_archived"),
        ("telegram", lambda it: it.telegram.set_member(it.chat, it.bot, "kicked"), "bot was kicked"),
        ("telegram", lambda it: it.telegram.revoke_token(it.bot), "does not accept the bot's token"),
        ("telegram", lambda it: it.telegram.upgrade(it.chat), "upgraded to a supergroup"),
        ("webhook", lambda it: it.receiver.will_answer(410), "The receiver answered 410."),
    ],
)
def test_a_channel_that_refuses_for_good_is_paused(
    services: Services,
    workspace: Workspace,
    waiting_post: dict[str, Any],
    running_clock: time_machine.Traveller,
    api: ApiClient,
    kind: str,
    refusal: Any,
    reason: str,
) -> None:
    channel = services.add(workspace, kind, "approval", "post")
    refusal(services)
    send_to_channels()
    ended(scheduled(api, real_account(workspace, external_id="2")), "failed")
    running_clock.shift(timedelta(days=1))
    send_to_channels()

    assert reason in (paused(channel) or "")
    assert services.bot not in (paused(channel) or "")
    assert (only_message().attempts, only_message().due_at) == (1, None)  # and nothing is queued while it is paused
    [entry] = AuditEntry.objects.filter(operation="notice_channels.pause")
    assert (entry.workspace_id, entry.resource_id, entry.metadata) == (workspace.id, str(channel.pk), {"kind": kind})


def test_a_message_of_a_channel_that_was_paused_meanwhile_is_given_up(
    services: Services, workspace: Workspace, waiting_post: dict[str, Any]
) -> None:
    channel = services.add(workspace, "webhook")
    create_and_queue_notices()
    NoticeChannel.objects.update(paused_at=timezone.now())
    send_to_channels()

    assert services.receiver.requests == ()
    assert (only_message().last_error, only_message().due_at) == ("The channel was paused.", None)
    assert paused(channel) == ""
    assert not AuditEntry.objects.filter(operation="notice_channels.pause").exists()


def test_a_message_that_the_service_refuses_is_given_up(
    services: Services, workspace: Workspace, waiting_post: dict[str, Any]
) -> None:
    channel = services.add(workspace, "slack")
    send_to_channels_with_body({"text": "Hello", "blocks": []})

    assert (only_message().last_error, only_message().due_at) == ("Slack answered 400: invalid_blocks", None)
    assert paused(channel) is None


def send_to_channels_with_body(body: dict[str, Any]) -> None:
    create_and_queue_notices()
    message = only_message()
    message.body = body
    message.save()
    send_to_channels()


def test_a_receiver_at_an_address_that_is_not_allowed_gets_nothing(
    services: Services, workspace: Workspace, waiting_post: dict[str, Any], settings: Any
) -> None:
    channel = services.add(workspace, "webhook")
    settings.OUTBOUND_ALLOW_LOOPBACK = False
    send_to_channels()

    assert services.receiver.requests == ()
    assert "https://" in (paused(channel) or "")


@pytest.mark.parametrize("kind", ["slack", "telegram", "webhook"])
def test_a_channel_whose_secrets_cannot_be_read_keeps_no_notice_from_others(
    services: Services, workspace: Workspace, waiting_post: dict[str, Any], kind: str
) -> None:
    broken, working = services.add(workspace, kind), services.add(workspace, "slack", name="Working")
    NoticeChannel.objects.filter(pk=broken.pk).update(destination=Ciphertext("not a secret"))
    send_to_channels()

    message = ChannelMessage.objects.get(channel=broken)
    assert (message.last_error, message.sent_at) == ("The channel's secrets cannot be read.", None)
    assert message.due_at  # it is tried again
    assert ChannelMessage.objects.get(channel=working).sent_at
    assert OutgoingMail.objects.count() == 1


def test_a_message_that_cannot_be_prepared_holds_up_no_others(
    services: Services, workspace: Workspace, waiting_post: dict[str, Any]
) -> None:
    broken, working = services.add(workspace, "webhook"), services.add(workspace, "slack")
    broken.destination = {"address": "of an unknown form"}
    broken.save()
    send_to_channels()

    message = ChannelMessage.objects.get(channel=broken)
    assert (message.last_error, message.attempts, message.sent_at) == ("Internal error (KeyError).", 1, None)
    assert message.due_at  # it is tried again
    assert ChannelMessage.objects.get(channel=working).sent_at


def test_a_worker_that_dies_after_the_claim_loses_nothing(
    services: Services, workspace: Workspace, waiting_post: dict[str, Any], running_clock: time_machine.Traveller
) -> None:
    services.add(workspace, "slack")
    create_and_queue_notices()
    assert len(claim_messages(ChannelMessage.objects.all(), limit=10)) == 1  # and the worker dies
    send_to_channels()
    meanwhile = services.slack.messages(services.slack_channel)
    running_clock.shift(LEASE + timedelta(seconds=1))
    send_to_channels()

    assert meanwhile == []
    assert len(services.slack.messages(services.slack_channel)) == 1


class Refusing:
    """An execute wrapper that raises an error in place of saving that a message was sent, at most `times` times."""

    def __init__(self, error: Exception, of: ChannelMessage | None = None, times: int = 1000) -> None:
        self.error, self.times = error, times
        self.keys = (str(of.pk), of.pk.hex) if of else ("",)

    def __call__(self, execute: Any, sql: str, parameters: Any, *rest: Any) -> Any:
        saves = sql.startswith("UPDATE") and '"sent_at"' in sql and any(key in str(parameters) for key in self.keys)
        if saves and self.times:
            self.times -= 1
            raise self.error
        return execute(sql, parameters, *rest)


def test_messages_whose_outcome_could_not_be_saved_are_not_sent_twice(
    services: Services, workspace: Workspace, waiting_post: dict[str, Any], running_clock: time_machine.Traveller
) -> None:
    for kind in ("slack", "telegram", "webhook"):
        services.add(workspace, kind)
    create_and_queue_notices()
    with started(LoopOfTest()) as loop, connection.execute_wrapper(Refusing(OperationalError("a lock is held"), times=3)):
        loop.run_until_idle()
    running_clock.shift(LEASE + timedelta(seconds=1))
    send_to_channels()

    assert ChannelMessage.objects.filter(sent_at__isnull=False, attempts=1).count() == 3
    assert len(services.slack.messages(services.slack_channel)) == 1
    assert len(services.telegram.messages(services.chat)) == 1
    assert len(services.receiver.requests) == 1


def test_an_outcome_that_can_never_be_saved_holds_up_no_others(
    services: Services, workspace: Workspace, waiting_post: dict[str, Any], running_clock: time_machine.Traveller
) -> None:
    for kind in ("webhook", "slack", "telegram"):
        services.add(workspace, kind)
    create_and_queue_notices()
    broken = ChannelMessage.objects.get(channel__kind="webhook")
    with started(LoopOfTest()) as loop, connection.execute_wrapper(Refusing(DataError("cannot be stored"), broken)):
        loop.run_until_idle()
    sent = list(ChannelMessage.objects.filter(sent_at__isnull=False).values_list("channel__kind", flat=True))
    broken.refresh_from_db()
    running_clock.shift(LEASE + timedelta(seconds=1))
    send_to_channels()

    assert sorted(sent) == ["slack", "telegram"]
    assert broken.lease_until  # so it is sent again, but not at once
    broken.refresh_from_db()
    assert (broken.sent_at is None, broken.attempts, len(services.receiver.requests)) == (False, 2, 2)


def test_a_slow_receiver_does_not_delay_others(
    services: Services, workspace: Workspace, waiting_post: dict[str, Any]
) -> None:
    for kind in ("slack", "webhook"):
        services.add(workspace, kind)
    held = services.slack.hold_next(WEBHOOK)
    create_and_queue_notices()
    with started(LoopOfTest()) as loop:
        loop.run_once()
        services.receiver.wait_for(1)
        held.set()
        loop.run_until_idle()

    assert ChannelMessage.objects.filter(sent_at__isnull=False).count() == 2
    assert loop.name == CHANNELS_LOOP
