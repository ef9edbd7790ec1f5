"""Outcomes of one post's targets that are written at the same time: the post ends once, with all of them."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import ConnectedAccount
from billing import selectors as billing
from config.jobs.database_writer import DatabaseWriter
from posts.models import PostGroup, PostTarget
from posts.publishing.attempts import claim_targets
from posts.publishing.engine import begin_attempts
from posts.publishing.outcomes import TargetUpdate, write_final_outcomes_if_claims_valid
from posts.states import Certainty, TargetStatus
from tests.conftest import ApiClient
from tests.in_threads import in_threads
from tests.posts.publishing.worker import publish_claimed
from tests.posts.rows import create, kinds_of, read

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = 8
WAITING = "SELECT FROM pg_stat_activity WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))"  # for this session


def test_two_workers_finish_the_targets_of_one_post(api: ApiClient, accounts: list[ConnectedAccount]) -> None:
    for number in range(ROUNDS):
        group = create(api, *accounts[:2], text=f"Post {number}")
        claimed = claim_targets(PostTarget.objects.all(), limit=2)

        in_threads(2, lambda n, claimed=claimed: publish_claimed(claimed[n]))  # type: ignore[misc]

        ended = read(api, group)
        assert (ended["status"], [target["status"] for target in ended["targets"]]) == ("published", ["published"] * 2)
        assert sorted(kinds_of(group)) == ["post.published", "post.target.published", "post.target.published"]


def test_a_target_is_cancelled_while_the_other_one_is_published(
    api: ApiClient, account: ConnectedAccount, telegram_account: ConnectedAccount, scripted: Any
) -> None:
    tomorrow = (timezone.now() + timedelta(days=1)).isoformat()
    for number in range(ROUNDS):
        group = create(api, account, telegram_account, text=f"Post {number}", scheduled_at=tomorrow)
        PostTarget.objects.filter(group_id=group["id"], account=account).update(due_at=timezone.now())
        [claimed] = claim_targets(PostTarget.objects.all(), limit=2)

        def publish_or_cancel(n: int, group: dict[str, Any] = group, claimed: PostTarget = claimed) -> None:
            publish_claimed(claimed) if n else api.delete(f"/posts/{group['id']}")

        in_threads(2, publish_or_cancel)

        ended = read(api, group)
        if ended["status"] == "publishing":  # the cancellation was refused, because the post changed meanwhile
            assert api.delete(f"/posts/{group['id']}").status_code == 200
            ended = read(api, group)
        assert (ended["status"], [target["status"] for target in ended["targets"]]) == (
            "published",
            ["published", "cancelled"],
        )
        assert kinds_of(group).count("post.published") == 1
    assert billing.find_wrong_month_counters() == []


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite lets in one writer at a time")
def test_a_writer_that_keeps_changing_one_post_costs_the_others_one_more_try(
    api: ApiClient, account: ConnectedAccount, scripted: Any
) -> None:
    groups = [create(api, account, text=f"Post {number}") for number in range(5)]
    contended = PostGroup.objects.filter(pk=groups[2]["id"])
    attempts = begin_attempts(claim_targets(PostTarget.objects.all(), limit=5), DatabaseWriter())
    changes, locked, enough = 0, threading.Event(), threading.Event()

    def keep_changing() -> None:
        """Hold the row's lock until somebody waits for it, then change the row: what was read without the lock is old."""
        nonlocal changes
        while not enough.is_set():
            with transaction.atomic(), connection.cursor() as cursor:
                group = contended.select_for_update().get()
                locked.set()
                while not enough.is_set() and not _waits(cursor):
                    pass
                contended.update(event_sequence=group.event_sequence + 1, updated_at=timezone.now())
                changes += 1
        connection.close()

    writer = threading.Thread(target=keep_changing)
    writer.start()
    assert locked.wait(30)
    with CaptureQueriesContext(connection) as statements:
        saved = write_final_outcomes_if_claims_valid([published(attempt.target) for attempt in attempts])
    enough.set()
    writer.join(30)

    assert saved == [True] * 5
    assert len([each for each in statements if each["sql"].startswith("WITH w0 AS")]) == 2
    for group in groups:
        assert (read(api, group)["status"], kinds_of(group)) == ("published", ["post.published"])
    assert contended.get().event_sequence == changes + 1  # neither writer has overwritten the other
    assert billing.find_wrong_month_counters() == []


def _waits(cursor: Any) -> bool:
    cursor.execute(WAITING)
    return cursor.fetchone() is not None


def published(target: PostTarget) -> TargetUpdate:
    """What the publisher writes once the platform has published the target."""
    post = {"external_id": target.id, "published_at": timezone.now(), "due_at": None, "lease_until": None}
    values = {"status": TargetStatus.PUBLISHED, "certainty": Certainty.CONFIRMED, "step_begun_at": None, **post}
    return TargetUpdate(target, values, [TargetStatus.PUBLISHING])
