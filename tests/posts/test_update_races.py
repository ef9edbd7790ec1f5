"""Edits concurrent with other edits, the publisher and the billing counters."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import ConnectedAccount
from billing import selectors as billing
from billing.models import MonthCounter
from tests.conftest import ApiClient
from tests.in_threads import in_threads
from tests.posts.calls import patch
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, create, kinds_of, read
from tests.posts.scripted_platform import ScriptedPlatform
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db(transaction=True)
APRIL = "2027-04-02T12:00:00Z"


def test_concurrent_edit_and_publishing_have_one_winner(
    api: ApiClient, telegram_account: ConnectedAccount, scripted: type[ScriptedPlatform]
) -> None:
    tomorrow = (timezone.now() + timedelta(days=1)).isoformat()
    for _ in range(12):
        group = create(api, telegram_account, text="First", scheduled_at=timezone.now().isoformat())
        scripted.sent.clear()

        def race(n: int, group: dict[str, Any] = group) -> int:
            return run_until_idle() if n else patch(api, group, text="Second", scheduled_at=tomorrow).status_code

        status, published = in_threads(2, race)

        ended = read(api, group)
        if status == 200:
            assert (ended["status"], ended["text"], scripted.sent) == ("scheduled", "Second", [])
            assert kinds_of(group) == ["post.scheduled", "post.scheduled"]
            api.delete(f"/posts/{group['id']}")
        else:
            assert (status, published, ended["status"], ended["text"]) == (409, 1, "published", "First")
            assert [content.text for content in scripted.sent] == ["First"]
    assert billing.find_wrong_month_counters() == []
    assert sum(row.held_cents for row in MonthCounter.objects.all()) == 0


def test_concurrent_edits_are_applied_in_sequence_or_refused(
    api: ApiClient, workspace: Workspace, telegram_account: ConnectedAccount, clock: Any
) -> None:
    group = create(api, telegram_account, scheduled_at=TOMORROW)

    statuses = in_threads(8, lambda n: patch(api, group, text=f"{n}").status_code)

    made = statuses.count(200)
    assert set(statuses) <= {200, 409}
    assert made >= 1
    assert read(api, group)["content_version"] == 1 + made
    assert MonthCounter.objects.get(holder_id=workspace.id).held_cents == 1
    assert billing.find_wrong_month_counters() == []


def test_concurrent_moves_between_months_do_not_deadlock(
    api: ApiClient, workspace: Workspace, telegram_account: ConnectedAccount, clock: Any
) -> None:
    both = (TOMORROW, APRIL)
    groups = [create(api, telegram_account, text=f"{n}", scheduled_at=both[n % 2]) for n in range(8)]

    for turn in (1, 2, 3):

        def move(n: int, turn: int = turn) -> int:
            return int(patch(api, groups[n], scheduled_at=both[(n + turn) % 2]).status_code)

        assert in_threads(8, move) == [200] * 8

    assert [row.held_cents for row in MonthCounter.objects.order_by("month")] == [4, 4]
    assert billing.find_wrong_month_counters() == []
