"""POST /posts/queue: the money of several agents, their caps, and races for slots."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from billing import selectors as billing
from billing.models import MonthCounter
from posts.models import PostGroup
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.in_threads import in_threads
from tests.posts.calls import targets_for
from tests.posts.rows import TOMORROW, create
from tests.posts.test_queue import change, queued, times
from workspaces.models import Workspace

__all__ = ["queued"]  # a fixture


def test_the_money_of_posts_by_several_agents_moves_to_the_month_of_the_new_time(
    api: ApiClient, agent_client: Any, workspace: Workspace, clock: Any
) -> None:
    x = factories.AccountFactory(workspace=workspace, platform="x", sandbox=False)
    for client in (api, agent_client(), agent_client()):
        create(client, x, text=f"Post {client}", scheduled_at=TOMORROW)
    held = {row.holder_id: row.held_cents for row in MonthCounter.objects.filter(month__month=3)}
    assert len(held) == 3

    assert change(api, x, "move", days=30, dry_run=True).status_code == 200
    assert change(api, x, "move", days=30).status_code == 200

    by_month = {
        month: {row.holder_id: row.held_cents for row in MonthCounter.objects.filter(month__month=month)} for month in (3, 4)
    }
    assert by_month == {3: dict.fromkeys(held, 0), 4: held}
    assert billing.find_wrong_month_counters() == []


def test_a_cap_of_one_agent_refuses_the_whole_change(
    api: ApiClient, agent_client: Any, workspace: Workspace, clock: Any
) -> None:
    x = factories.AccountFactory(workspace=workspace, platform="x", sandbox=False)
    agent = agent_client(posts_per_day_cap=1)
    create(api, x, scheduled_at=TOMORROW)
    for day in (11, 12):
        create(agent, x, text=f"{day}", scheduled_at=f"2027-03-{day}T12:00:00Z")
    assert change(api, x, "move", days=1).status_code == 200
    create(agent, x, text="Another", scheduled_at="2027-03-20T12:00:00Z")
    before = times(x)

    for dry_run in (True, False):
        answer = change(api, x, "move", days=7, before="2027-03-13T13:00:00Z", dry_run=dry_run)
        assert_envelope(answer, 429, "POSTS_PER_DAY_CAP_EXCEEDED")
    assert times(x) == before


@pytest.mark.django_db(transaction=True)
def test_a_shuffle_and_new_posts_at_once_give_every_slot_one_post(
    api: ApiClient, account: ConnectedAccount, queued: list[dict[str, Any]]
) -> None:
    new = {"text": "New", "targets": targets_for(account, slot="next")}
    works = [
        lambda: change(api, account, "shuffle"),
        lambda: change(api, account, "skip_week"),
        lambda: api.post("/posts", new),
    ]

    answers = in_threads(len(works), lambda n: works[n]())

    # A change that loses is refused: its posts have changed (409), or another post has taken one of its slots (422).
    assert {answer.status_code for answer in answers} <= {200, 201, 409, 422}, [each.content for each in answers]
    slots = [at for at, slot in times(account).values() if slot]
    assert len(slots) == len(set(slots))
    assert PostGroup.objects.count() == 6 + (answers[2].status_code == 201)
