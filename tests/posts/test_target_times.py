"""A time for each target: when each is published, and what the group shows, costs and announces meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from billing.models import MonthCounter
from config.api.caller import system_caller
from posts.services.cancel import plan_cancel
from posts.services.commit import RowsChanged, commit_plan
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.factories import AccountFactory
from tests.posts.calls import confirm, group_in, groups_in, patch
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, body_for, create, kinds_of, read
from workspaces.models import Workspace

MORNING, EVENING, NEXT_DAY = "2027-03-11T08:00:00Z", "2027-03-11T18:00:00Z", "2027-03-12T08:00:00Z"


def body_at(accounts: Sequence[Any], *times: str | None, **fields: Any) -> dict[str, Any]:
    """The body of a post whose targets have these times of their own."""
    body = body_for(*accounts[: len(times)], **fields)
    for target, at in zip(body["targets"], times, strict=True):
        if at:
            target["scheduled_at"] = at
    return body


def created(api: ApiClient, body: dict[str, Any]) -> dict[str, Any]:
    answer = api.post("/posts", body)
    assert answer.status_code == 201, answer.content
    return dict(answer.json()["post_group"])


def times_of(group: dict[str, Any]) -> list[str | None]:
    return [target["scheduled_at"] for target in group["targets"]]


def test_each_target_is_published_at_its_own_time(api: ApiClient, accounts: list[ConnectedAccount], clock: Any) -> None:
    group = created(api, body_at(accounts, EVENING, None, NEXT_DAY, scheduled_at=MORNING))
    assert (group["status"], group["scheduled_at"]) == ("scheduled", MORNING)
    assert times_of(group) == [EVENING, MORNING, NEXT_DAY]
    assert [target["next_attempt_at"] for target in group["targets"]] == times_of(group)

    shown = []
    for at in (MORNING, EVENING, NEXT_DAY):
        clock.move_to(at)
        assert run_until_idle() == 1
        now = read(api, group)
        shown.append((now["status"], now["scheduled_at"], [each["status"] == "published" for each in now["targets"]]))

    assert shown == [
        ("publishing", EVENING, [False, True, False]),
        ("publishing", NEXT_DAY, [True, True, False]),
        ("published", MORNING, [True, True, True]),  # all are finished: the earliest of all
    ]
    assert kinds_of(group) == ["post.scheduled", *["post.target.published"] * 3, "post.published"]


def test_a_target_without_any_time_is_published_at_once(api: ApiClient, accounts: list[ConnectedAccount], clock: Any) -> None:
    group = created(api, body_at(accounts, None, EVENING))

    assert (group["status"], group["scheduled_at"], times_of(group)) == ("publishing", EVENING, [None, EVENING])
    assert run_until_idle() == 1
    assert [each["status"] for each in read(api, group)["targets"]] == ["published", "pending"]


@pytest.mark.parametrize(
    ("scopes", "times", "status"),
    [
        (["posts.schedule"], (MORNING, EVENING), 201),
        (["posts.schedule"], (MORNING, None), 403),
        (["posts.publish"], (MORNING, None), 403),
        (["posts.publish"], (None, None), 201),
        (["posts.publish", "posts.schedule"], (MORNING, None), 201),
    ],
)
def test_each_kind_of_time_needs_its_scope(
    key_with: Any,
    workspace: Workspace,
    telegram_account: ConnectedAccount,
    clock: Any,
    scopes: list[str],
    times: tuple[str | None, ...],
    status: int,
) -> None:
    real = [telegram_account, AccountFactory(workspace=workspace, platform="mastodon", sandbox=False)]

    assert key_with(*scopes).post("/posts", body_at(real, *times)).status_code == status


@pytest.mark.parametrize(("at", "code"), [("2027-03-10T11:58:59Z", "past"), ("2028-03-11T12:00:01Z", "too_far")])
def test_a_wrong_time_is_refused_by_name(
    api: ApiClient, accounts: list[ConnectedAccount], clock: Any, at: str, code: str
) -> None:
    body = body_at(accounts, MORNING, at)
    draft = create(api, *accounts[:2], draft=True)
    answers = {
        "targets[1].scheduled_at": [
            api.post("/posts", body),
            api.post("/posts", {**body, "dry_run": True}),
            api.post("/posts", {**body, "draft": True}),
            api.post("/posts/validate", body),
            patch(api, draft, targets=body["targets"]),
        ],
        "posts[0].targets[1].scheduled_at": [api.post("/posts/batch", {"posts": [body]})],
    }
    for field, found in answers.items():
        for answer in found:
            [row] = assert_envelope(answer, 422, "VALIDATION_FAILED")["details"]
            assert (row["field"], row["code"]) == (field, code)


def test_the_dry_run_and_the_batch_show_the_times(api: ApiClient, accounts: list[ConnectedAccount], clock: Any) -> None:
    body = body_at(accounts, EVENING, None, scheduled_at=MORNING)

    preview = api.post("/posts", {**body, "dry_run": True}).json()
    [group] = groups_in(api.post("/posts/batch", {"posts": [body]}))

    assert times_of(preview["would_create"]) == times_of(group) == [EVENING, MORNING]


def test_the_plan_hash_covers_each_time(api: ApiClient, accounts: list[ConnectedAccount], clock: Any) -> None:
    bodies = [
        body_at(accounts, *times, **fields)
        for times, fields in [
            ((MORNING, EVENING), {}),
            ((EVENING, MORNING), {}),
            ((MORNING, NEXT_DAY), {}),
            ((None, EVENING), {}),
            ((None, None), {}),
            ((None, None), {"scheduled_at": MORNING}),
        ]
    ]
    hashes = [api.post("/posts", {**body, "dry_run": True}).json()["plan_hash"] for body in bodies]

    assert len(set(hashes)) == len(bodies)
    again = [api.post("/posts", {**body, "dry_run": True}).json()["plan_hash"] for body in bodies]
    clock.shift(timedelta(seconds=30))
    assert hashes == again == [api.post("/posts", {**body, "dry_run": True}).json()["plan_hash"] for body in bodies]
    assert_envelope(api.post("/posts", bodies[1], Plan_Hash=hashes[0]), 409, "PLAN_CHANGED")
    assert api.post("/posts", bodies[0], Plan_Hash=hashes[0]).status_code == 201


def test_a_stored_plan_keeps_the_times(api: ApiClient, accounts: list[ConnectedAccount], clock: Any) -> None:
    made = api.post("/plans", {"operation": "posts.create", "request": body_at(accounts, EVENING, MORNING)}).json()["plan"]

    answer = api.post(f"/plans/{made['id']}/commit")

    assert times_of(answer.json()["post_group"]) == [EVENING, MORNING]


def test_moving_the_group_moves_the_targets_without_a_time_of_their_own(
    api: ApiClient, accounts: list[ConnectedAccount], clock: Any
) -> None:
    group = created(api, body_at(accounts, None, EVENING, scheduled_at=MORNING))

    moved = group_in(patch(api, group, scheduled_at=NEXT_DAY))

    assert (times_of(moved), moved["scheduled_at"]) == ([NEXT_DAY, EVENING], EVENING)
    assert kinds_of(group) == ["post.scheduled", "post.scheduled"]
    retimed = group_in(patch(api, group, targets=body_at(accounts, TOMORROW, None)["targets"]))
    assert times_of(retimed) == [TOMORROW, NEXT_DAY]
    assert group_in(patch(api, group, text="Only the text"))["targets"][0]["scheduled_at"] == TOMORROW
    assert kinds_of(group) == ["post.scheduled"] * 3


def test_confirming_keeps_the_times_that_are_still_to_come(
    api: ApiClient, agent_client: Any, accounts: list[ConnectedAccount], clock: Any
) -> None:
    agent = agent_client(default_mode="requires_confirmation")
    group = created(agent, body_at(accounts, MORNING, EVENING, None, scheduled_at=NEXT_DAY))
    assert {each["next_attempt_at"] for each in group["targets"]} == {None}
    clock.move_to(TOMORROW)  # the morning has passed

    released = group_in(confirm(api, group))

    assert (released["status"], times_of(released)) == ("publishing", [None, EVENING, NEXT_DAY])
    assert [each["next_attempt_at"] for each in released["targets"]] == [TOMORROW, EVENING, NEXT_DAY]


def test_the_grace_period_counts_for_each_target(api: ApiClient, accounts: list[ConnectedAccount], clock: Any) -> None:
    group = created(api, body_at(accounts, MORNING, NEXT_DAY))
    clock.move_to(NEXT_DAY)
    clock.shift(timedelta(seconds=1))

    run_until_idle()

    ended = read(api, group)
    assert [each["status"] for each in ended["targets"]] == ["failed", "published"]
    assert (ended["targets"][0]["error"]["code"], ended["status"]) == ("SCHEDULE_MISSED", "partial")


def test_a_retried_target_gets_the_new_time_and_the_others_keep_theirs(
    api: ApiClient, accounts: list[ConnectedAccount], clock: Any
) -> None:
    body = body_at(accounts, MORNING, EVENING)
    body["targets"][0]["text"] = "[sandbox:reject]"
    group = created(api, body)
    for at in (MORNING, EVENING):
        clock.move_to(at)
        run_until_idle()

    retried = group_in(api.post(f"/posts/{group['id']}/retry", {"scheduled_at": NEXT_DAY}))

    assert (times_of(retried), retried["scheduled_at"]) == ([NEXT_DAY, EVENING], NEXT_DAY)


def test_a_failed_target_is_retried_before_the_last_target_has_its_time(
    api: ApiClient, accounts: list[ConnectedAccount], clock: Any
) -> None:
    body = body_at(accounts, MORNING, EVENING)
    body["targets"][0]["text"] = "[sandbox:reject]"
    group = created(api, body)
    clock.move_to(MORNING)
    run_until_idle()

    retried = group_in(api.post(f"/posts/{group['id']}/retry"))
    assert (retried["status"], times_of(retried)) == ("publishing", [MORNING, EVENING])
    assert run_until_idle() == 1
    again = group_in(api.post(f"/posts/{group['id']}/retry", {"scheduled_at": NEXT_DAY}))
    assert (again["status"], times_of(again)) == ("publishing", [NEXT_DAY, EVENING])

    clock.move_to(EVENING)
    run_until_idle()
    assert read(api, group)["status"] == "publishing"
    clock.move_to(NEXT_DAY)
    run_until_idle()
    assert read(api, group)["status"] == "partial"
    assert kinds_of(group) == [
        *("post.scheduled", "post.target.failed", "post.target.failed", "post.scheduled"),
        *("post.target.published", "post.target.failed", "post.partial"),
    ]


def test_a_cancellation_that_was_planned_before_a_retry_is_planned_again(
    api: ApiClient, workspace: Workspace, accounts: list[ConnectedAccount], clock: Any
) -> None:
    body = body_at(accounts, MORNING, EVENING)
    body["targets"][0]["text"] = "[sandbox:reject]"
    group = created(api, body)
    clock.move_to(MORNING)
    run_until_idle()
    cancellation = plan_cancel(system_caller(workspace.id), group["id"])

    clock.move_to("2027-03-11T09:00:00Z")
    api.post(f"/posts/{group['id']}/retry")

    with pytest.raises(RowsChanged):
        commit_plan(cancellation)
    assert [target["status"] for target in read(api, group)["targets"]] == ["pending", "pending"]


def test_each_price_is_held_in_its_own_month(
    api: ApiClient, workspace: Workspace, telegram_account: ConnectedAccount, clock: Any
) -> None:
    other = AccountFactory(workspace=workspace, platform="mastodon", sandbox=False)
    group = created(api, body_at([telegram_account, other], "2027-03-31T23:59:59Z", "2027-04-01T00:00:00Z"))

    def held() -> dict[int, int]:
        return {row.month.month: row.held_cents for row in MonthCounter.objects.filter(holder_id=workspace.id)}

    assert held() == {3: 1, 4: 1}
    group_in(patch(api, group, scheduled_at=TOMORROW, targets=body_at([telegram_account, other], None, None)["targets"]))
    assert held() == {3: 2, 4: 0}


def test_a_month_whose_cap_is_spent_refuses_only_its_own_targets(
    api: ApiClient, workspace: Workspace, telegram_account: ConnectedAccount, clock: Any
) -> None:
    MonthCounter.objects.create(holder_id=workspace.id, month="2027-04-01", held_cents=100)
    other = AccountFactory(workspace=workspace, platform="mastodon", sandbox=False)
    body = body_at([telegram_account, other], MORNING, "2027-04-01T00:00:00Z")

    for dry_run in (True, False):
        assert_envelope(api.post("/posts", {**body, "dry_run": dry_run}), 402, "SPEND_CAP_EXCEEDED")
    assert api.post("/posts", body_at([telegram_account, other], MORNING, EVENING)).status_code == 201


def test_each_target_counts_on_its_own_day(
    agent_client: Any, workspace: Workspace, telegram_account: ConnectedAccount, clock: Any
) -> None:
    agent = agent_client(posts_per_day_cap=1)
    real = [telegram_account, AccountFactory(workspace=workspace, platform="mastodon", sandbox=False)]

    assert_envelope(agent.post("/posts", body_at(real, MORNING, EVENING)), 429, "POSTS_PER_DAY_CAP_EXCEEDED")
    assert agent.post("/posts", body_at(real, MORNING, NEXT_DAY)).status_code == 201
    assert_envelope(agent.post("/posts", body_at(real[:1], EVENING)), 429, "POSTS_PER_DAY_CAP_EXCEEDED")
