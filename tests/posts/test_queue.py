"""POST /posts/queue: the posts that are scheduled to an account are shuffled, moved together, or leave a week."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from auditlog.models import AuditEntry
from posts.models import PostTarget
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.posts.calls import targets_for
from tests.posts.rows import NOON, TOMORROW, body_for, create, kinds_of, read
from workspaces.models import Workspace

# Noon is a Wednesday: 10 March 2027. The account has two slots each Thursday and each Friday.
SLOTS = [{"weekday": day, "time": time} for day in ("thu", "fri") for time in ("09:00", "18:00")]


@pytest.fixture
def queued(api: ApiClient, account: ConnectedAccount, clock: Any) -> list[dict[str, Any]]:
    """Six posts: four in the slots of this week, and two at times between them."""
    account.slot_timezone, account.slots = "UTC", SLOTS
    account.save()
    in_slots = [
        api.post("/posts", {"text": f"Slot {n}", "targets": targets_for(account, slot="next")}).json()["post_group"]
        for n in range(4)
    ]
    times = ("2027-03-11T12:00:00Z", "2027-03-11T12:30:00Z")
    return in_slots + [create(api, account, text=at, scheduled_at=at) for at in times]


def change(client: ApiClient, account: ConnectedAccount, action: str, key: str = "", **fields: Any) -> Any:
    headers = {"idempotency_key": key} if key else {}
    return client.post("/posts/queue", {"connected_account_id": account.id, "action": action, **fields}, **headers)


def moves_in(answer: Any) -> list[dict[str, Any]]:
    assert answer.status_code == 200, answer.content
    return list(answer.json()["would_update"]["moves"])


def times(account: ConnectedAccount) -> dict[str, tuple[str, bool]]:
    """The time of each post of the account, and whether it is a slot."""
    rows = PostTarget.objects.filter(account=account).exclude(status="cancelled")
    return {row.group_id: (f"{row.scheduled_at:%Y-%m-%dT%H:%M}", row.slot) for row in rows}


def test_a_shuffle_deals_the_same_times_and_slots_to_other_posts(
    api: ApiClient, account: ConnectedAccount, queued: list[dict[str, Any]]
) -> None:
    before = times(account)
    previews = [change(api, account, "shuffle", dry_run=True) for _ in range(2)]
    assert previews[0].json() == previews[1].json()
    assert times(account) == before

    hash_of_preview = previews[0].json()["plan_hash"]
    body = {"connected_account_id": account.id, "action": "shuffle"}
    answer = api.post("/posts/queue", body, plan_hash=hash_of_preview)

    after = times(account)
    assert answer.status_code == 200, answer.content
    assert after != before
    assert sorted(after.values()) == sorted(before.values())
    moves = {each["post_group_id"]: each for each in moves_in(previews[0])}
    assert {pk for pk in before if before[pk] != after[pk]} == moves.keys()
    for pk, move in moves.items():
        assert (move["scheduled_at_before"][:16], move["slot_before"]) == before[pk]
        assert (move["scheduled_at"][:16], move["slot"]) == after[pk]
    assert {each["id"]: each["plan_hash"] for each in answer.json()["post_groups"]} == dict.fromkeys(moves, hash_of_preview)
    assert [kinds_of({"id": pk}) for pk in moves] == [["post.scheduled"] * 2] * len(moves)
    entries = AuditEntry.objects.filter(operation="posts.update_queue", dry_run=False)
    assert set(entries.values_list("resource_id", flat=True)) == moves.keys()


def test_a_shuffle_again_and_another_seed_make_other_orders(
    api: ApiClient, account: ConnectedAccount, queued: list[dict[str, Any]]
) -> None:
    by_seed = [moves_in(change(api, account, "shuffle", seed=seed, dry_run=True)) for seed in (1, 2, 1)]
    assert by_seed[0] == by_seed[2] != by_seed[1]
    change(api, account, "shuffle")
    first = times(account)

    change(api, account, "shuffle")

    assert times(account) != first


def test_only_the_chosen_posts_take_part(api: ApiClient, account: ConnectedAccount, queued: list[dict[str, Any]]) -> None:
    before, pair = times(account), [queued[0]["id"], queued[4]["id"]]

    change(api, account, "shuffle", post_group_ids=pair)

    after = times(account)
    assert [after[pk] for pk in pair] == [before[pk] for pk in reversed(pair)]
    assert {pk: at for pk, at in after.items() if pk not in pair} == {pk: at for pk, at in before.items() if pk not in pair}
    window = {"after": "2027-03-11T12:00:00Z", "before": "2027-03-11T13:00:00Z"}
    assert len(moves_in(change(api, account, "shuffle", dry_run=True, **window))) == 2


def test_moving_by_days_keeps_the_time_of_day_when_the_clocks_change(
    api: ApiClient, account: ConnectedAccount, workspace: Workspace, queued: list[dict[str, Any]]
) -> None:
    Workspace.objects.filter(pk=workspace.pk).update(default_timezone="Europe/Berlin")
    before = times(account)

    moves = moves_in(change(api, account, "move", days=21, dry_run=True))  # beyond the 28th of March
    change(api, account, "move", days=21)

    assert [(each["slot_before"], each["slot"]) for each in moves if each["slot_before"]] == [(True, False)] * 4
    assert times(account)[queued[4]["id"]] == ("2027-04-01T11:00", False)
    assert {slot for _, slot in times(account).values()} == {False}
    assert before.keys() == times(account).keys()
    free = api.get(f"/accounts/{account.id}/slots/next?count=4").json()["next"]
    assert [each["post_group_id"] for each in free] == [None] * 4
    change(api, account, "move", hours=-1, minutes=-30)
    assert times(account)[queued[4]["id"]] == ("2027-04-01T09:30", False)


def test_a_skipped_week_goes_to_the_next_free_slots_in_order(
    api: ApiClient, account: ConnectedAccount, queued: list[dict[str, Any]], clock: Any
) -> None:
    taken = {"text": "There already", "targets": targets_for(account, scheduled_at="2027-03-18T12:00:00Z")}
    later = api.post("/posts", taken).json()["post_group"]
    inside = ["2027-03-15T00:00:00Z", "2027-03-22T00:00:00Z"]

    change(api, account, "skip_week")

    after = times(account)
    expected = [f"2027-03-{day}T{at}" for day in (18, 19) for at in ("09:00", "18:00")]
    expected += ["2027-03-25T09:00", "2027-03-25T18:00"]
    in_order = [queued[place]["id"] for place in (0, 4, 5, 1, 2, 3)]
    assert [after[pk] for pk in in_order] == [(at, True) for at in expected]
    assert after[later["id"]] == ("2027-03-18T12:00", False)

    change(api, account, "skip_week", week="2027-03-17")
    assert [at for at, _ in times(account).values() if inside[0] < at < inside[1]] == []


def test_a_post_to_several_accounts_moves_for_one_of_them(
    api: ApiClient, account: ConnectedAccount, workspace: Workspace, clock: Any
) -> None:
    other = factories.AccountFactory(workspace=workspace)
    group = create(api, account, other, scheduled_at=TOMORROW)

    change(api, account, "move", days=1)

    by_account = {each["connected_account_id"]: each["scheduled_at"] for each in read(api, group)["targets"]}
    assert by_account == {account.id: "2027-03-12T12:00:00Z", other.id: TOMORROW}


def test_posts_that_await_approval_move_and_still_await_it(
    api: ApiClient, agent_client: Any, account: ConnectedAccount, clock: Any
) -> None:
    agent = agent_client(default_mode="requires_confirmation")
    waiting, scheduled = create(agent, account, scheduled_at=TOMORROW), create(api, account, scheduled_at=TOMORROW)

    assert change(agent, account, "move", hours=1).status_code == 200

    assert [read(api, each)["status"] for each in (waiting, scheduled)] == ["pending_confirmation"] * 2
    assert {at for at, _ in times(account).values()} == {"2027-03-11T13:00"}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"action": "move"}, "days"),
        ({"action": "move", "days": 0}, "days"),
        ({"action": "move", "days": 400}, "days"),
        ({"action": "move", "hours": 1, "seed": 1}, "seed"),
        ({"action": "shuffle", "days": 1}, "days"),
        ({"action": "skip_week", "week": "9999-12-31"}, "week"),
        ({"action": "turn"}, "action"),
        ({"action": "shuffle", "post_group_ids": []}, "post_group_ids"),
        ({"action": "shuffle", "post_group_ids": ["pgr_01k3qv5yf8e2mb7w9x4t6zc0hd"]}, "post_group_ids[0]"),
        ({"action": "shuffle", "connected_account_id": "acc_01k3qv5yf8e2mb7w9x4t6zc0hd"}, "connected_account_id"),
    ],
)
def test_wrong_requests_are_refused(
    api: ApiClient, account: ConnectedAccount, queued: list[dict[str, Any]], fields: dict[str, Any], field: str
) -> None:
    before = times(account)

    answer = api.post("/posts/queue", {"connected_account_id": account.id, **fields})

    assert [row["field"] for row in assert_envelope(answer, 422, "VALIDATION_FAILED")["details"]] == [field]
    assert times(account) == before


def test_times_in_the_past_and_too_far_ahead_are_refused_for_all(
    api: ApiClient, account: ConnectedAccount, queued: list[dict[str, Any]]
) -> None:
    before = times(account)
    for days, code in ((-1, "past"), (366, "too_far")):
        details = assert_envelope(change(api, account, "move", days=days), 422, "VALIDATION_FAILED")["details"]
        assert (details[0]["field"].partition(".")[0], details[0]["code"]) == (queued[0]["id"], code)
    assert times(account) == before


def test_there_must_be_something_to_change(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    for nothing in (
        change(api, account, "shuffle"),
        change(api, account, "move", days=1),
        change(api, account, "skip_week"),
    ):
        assert_envelope(nothing, 409, "INVALID_STATE")
    create(api, account, scheduled_at=TOMORROW)
    assert_envelope(change(api, account, "shuffle"), 409, "INVALID_STATE")
    [row] = assert_envelope(change(api, account, "skip_week"), 422, "VALIDATION_FAILED")["details"]
    assert row["code"] == "no_slots"


def test_a_queue_of_more_than_a_hundred_posts_is_changed_in_parts(
    api: ApiClient, account: ConnectedAccount, clock: Any
) -> None:
    posts = [body_for(account, text=f"Number {n}", scheduled_at=f"2027-03-11T12:{n // 2:02}:00Z") for n in range(100)]
    assert api.post("/posts/batch", {"posts": posts}).status_code == 201
    last = create(api, account, text="The last", scheduled_at="2027-03-12T12:00:00Z")

    [row] = assert_envelope(change(api, account, "move", days=1), 422, "VALIDATION_FAILED")["details"]
    assert row["code"] == "too_many"

    assert change(api, account, "move", days=1, before="2027-03-12T12:00:00Z").status_code == 200
    assert len({at for at, _ in times(account).values() if at.startswith("2027-03-12T12:")}) == 50
    assert times(account)[last["id"]] == ("2027-03-12T12:00", False)


def test_the_same_key_moves_once(api: ApiClient, account: ConnectedAccount, queued: list[dict[str, Any]]) -> None:
    first = change(api, account, "move", key="k", days=1)

    again = change(api, account, "move", key="k", days=1)

    assert (again.status_code, again.headers["Idempotency-Replayed"]) == (200, "true")
    assert [each["id"] for each in again.json()["post_groups"]] == [each["id"] for each in first.json()["post_groups"]]
    assert times(account)[queued[4]["id"]] == ("2027-03-12T12:00", False)


def test_a_stored_plan_does_what_it_shows_or_says_what_changed(
    api: ApiClient, account: ConnectedAccount, queued: list[dict[str, Any]]
) -> None:
    request = {"connected_account_id": account.id, "action": "shuffle"}
    plans = [api.post("/plans", {"operation": "posts.update_queue", "request": request}).json()["plan"] for _ in range(2)]
    assert plans[0]["hash"] == plans[1]["hash"]

    committed = api.post(f"/plans/{plans[0]['id']}/commit")

    assert committed.status_code == 200, committed.content
    shown = {each["post_group_id"]: each["scheduled_at"][:16] for each in plans[0]["preview"]["would_update"]["moves"]}
    assert {pk: at for pk, (at, _) in times(account).items() if pk in shown} == shown
    assert {each["id"] for each in committed.json()["post_groups"]} == shown.keys()
    assert_envelope(api.post(f"/plans/{plans[1]['id']}/commit"), 409, "PLAN_CHANGED")


def test_others_and_agents_without_the_account_change_nothing(
    api: ApiClient, agent_client: Any, account: ConnectedAccount, queued: list[dict[str, Any]], workspace: Workspace
) -> None:
    before = times(account)
    foreign = ApiClient(factories.workspace_key(factories.WorkspaceFactory()))
    assert_envelope(change(foreign, account, "move", days=1), 422, "VALIDATION_FAILED")
    answer = change(foreign, account, "move", days=1, workspace_id=workspace.id)
    assert answer.status_code in (404, 422)
    limited = agent_client(account_allowlist=[factories.AccountFactory(workspace=workspace).id])
    assert_envelope(change(limited, account, "move", days=1), 403, "ACCOUNT_NOT_ALLOWED")
    assert_envelope(change(agent_client(default_mode="draft"), account, "move", days=1), 403, "AGENT_MODE_FORBIDS")
    reader = ApiClient(factories.workspace_key(workspace, scopes=["posts.read"]))
    assert_envelope(change(reader, account, "move", days=1), 403, "SCOPE_MISSING")
    assert times(account) == before


def test_a_post_that_is_being_published_stays(
    api: ApiClient, account: ConnectedAccount, queued: list[dict[str, Any]]
) -> None:
    PostTarget.objects.filter(group=queued[4]["id"]).update(lease_until=NOON + timedelta(hours=1), fence=1)

    moved = {each["post_group_id"] for each in moves_in(change(api, account, "move", days=1, dry_run=True))}

    assert moved == {each["id"] for each in queued} - {queued[4]["id"]}
