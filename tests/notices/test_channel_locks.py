"""The locks of those who change a notice channel and its messages at the same time."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.db import connection

from config.api.caller import Caller
from config.notices.channels import changes
from config.notices.channels.queue import claim_messages, queue_notice_messages, record_outcome_and_pause_refused_channel
from config.notices.models import ChannelMessage
from tests.in_threads import in_threads
from tests.notices.channels import Services, notice
from tests.until import wait_until
from webhooks.sender import AttemptOutcome, DeliveryVerdict
from workspaces.models import User, Workspace

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("running_clock"),
    pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time."),
]


def test_a_person_and_the_worker_pause_a_channel_at_the_same_time(
    services: Services, workspace: Workspace, owner: User
) -> None:
    channel = services.add(workspace, "webhook")
    queue_notice_messages([channel], notice)
    [message] = claim_messages(ChannelMessage.objects.all(), limit=1)
    channel_locked = threading.Event()

    def wait_for_the_worker(execute: Any, sql: str, *rest: Any) -> Any:
        if ChannelMessage._meta.db_table in sql and not channel_locked.is_set():
            channel_locked.set()
            wait_until(somebody_waits_for_this_transaction)
        return execute(sql, *rest)

    def pause(number: int) -> None:
        if number == 0:
            caller = Caller(kind="user", actor_id=owner.pk)
            with connection.execute_wrapper(wait_for_the_worker):
                changes.pause_channel(caller=caller, workspace_id=workspace.id, channel_id=channel.pk)
        else:
            assert channel_locked.wait(20)
            record_outcome_and_pause_refused_channel(
                message, AttemptOutcome(DeliveryVerdict.REFUSED, 410, error="The receiver answered 410.")
            )

    in_threads(2, pause)

    channel.refresh_from_db()
    message.refresh_from_db()
    assert (channel.paused_at is None, channel.pause_reason) == (False, "")  # the person was first
    assert (message.due_at, message.last_error) == (None, "The receiver answered 410.")


def somebody_waits_for_this_transaction() -> bool:
    blocked = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid)))"
    with connection.cursor() as cursor:
        cursor.execute(blocked)
        return bool(cursor.fetchone()[0])
