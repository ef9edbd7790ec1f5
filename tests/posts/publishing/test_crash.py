"""Worker crashes at an at-most-once platform: at most one post, and never without a report."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from billing import selectors as billing
from billing.models import MonthCounter
from posts.models import PostTarget
from posts.publishing.attempts import LEASE
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.posts.publishing.steps import begin, do, take_first_step, take_up
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import create, kinds_of, publish_rounds, read
from tests.posts.scripted_platform import ScriptedPlatform

LOSSES = 3


@pytest.fixture
def group(api: ApiClient, telegram_account: ConnectedAccount, clock: Any) -> dict[str, Any]:
    """A post that is due."""
    return create(api, telegram_account)


@pytest.fixture(autouse=True)
def _books_balance(db: None) -> Any:
    yield
    assert billing.find_wrong_month_counters() == []


@pytest.mark.parametrize("sent", [True, False], ids=["after it was sent", "before it was sent"])
def test_a_worker_that_dies_while_sending_leaves_the_target_unconfirmed(
    api: ApiClient, scripted: type[ScriptedPlatform], group: dict[str, Any], clock: Any, sent: bool
) -> None:
    worker = take_up()
    take_first_step(worker)
    begin(worker)
    if sent:
        do(worker)
    clock.shift(LEASE)

    publish_rounds(clock)

    ended = read(api, group)
    assert (ended["status"], ended["targets"][0]["error"]["code"]) == ("unconfirmed", "PUBLISH_OUTCOME_UNKNOWN")
    assert kinds_of(group) == ["post.unconfirmed"]
    assert len(scripted.sent) == sent
    assert MonthCounter.objects.get().held_cents == 1


def test_only_a_retry_with_include_unconfirmed_sends_it_again(
    api: ApiClient, scripted: type[ScriptedPlatform], group: dict[str, Any], clock: Any
) -> None:
    worker = take_up()
    take_first_step(worker)
    begin(worker)
    do(worker)
    clock.shift(LEASE)
    run_until_idle()
    clock.shift(7 * 24 * 3600)

    assert run_until_idle() == 0
    assert_envelope(api.post(f"/posts/{group['id']}/retry"), 409, "INVALID_STATE")
    assert run_until_idle() == 0
    assert len(scripted.sent) == 1

    api.post(f"/posts/{group['id']}/retry", {"include_unconfirmed": True})
    assert run_until_idle() == 1
    assert (read(api, group)["status"], len(scripted.sent)) == ("published", 2)
    assert (MonthCounter.objects.get().held_cents, MonthCounter.objects.get().settled_cents) == (0, 1)


def test_a_worker_that_dies_before_its_first_step_uses_no_attempt(
    api: ApiClient, scripted: type[ScriptedPlatform], group: dict[str, Any], clock: Any
) -> None:
    take_up()
    clock.shift(LEASE)

    run_until_idle()

    assert (read(api, group)["targets"][0]["attempts"], len(scripted.sent)) == (1, 1)


def test_a_step_that_kills_several_workers_is_not_tried_again(
    api: ApiClient, scripted: type[ScriptedPlatform], group: dict[str, Any], clock: Any
) -> None:
    for _ in range(LOSSES):
        worker = take_up()
        worker.phase = ""
        begin(worker)
        clock.shift(LEASE)

    run_until_idle()

    target = read(api, group)["targets"][0]
    assert (target["status"], target["attempts"]) == ("failed", LOSSES)
    assert target["error"]["code"] == "PLATFORM_UNAVAILABLE"
    assert (scripted.sent, MonthCounter.objects.get().held_cents) == ([], 0)


def test_another_worker_continues_a_dead_workers_group(
    api: ApiClient, account: ConnectedAccount, telegram_account: ConnectedAccount, clock: Any
) -> None:
    group = create(api, telegram_account, account)
    PostTarget.objects.filter(account=account).update(due_at="2027-03-10T13:00:00Z")
    worker = take_up()
    take_first_step(worker)
    begin(worker)
    clock.move_to("2027-03-10T13:00:00Z")

    run_until_idle()

    assert [target["status"] for target in read(api, group)["targets"]] == ["unconfirmed", "published"]
    *of_targets, of_group = kinds_of(group)
    assert (set(of_targets), of_group) == ({"post.target.published", "post.target.unconfirmed"}, "post.unconfirmed")
