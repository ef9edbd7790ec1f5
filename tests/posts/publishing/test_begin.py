"""Beginning claimed targets is all or nothing."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import ConnectedAccount
from config.jobs.database_writer import DatabaseWriter
from posts.models import PostGroup, PostTarget
from posts.publishing.engine import begin_attempts
from tests.conftest import ApiClient
from tests.posts.publishing import steps
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import create, read

SECONDS = 30


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite locks no single row")
@pytest.mark.django_db(transaction=True)
def test_a_locked_group_prevents_all_attempts_from_beginning(
    api: ApiClient, telegram_account: ConnectedAccount, scripted: Any
) -> None:
    create(api, telegram_account, scheduled_at=(timezone.now() + timedelta(hours=1)).isoformat())
    PostTarget.objects.update(due_at=timezone.now())
    claimed = steps.take_up()
    locked, enough = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic():
            PostGroup.objects.select_for_update().get()
            locked.set()
            enough.wait(SECONDS)
        connection.close()

    holder = threading.Thread(target=hold)
    holder.start()
    assert locked.wait(SECONDS)
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '50ms'")
    attempts = begin_attempts([claimed], DatabaseWriter())
    enough.set()
    holder.join(SECONDS)
    connection.close()  # with its time-out

    assert attempts == []
    target = PostTarget.objects.get()
    assert (target.status, target.attempts, target.worker_losses, target.step_begun_at) == ("pending", 0, 0, None)
    [attempt] = begin_attempts([target], DatabaseWriter())
    assert (attempt.target.attempts, PostGroup.objects.get().status) == (1, "publishing")


def test_a_row_that_cannot_be_read_delays_no_other_target(
    api: ApiClient, telegram_account: ConnectedAccount, scripted: Any, clock: Any
) -> None:
    broken, good = (create(api, telegram_account, text=text) for text in ("Broken", "Good"))
    PostTarget.objects.filter(group_id=broken["id"]).update(phase="send", progress={"out": "not a post"})

    run_until_idle()

    assert [read(api, group)["status"] for group in (broken, good)] == ["publishing", "published"]
    due_at = PostTarget.objects.get(group_id=broken["id"]).due_at
    assert due_at
    assert due_at > timezone.now()
