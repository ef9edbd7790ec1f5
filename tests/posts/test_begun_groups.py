"""A group of which some targets have begun: DELETE cancels the others, and PATCH changes only those."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from billing import selectors as billing
from billing.models import MonthCounter
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.factories import AccountFactory, MediaAssetFactory
from tests.posts.calls import group_in, patch, targets_for
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, body_for, create, kinds_of, read
from workspaces.models import Workspace

EVENING, NEXT_DAY = "2027-03-11T18:00:00Z", "2027-03-12T08:00:00Z"


@pytest.fixture
def real(workspace: Workspace, telegram_account: ConnectedAccount) -> list[ConnectedAccount]:
    return [telegram_account, AccountFactory(workspace=workspace, platform="mastodon", sandbox=False)]


@pytest.fixture
def begun(api: ApiClient, accounts: list[ConnectedAccount], clock: Any) -> dict[str, Any]:
    """A post that was published to its first account, and goes to the second in the evening."""
    body = body_for(*accounts[:2], scheduled_at=TOMORROW)
    body["targets"][1]["scheduled_at"] = EVENING
    group = api.post("/posts", body).json()["post_group"]
    clock.move_to(TOMORROW)
    run_until_idle()
    return read(api, group)


def statuses(group: dict[str, Any]) -> list[str]:
    return [each["status"] for each in group["targets"]]


def test_cancelling_stops_what_has_not_begun_and_ends_the_group(api: ApiClient, begun: dict[str, Any], clock: Any) -> None:
    assert (begun["status"], statuses(begun)) == ("publishing", ["published", "pending"])
    preview = api.delete(f"/posts/{begun['id']}?dry_run=true").json()["would_update"]

    cancelled = group_in(api.delete(f"/posts/{begun['id']}"))

    assert (cancelled["status"], statuses(cancelled)) == ("published", ["published", "cancelled"])
    assert (cancelled["finished_at"], cancelled["scheduled_at"]) == (TOMORROW, TOMORROW)
    assert {**preview, "updated_at": ""} == {**cancelled, "updated_at": ""}
    assert kinds_of(begun) == ["post.scheduled", "post.target.published", "post.published"]
    clock.move_to(EVENING)
    assert run_until_idle() == 0
    assert_envelope(api.delete(f"/posts/{begun['id']}"), 409, "INVALID_STATE")


def test_cancelling_releases_only_the_money_of_what_has_not_begun(
    api: ApiClient, workspace: Workspace, real: list[ConnectedAccount], clock: Any
) -> None:
    body = body_for(*real, scheduled_at=TOMORROW)
    body["targets"][1]["scheduled_at"] = "2027-04-01T00:00:00Z"
    group = api.post("/posts", body).json()["post_group"]
    clock.move_to(TOMORROW)
    run_until_idle()

    assert group_in(api.delete(f"/posts/{group['id']}"))["cost_cents"] == 1
    counters = {row.month.month: (row.held_cents, row.settled_cents) for row in MonthCounter.objects.all()}
    assert counters == {3: (0, 1), 4: (0, 0)}
    assert billing.find_wrong_month_counters() == []


def test_an_edit_changes_only_what_has_not_begun(
    api: ApiClient, begun: dict[str, Any], accounts: list[ConnectedAccount], clock: Any
) -> None:
    edited = group_in(patch(api, begun, text="Better"))

    assert (edited["text"], edited["content_version"], edited["status"]) == ("Better", 2, "publishing")
    assert [each["text"] for each in edited["targets"]] == ["Hello", None]  # what is published keeps its text
    moved = group_in(patch(api, begun, targets=[{**targets_for(accounts[1])[0], "scheduled_at": NEXT_DAY}]))
    assert [each["scheduled_at"] for each in moved["targets"]] == [TOMORROW, NEXT_DAY]
    assert kinds_of(begun)[-1] == "post.scheduled"
    clock.move_to(NEXT_DAY)
    run_until_idle()
    assert read(api, begun)["status"] == "published"


def test_an_account_that_an_edit_leaves_out_is_cancelled_and_can_be_added_again(
    api: ApiClient, begun: dict[str, Any], accounts: list[ConnectedAccount], clock: Any
) -> None:
    swapped = group_in(patch(api, begun, targets=targets_for(accounts[2]), scheduled_at=EVENING))
    assert statuses(swapped) == ["published", "pending", "cancelled"]

    back = group_in(patch(api, begun, targets=targets_for(*accounts)))

    assert statuses(back) == ["published", "pending", "pending"]
    assert {each["id"] for each in back["targets"]} == {each["id"] for each in swapped["targets"]}
    clock.move_to(EVENING)
    assert run_until_idle() == 2
    assert (read(api, begun)["status"], kinds_of(begun)[-1]) == ("published", "post.published")


def test_an_edit_that_leaves_out_all_that_has_not_begun_ends_the_group(
    api: ApiClient, begun: dict[str, Any], accounts: list[ConnectedAccount]
) -> None:
    ended = group_in(patch(api, begun, targets=targets_for(accounts[0])))

    assert (ended["status"], statuses(ended)) == ("published", ["published", "cancelled"])
    assert ended["finished_at"] is not None
    assert kinds_of(begun)[-1] == "post.published"


def test_the_media_of_a_begun_group_cannot_be_changed(api: ApiClient, begun: dict[str, Any], workspace: Workspace) -> None:
    asset = MediaAssetFactory(workspace=workspace)

    for dry_run in (True, False):
        answer = patch(api, begun, media=[{"media_id": asset.id}], dry_run=dry_run)
        assert_envelope(answer, 409, "INVALID_STATE")
    assert patch(api, begun, media=[]).status_code == 200  # as they are


@pytest.mark.parametrize("mode", ["draft", "requires_confirmation"])
def test_an_agent_that_needs_approval_cannot_edit_a_begun_group(
    api: ApiClient, agent_client: Any, begun: dict[str, Any], mode: str
) -> None:
    agent = agent_client(default_mode=mode)

    assert_envelope(patch(agent, begun, text="Better"), 403, "AGENT_MODE_FORBIDS")
    assert read(api, begun) == begun
    assert agent.delete(f"/posts/{begun['id']}").status_code == 200  # stopping is allowed


def test_an_unfinished_group_may_have_begun_to_the_last_target(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    group = create(api, account, text="[sandbox:flaky]", scheduled_at=TOMORROW)
    clock.move_to(TOMORROW)
    run_until_idle()
    assert statuses(read(api, group)) == ["retrying"]

    assert_envelope(api.delete(f"/posts/{group['id']}"), 409, "INVALID_STATE")
    assert_envelope(patch(api, group, text="Better"), 409, "INVALID_STATE")
