"""The composer: editing unpublished posts and releasing them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from billing.models import MonthCounter
from posts.models import PostGroup
from tests.conftest import ApiClient
from tests.factories import AccountFactory
from tests.posts.calls import patch
from tests.posts.dashboard.dashboard import Dashboard, fields, the_group, typed, words
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import NOON, TOMORROW, create, kinds_of
from workspaces.models import Workspace

TIME = "2027-03-11T12:00"


def test_the_form_shows_the_stored_post(
    dashboard: Dashboard, api: ApiClient, accounts: list[ConnectedAccount], workspace: Workspace
) -> None:
    _, mastodon, _ = accounts
    thread = [{"text": "and more"}]
    options = {"visibility": "private", "sensitive": True, "thread": thread}
    target = {"platform": "mastodon", "connected_account_id": mastodon.id, "text": "There", "options": options}
    body = {"text": "All", "targets": [target], "draft": True, "scheduled_at": TOMORROW}
    group = api.post("/posts", body).json()["post_group"]

    page = dashboard.get("post-edit", group)

    assert (typed(page, "text"), typed(page, f"text-{mastodon.id}")) == ("All", "There")
    assert fields(page, "when") == [TIME]
    assert '<option value="private" selected>' in page.content.decode()
    assert '<option value="true" selected>' in page.content.decode()
    assert typed(page, f"thread-{mastodon.id}") == "and more"
    extra = {
        f"own-{mastodon.id}": "on",
        f"text-{mastodon.id}": "There",
        f"thread-{mastodon.id}": "and more",
        f"{mastodon.id}-visibility": "direct",
    }
    saved = dashboard.compose("save", mastodon, group=group, text="All", content_version="1", when=TIME, extra=extra)

    assert saved.status_code == 303
    assert the_group().content_version == 2
    assert the_group().targets.get().options == {"visibility": "direct", "thread": thread}


@pytest.mark.parametrize(("platform", "warned"), [("x", True), ("mastodon", False)])
def test_an_unproven_thread_shows_a_warning(
    dashboard: Dashboard, api: ApiClient, workspace: Workspace, platform: str, warned: bool
) -> None:
    account = AccountFactory(workspace=workspace, platform=platform)
    target = {"platform": platform, "connected_account_id": account.id}
    bodies = [{**target, "options": options} for options in ({"thread": [{"text": "and more"}]}, {})]
    thread, single = (
        api.post("/posts", {"text": "All", "targets": [body], "draft": True}).json()["post_group"] for body in bodies
    )

    assert ("Threads have not been tried on X yet." in words(dashboard.get("post-edit", thread))) is warned
    assert "Threads have not been tried" not in words(dashboard.get("post-edit", single))


@pytest.mark.parametrize(
    ("made", "action", "when", "status", "at"),
    [
        ({"draft": True}, "save", "", "draft", None),
        ({"draft": True}, "save", TIME, "draft", NOON + timedelta(days=1)),
        ({"draft": True, "scheduled_at": TOMORROW}, "save", "", "draft", None),
        ({"draft": True}, "schedule", TIME, "scheduled", NOON + timedelta(days=1)),
        ({"draft": True, "scheduled_at": TOMORROW}, "publish", TIME, "scheduled", NOON + timedelta(seconds=12)),
        ({"scheduled_at": TOMORROW}, "schedule", "2027-03-12T08:00", "scheduled", datetime(2027, 3, 12, 8, tzinfo=UTC)),
    ],
)
def test_each_save_button_updates_the_post(
    dashboard: Dashboard,
    api: ApiClient,
    account: ConnectedAccount,
    made: dict[str, Any],
    action: str,
    when: str,
    status: str,
    at: datetime | None,
) -> None:
    group = create(api, account, **made)

    answer = dashboard.compose(action, account, group=group, text="Better", content_version="1", when=when, shown_when=when)

    assert answer["location"] == dashboard.address("post", group)
    assert (the_group().text, the_group().status, the_group().scheduled_at) == ("Better", status, at)


def test_a_scheduled_post_can_be_published_now(
    dashboard: Dashboard, api: ApiClient, account: ConnectedAccount, clock: Any
) -> None:
    group = create(api, account, scheduled_at=TOMORROW)

    dashboard.compose("publish", account, group=group, content_version="1", when=TIME, shown_when=TIME)

    assert run_until_idle() == 0
    clock.shift(12)
    assert run_until_idle() == 1
    assert the_group().status == "published"


def test_an_unchanged_time_retains_its_seconds(dashboard: Dashboard, api: ApiClient, account: ConnectedAccount) -> None:
    group = create(api, account, scheduled_at="2027-03-11T12:00:42Z")

    dashboard.compose("schedule", account, group=group, text="Better", content_version="1", when=TIME)

    assert the_group().scheduled_at == datetime(2027, 3, 11, 12, 0, 42, tzinfo=UTC)
    assert kinds_of(group) == ["post.scheduled"]


def test_an_outdated_version_cannot_be_overwritten(dashboard: Dashboard, api: ApiClient, account: ConnectedAccount) -> None:
    group = create(api, account, draft=True)
    patch(api, group, text="Meanwhile")

    page = dashboard.compose("publish", account, group=group, text="Mine", content_version="1")

    assert page.status_code == 422
    assert "Somebody else changed this post while you were editing." in words(page)
    assert typed(page, "text") == "Mine"
    assert (the_group().text, the_group().status) == ("Meanwhile", "draft")


def test_an_edit_that_cannot_be_released_is_not_saved(dashboard: Dashboard, api: ApiClient, workspace: Workspace) -> None:
    real = AccountFactory(workspace=workspace, sandbox=False)
    group = create(api, real, draft=True)
    Workspace.objects.update(free_monthly_credit_cents=0)

    page = dashboard.compose("publish", real, group=group, text="Better", content_version="1")

    assert page.status_code == 422
    assert "spend cap" in words(page)
    assert (the_group().text, the_group().content_version, the_group().status) == ("Hello", 1, "draft")
    assert not MonthCounter.objects.exists()


def test_a_disconnected_account_stays_chosen_until_it_is_deselected(
    dashboard: Dashboard, api: ApiClient, accounts: list[ConnectedAccount]
) -> None:
    group = create(api, *accounts[:2], draft=True)
    ConnectedAccount.objects.filter(pk=accounts[0].id).update(status="disconnected")

    page = dashboard.get("post-edit", group)

    assert accounts[0].id in fields(page, "account")
    assert "Disconnected" in words(page)


def test_an_edited_posts_own_content_is_not_a_duplicate(
    dashboard: Dashboard, api: ApiClient, account: ConnectedAccount
) -> None:
    group = create(api, account, scheduled_at=TOMORROW)

    repeated = "The same post was sent to this account within the last 24 hours."
    assert repeated not in words(dashboard.get("post-edit", group))
    assert repeated in words(dashboard.compose("check", account))


def test_a_sandbox_post_shows_that_it_stays_in_the_sandbox(
    dashboard: Dashboard, api: ApiClient, account: ConnectedAccount, workspace: Workspace
) -> None:
    group = create(api, account, draft=True)
    real = AccountFactory(workspace=workspace, sandbox=False, platform="mastodon")

    page = dashboard.compose("check", account, real, group=group)

    assert "stays in the sandbox" in words(page)
    assert "It costs nothing." in words(page)


def test_a_published_post_cannot_be_edited(dashboard: Dashboard, api: ApiClient, account: ConnectedAccount) -> None:
    group = create(api, account)
    run_until_idle()

    page = dashboard.get("post-edit", group)
    assert (page.status_code, "can no longer be edited" in words(page)) == (409, True)
    assert dashboard.compose("publish", account, group=group, content_version="1", text="Again").status_code == 422
    assert PostGroup.objects.get().text == "Hello"
