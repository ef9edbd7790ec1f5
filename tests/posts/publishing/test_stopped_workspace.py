"""A paused workspace postpones its posts, a deleted one ends them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from billing.models import MonthCounter
from posts.models import PostTarget
from tests.conftest import ApiClient
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import NOON, create, kinds_of, publish_rounds, read
from tests.posts.scripted_platform import ScriptedPlatform
from workspaces.models import Workspace


@pytest.fixture
def group(api: ApiClient, telegram_account: ConnectedAccount, clock: Any) -> dict[str, Any]:
    """A post that is due."""
    return create(api, telegram_account, scheduled_at=NOON.isoformat())


def test_a_paused_workspace_postpones_its_posts_until_it_is_resumed(
    api: ApiClient, group: dict[str, Any], scripted: type[ScriptedPlatform], clock: Any
) -> None:
    Workspace.objects.update(status="paused")
    for _ in range(20):
        assert run_until_idle() == 1  # looked at, not begun
        assert run_until_idle() == 0
        clock.shift(30)
    held = read(api, group)
    assert (held["status"], held["targets"][0]["status"], held["targets"][0]["attempts"]) == ("scheduled", "pending", 0)
    assert (scripted.sent, MonthCounter.objects.get().held_cents) == ([], 1)

    Workspace.objects.update(status="active")
    run_until_idle()

    assert read(api, group)["status"] == "published"


def test_a_post_postponed_beyond_its_grace_period_is_missed(api: ApiClient, group: dict[str, Any], clock: Any) -> None:
    Workspace.objects.update(status="paused")
    clock.shift(timedelta(hours=24, seconds=1))
    run_until_idle()
    Workspace.objects.update(status="active")
    publish_rounds(clock)

    assert read(api, group)["targets"][0]["error"]["code"] == "SCHEDULE_MISSED"


def test_postponed_posts_can_be_cancelled_after_the_workspace_is_resumed(
    api: ApiClient, group: dict[str, Any], clock: Any
) -> None:
    Workspace.objects.update(status="paused")
    run_until_idle()
    Workspace.objects.update(status="active")

    assert api.delete(f"/posts/{group['id']}").status_code == 200


def test_a_deleted_workspace_publishes_nothing_and_pays_nothing(
    group: dict[str, Any], scripted: type[ScriptedPlatform], clock: Any
) -> None:
    Workspace.objects.update(status="deleted")

    run_until_idle()

    target = PostTarget.objects.get()
    assert (target.status, target.group.status) == ("failed", "failed")
    assert PostTarget.objects.filter(error__code="WORKSPACE_DELETED").exists()
    assert (scripted.sent, MonthCounter.objects.get().held_cents) == ([], 0)
    assert kinds_of(group) == ["post.scheduled", "post.failed"]


def test_an_account_that_is_disconnected_meanwhile_fails_its_targets(
    api: ApiClient, group: dict[str, Any], scripted: type[ScriptedPlatform]
) -> None:
    ConnectedAccount.objects.update(status="disconnected")

    run_until_idle()

    target = read(api, group)["targets"][0]
    assert (target["status"], target["error"]["code"]) == ("failed", "ACCOUNT_NEEDS_REAUTH")
    assert scripted.sent == []
