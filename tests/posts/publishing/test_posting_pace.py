"""The posting pace of an account: targets wait for the times that are reserved for them, and are not rate limited."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import ConnectedAccount
from accounts.platforms.errors import RateLimited
from accounts.platforms.types import Content, PostingPace, Published
from posts.models import PostTarget
from tests.conftest import ApiClient
from tests.factories import AccountFactory
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import NOON, create, publish_rounds, read, the_target
from tests.posts.scripted_platform import ScriptedPlatform, publish_content
from workspaces.models import Workspace


@pytest.fixture
def paced(scripted: type[ScriptedPlatform], monkeypatch: pytest.MonkeyPatch) -> type[ScriptedPlatform]:
    """The scripted platform with a pace of two posts at once, then one per ten seconds."""
    monkeypatch.setattr(scripted, "capabilities", replace(scripted.capabilities, pace=PostingPace(seconds=10, burst=2)))
    return scripted


def test_targets_due_together_are_published_at_the_accounts_pace(
    api: ApiClient, telegram_account: ConnectedAccount, paced: type[ScriptedPlatform], clock: Any
) -> None:
    groups = [create(api, telegram_account, text=f"Number {number}") for number in range(5)]

    run_until_idle()
    waiting = [read(api, group)["targets"][0] for group in groups]
    assert [target["status"] for target in waiting] == ["published", "published", "pending", "pending", "pending"]
    assert [target["next_attempt_at"] for target in waiting[2:]] == [
        "2027-03-10T12:00:10Z",
        "2027-03-10T12:00:20Z",
        "2027-03-10T12:00:30Z",
    ]

    publish_rounds(clock)
    targets = [the_target(group) for group in groups]
    assert [target.published_at for target in targets] == [NOON + timedelta(seconds=s) for s in (0, 0, 10, 20, 30)]
    assert {target.attempts for target in targets} == {1}


def test_reserved_times_are_available_again_after_a_pause(
    api: ApiClient, telegram_account: ConnectedAccount, paced: type[ScriptedPlatform], clock: Any
) -> None:
    for number in range(2):
        create(api, telegram_account, text=f"Number {number}")
    run_until_idle()
    clock.shift(20)

    for number in range(2, 4):
        create(api, telegram_account, text=f"Number {number}")
    run_until_idle()

    assert len(paced.sent) == 4


def test_another_account_is_not_delayed(
    api: ApiClient, workspace: Workspace, telegram_account: ConnectedAccount, paced: type[ScriptedPlatform], clock: Any
) -> None:
    for number in range(4):
        create(api, telegram_account, text=f"Number {number}")
    other = create(api, AccountFactory(workspace=workspace, platform="telegram", sandbox=False))

    run_until_idle()

    assert read(api, other)["status"] == "published"


def test_a_target_waiting_for_its_reserved_time_can_be_cancelled(
    api: ApiClient, telegram_account: ConnectedAccount, paced: type[ScriptedPlatform], clock: Any
) -> None:
    at = "2027-03-10T12:00:30Z"
    groups = [create(api, telegram_account, text=f"Number {number}", scheduled_at=at) for number in range(3)]
    clock.move_to(at)
    run_until_idle()

    assert api.delete(f"/posts/{groups[2]['id']}").status_code == 200
    publish_rounds(clock)

    assert (read(api, groups[2])["status"], len(paced.sent)) == ("cancelled", 2)


def test_a_rate_limit_holds_back_the_whole_account(
    api: ApiClient, telegram_account: ConnectedAccount, paced: type[ScriptedPlatform], clock: Any
) -> None:
    def limited(content: Content) -> Published:
        paced.send = staticmethod(publish_content)
        raise RateLimited("Slower.", retry_after=120)

    paced.send = staticmethod(limited)
    first = create(api, telegram_account, text="Number 0")
    run_until_idle()
    second = create(api, telegram_account, text="Number 1")
    run_until_idle()

    assert the_target(second).due_at == NOON + timedelta(seconds=120)
    publish_rounds(clock)
    assert [read(api, group)["status"] for group in (first, second)] == ["published", "published"]
    assert PostTarget.objects.filter(attempts__gt=2).count() == 0


def test_the_simulator_has_no_pace(
    api: ApiClient, telegram_account: ConnectedAccount, paced: type[ScriptedPlatform], clock: Any
) -> None:
    for number in range(4):
        create(api, telegram_account, text=f"Number {number}", sandbox=True)

    run_until_idle()

    assert PostTarget.objects.filter(status="published").count() == 4


def test_reserved_times_that_were_missed_are_not_all_used_at_once(
    api: ApiClient, telegram_account: ConnectedAccount, paced: type[ScriptedPlatform], clock: Any
) -> None:
    for number in range(12):
        create(api, telegram_account, text=f"Number {number}")
    run_until_idle()
    clock.shift(600)

    run_until_idle()

    assert len(paced.sent) == 4


def test_a_rate_limited_account_sends_nothing_during_its_pause(
    api: ApiClient, telegram_account: ConnectedAccount, paced: type[ScriptedPlatform], clock: Any
) -> None:
    seconds_of_calls: list[float] = []

    def limited(content: Content) -> Published:
        seconds_of_calls.append((timezone.now() - NOON).total_seconds())
        if seconds_of_calls[-1] < 60:
            raise RateLimited("Slower.", retry_after=60 - seconds_of_calls[-1])
        return publish_content(content)

    paced.send = staticmethod(limited)
    for number in range(12):
        create(api, telegram_account, text=f"Number {number}")

    publish_rounds(clock, rounds=60)

    assert [seconds for seconds in seconds_of_calls if 0 < seconds < 60] == []
    assert PostTarget.objects.filter(status="published").count() == 12


def test_a_retry_waits_for_a_time_of_its_own(
    api: ApiClient, telegram_account: ConnectedAccount, paced: type[ScriptedPlatform], clock: Any
) -> None:
    groups = [create(api, telegram_account, text=f"Number {number}") for number in range(6)]
    run_until_idle()
    ConnectedAccount.objects.update(status="needs_reauth")
    clock.shift(60)
    run_until_idle()
    ConnectedAccount.objects.update(status="active")
    sent = len(paced.sent)

    for group in groups:
        api.post(f"/posts/{group['id']}/retry")
    run_until_idle()

    assert len(paced.sent) - sent == 2


def test_a_target_whose_reserved_time_has_come_is_published_by_its_first_claim(
    api: ApiClient, telegram_account: ConnectedAccount, paced: type[ScriptedPlatform]
) -> None:
    """With a clock that goes on between the reservation of the time and the decision."""
    group = create(api, telegram_account)

    assert run_until_idle() == 1
    assert read(api, group)["status"] == "published"
