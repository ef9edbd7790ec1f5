"""The page of posts whose times were missed while the service was down."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from posts.models import PostGroup
from tests import factories
from tests.conftest import ApiClient
from tests.posts.dashboard.dashboard import Dashboard, fields, words
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, create, group_with_target, read
from workspaces.models import User, Workspace


@pytest.fixture
def missed(api: ApiClient, accounts: list[ConnectedAccount], clock: Any) -> dict[str, Any]:
    """A post one of whose accounts has refused it, and whose other account missed its time."""
    targets = [{"platform": each.platform, "connected_account_id": each.id} for each in accounts[:2]]
    targets[0] |= {"text": "[sandbox:reject]", "scheduled_at": "2027-03-10T12:30:00Z"}
    group = dict(api.post("/posts", {"text": "Hello", "targets": targets, "scheduled_at": TOMORROW}).json()["post_group"])
    clock.shift(timedelta(hours=1))
    run_until_idle()
    clock.shift(timedelta(days=3))
    run_until_idle()
    return group


def statuses(api: ApiClient, group: dict[str, Any]) -> list[str]:
    return [target["status"] for target in read(api, group)["targets"]]


def test_chosen_posts_are_sent_where_their_time_was_missed(
    dashboard: Dashboard, api: ApiClient, missed: dict[str, Any], clock: Any
) -> None:
    assert fields(dashboard.get("missed"), "post") == [missed["id"]]

    assert "1 post is sent in 10 seconds." in words(
        dashboard.http.post(dashboard.address("missed"), {"post": missed["id"]}, follow=True)
    )

    assert statuses(api, missed) == ["failed", "pending"]
    clock.shift(12)
    run_until_idle()
    assert statuses(api, missed) == ["failed", "published"]
    assert fields(dashboard.get("missed"), "post") == []


def test_missed_posts_have_the_pictures_of_their_accounts(dashboard: Dashboard, missed: dict[str, Any]) -> None:
    target = missed["targets"][1]
    account = ConnectedAccount.objects.get(pk=target["connected_account_id"])
    ConnectedAccount.objects.filter(pk=account.pk).update(avatar_digest="0123456789abcdef")
    page = dashboard.get("missed").content.decode()
    assert f'/accounts/{account.id}/avatar/0123456789abcdef" alt="{account.handle}"' in page
    assert f'<symbol id="mark-{account.platform}"' in page


def test_what_is_not_chosen_stays_and_leaves_the_page_after_a_week(
    dashboard: Dashboard, api: ApiClient, missed: dict[str, Any], clock: Any
) -> None:
    answer = dashboard.http.post(dashboard.address("missed"), {}, follow=True)

    assert "Choose the posts to send." in answer.content.decode()
    assert statuses(api, missed) == ["failed", "failed"]
    clock.shift(timedelta(days=7))
    assert fields(dashboard.get("missed"), "post") == []


def test_a_post_that_failed_otherwise_is_not_listed(dashboard: Dashboard, api: ApiClient, account: ConnectedAccount) -> None:
    create(api, account, texts=["[sandbox:reject]"])
    run_until_idle()

    assert "No missed posts." in words(dashboard.get("missed"))


def test_what_is_refused_is_said(dashboard: Dashboard, api: ApiClient, missed: dict[str, Any], workspace: Workspace) -> None:
    Workspace.objects.filter(pk=workspace.pk).update(status="paused")

    answer = dashboard.http.post(dashboard.address("missed"), {"post": missed["id"]}, follow=True)

    assert "This workspace is paused" in answer.content.decode()
    assert statuses(api, missed) == ["failed", "failed"]


def test_posts_of_other_workspaces_are_neither_listed_nor_sent(
    dashboard: Dashboard, missed: dict[str, Any], teammate: User
) -> None:
    stranger = factories.WorkspaceFactory()
    foreign = group_with_target(stranger, None, status="failed")
    foreign.targets.update(
        status="failed", error={"code": "SCHEDULE_MISSED"}, scheduled_at=PostGroup.objects.get(pk=missed["id"]).scheduled_at
    )

    assert fields(dashboard.get("missed"), "post") == [missed["id"]]
    dashboard.post("missed", post=foreign.id)
    assert foreign.targets.get().status == "failed"
    assert fields(Dashboard(dashboard.workspace, teammate).get("missed"), "post") == []  # a viewer cannot send
