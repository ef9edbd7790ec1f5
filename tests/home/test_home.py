"""The home page: what needs attention, next posts, spending and activity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import time_machine
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.models import ConnectedAccount
from billing.models import MonthCounter
from posts.models import PostGroup
from posts.states import GroupStatus
from tests.conftest import ApiClient
from tests.people import sign_in_here
from tests.posts.rows import NOON, TOMORROW, create
from workspaces.models import User, Workspace

NEWEST_OF_EACH = ("Waits", "Failed", "Half out", "Not known")


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture
def browser(owner: User) -> Client:
    client = Client()
    sign_in_here(client, owner)
    return client


def home(browser: Client, workspace: Workspace) -> str:
    answer = browser.get(f"/dashboard/workspaces/{workspace.id}")
    assert answer.status_code == 200
    return answer.content.decode()


def group(workspace: Workspace, text: str, status: str) -> PostGroup:
    who = {"created_by_type": "user", "created_by_id": "usr_x", "trace_id": "0" * 32}
    return PostGroup.objects.create(workspace=workspace, text=text, status=status, **who)


def test_an_empty_workspace_shows_the_next_step(browser: Client, workspace: Workspace) -> None:
    text = home(browser, workspace)
    assert "Nothing needs your attention" in text
    assert f"/dashboard/workspaces/{workspace.id}/compose" in text
    assert "connect an account" in text


def test_posts_that_need_a_person_are_shown_first(browser: Client, workspace: Workspace, account: ConnectedAccount) -> None:
    statuses = (GroupStatus.PENDING_CONFIRMATION, GroupStatus.FAILED, GroupStatus.PARTIAL, GroupStatus.UNCONFIRMED)
    groups = [group(workspace, text, status) for text, status in zip(NEWEST_OF_EACH, statuses, strict=True)]
    group(workspace, "Went out well", GroupStatus.PUBLISHED)
    ConnectedAccount.objects.filter(pk=account.pk).update(status="needs_reauth")

    text = home(browser, workspace)
    needs, _, rest = text.partition('id="next"')

    assert all(said in needs for said in (*NEWEST_OF_EACH, account.handle))
    assert all(f"/posts/{each.id}" in needs for each in groups[1:])
    assert "Went out well" not in text
    assert 'aria-label="1 waiting"' in text
    assert "Nothing needs your attention" not in needs
    assert rest


def test_upcoming_posts_and_spending_are_shown(
    clock: Any, browser: Client, workspace: Workspace, api: ApiClient, account: ConnectedAccount
) -> None:
    create(api, account, text="Tomorrow's post", scheduled_at=TOMORROW)
    counter = {"held_cents": 15, "settled_cents": 70}
    MonthCounter.objects.update_or_create(holder_id=workspace.id, month=NOON.date().replace(day=1), defaults=counter)

    text = home(browser, workspace)

    assert "Tomorrow&#x27;s post" in text.partition('id="next"')[2]
    assert "$0.70 spent, $0.15 reserved for scheduled posts of $1.00" in " ".join(text.split())
    assert "$0.85 of this month's $1.00 is spent or reserved" in " ".join(text.split())


def test_the_page_needs_few_queries(
    browser: Client, workspace: Workspace, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for status in (GroupStatus.FAILED, GroupStatus.PENDING_CONFIRMATION) * 5:
        group(workspace, "Some text", status)
    with django_assert_max_num_queries(15):
        home(browser, workspace)
