"""`slot: "next"` on a target: the next free slot of its account, which one target takes and leaves again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import ConnectedAccount
from posts.models import PostTarget
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.factories import AccountFactory
from tests.in_threads import in_threads
from tests.posts.calls import confirm, group_in, groups_in, patch, targets_for
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, body_for
from workspaces.models import Workspace

# Noon is a Wednesday: 10 March 2027.
FIRST, SECOND, THIRD = "2027-03-11T09:00:00Z", "2027-03-11T18:00:00Z", "2027-03-18T09:00:00Z"
THURSDAYS = [{"weekday": "thu", "time": time} for time in ("09:00", "18:00")]


@pytest.fixture
def slotted(account: ConnectedAccount) -> ConnectedAccount:
    """An account with two slots each Thursday."""
    account.slot_timezone, account.slots = "UTC", THURSDAYS
    account.save()
    return account


def body(*accounts: ConnectedAccount, **fields: Any) -> dict[str, Any]:
    return {**body_for(*accounts, **fields), "targets": targets_for(*accounts, slot="next")}


def post(client: ApiClient, account: ConnectedAccount, **fields: Any) -> dict[str, Any]:
    answer = client.post("/posts", body(account, **fields))
    assert answer.status_code == 201, answer.content
    return dict(answer.json()["post_group"])


def slot_of(group: dict[str, Any]) -> str | None:
    [target] = group["targets"]
    assert target["slot"] is True
    return target["scheduled_at"]


def taken(api: ApiClient, account: ConnectedAccount, count: int = 3) -> list[str | None]:
    found = api.get(f"/accounts/{account.id}/slots/next?count={count}").json()["next"]
    return [each["post_group_id"] for each in found]


def test_each_post_takes_the_first_free_slot(api: ApiClient, slotted: ConnectedAccount, clock: Any) -> None:
    preview = api.post("/posts", {**body(slotted), "dry_run": True}).json()["would_create"]
    groups = [post(api, slotted, text=f"Number {n}") for n in range(3)]

    assert (preview["targets"][0]["scheduled_at"], preview["targets"][0]["slot"]) == (FIRST, True)
    assert [(group["status"], slot_of(group), group["scheduled_at"]) for group in groups] == [
        ("scheduled", at, at) for at in (FIRST, SECOND, THIRD)
    ]
    answer = api.get(f"/accounts/{slotted.id}/slots/next?count=2").json()
    assert answer["next"] == [
        {"at": FIRST, "local": "2027-03-11T09:00", "post_group_id": groups[0]["id"]},
        {"at": SECOND, "local": "2027-03-11T18:00", "post_group_id": groups[1]["id"]},
    ]
    clock.move_to(FIRST)
    run_until_idle()
    assert api.get(f"/posts/{groups[0]['id']}").json()["post_group"]["status"] == "published"


@pytest.mark.parametrize(("now", "expected"), [("2027-03-11T08:58:00Z", FIRST), ("2027-03-11T08:58:01Z", SECOND)])
def test_a_slot_is_at_least_two_minutes_ahead(
    api: ApiClient, slotted: ConnectedAccount, clock: Any, now: str, expected: str
) -> None:
    clock.move_to(now)

    assert slot_of(post(api, slotted)) == expected


def test_a_batch_takes_one_slot_for_each_post(api: ApiClient, slotted: ConnectedAccount, clock: Any) -> None:
    posts = [body(slotted, text=f"Number {n}") for n in range(3)]

    assert [slot_of(group) for group in groups_in(api.post("/posts/batch", {"posts": posts}))] == [FIRST, SECOND, THIRD]


@pytest.mark.parametrize(
    ("target", "field"),
    [({"slot": "next", "scheduled_at": TOMORROW}, "targets[0].slot"), ({"slot": "soon"}, "targets[0].slot")],
)
def test_wrong_slots_are_refused(
    api: ApiClient, slotted: ConnectedAccount, clock: Any, target: dict[str, str], field: str
) -> None:
    answer = api.post("/posts", {"text": "Hello", "targets": targets_for(slotted, **target)})

    assert [row["field"] for row in assert_envelope(answer, 422, "VALIDATION_FAILED")["details"]] == [field]


def test_an_account_without_slots_has_no_next_one(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    for fields in ({}, {"draft": True}, {"dry_run": True}):
        [row] = assert_envelope(api.post("/posts", body(account, **fields)), 422, "VALIDATION_FAILED")["details"]
        assert (row["field"], row["code"]) == ("targets[0].slot", "no_slots")
    assert taken(api, account) == []


@pytest.mark.parametrize("how", ["cancelled", "moved", "rejected", "failed"])
def test_a_slot_is_free_again_when_its_post_leaves_it(
    api: ApiClient, agent_client: Any, slotted: ConnectedAccount, clock: Any, how: str
) -> None:
    client = agent_client(default_mode="requires_confirmation") if how == "rejected" else api
    group = post(client, slotted)
    assert taken(api, slotted) == [group["id"], None, None]

    leave: dict[str, Callable[[], Any]] = {
        "cancelled": lambda: api.delete(f"/posts/{group['id']}"),
        "moved": lambda: patch(api, group, targets=targets_for(slotted, scheduled_at=TOMORROW)),
        "rejected": lambda: api.post(f"/posts/{group['id']}/reject"),
        "failed": lambda: PostTarget.objects.update(status="failed", due_at=None),
    }
    leave[how]()

    assert taken(api, slotted) == [None, None, None]
    assert slot_of(post(api, slotted, text="Another")) == FIRST


def test_an_edit_keeps_the_slot_and_asking_again_takes_the_first_free_one(
    api: ApiClient, slotted: ConnectedAccount, clock: Any
) -> None:
    first, second = post(api, slotted), post(api, slotted, text="Second")

    assert slot_of(group_in(patch(api, second, text="Better", scheduled_at=TOMORROW))) == SECOND
    api.delete(f"/posts/{first['id']}")
    assert slot_of(group_in(patch(api, second, targets=targets_for(slotted, slot="next")))) == FIRST
    assert slot_of(group_in(patch(api, second, targets=targets_for(slotted, slot="next")))) == FIRST


def test_a_draft_takes_a_slot_when_it_is_released(api: ApiClient, slotted: ConnectedAccount, clock: Any) -> None:
    draft = post(api, slotted, draft=True)
    assert (slot_of(draft), taken(api, slotted)) == (None, [None, None, None])
    post(api, slotted, text="In between")

    preview = confirm(api, draft, dry_run=True).json()["would_update"]
    released = group_in(confirm(api, draft))

    assert (released["status"], slot_of(released), slot_of(preview)) == ("scheduled", SECOND, SECOND)


@pytest.mark.parametrize(("now", "expected"), [(TOMORROW, SECOND), ("2027-03-10T13:00:00Z", FIRST)])
def test_a_confirmation_after_the_slot_takes_the_next_one(
    api: ApiClient, agent_client: Any, slotted: ConnectedAccount, clock: Any, now: str, expected: str
) -> None:
    group = post(agent_client(default_mode="requires_confirmation"), slotted)
    assert (group["status"], slot_of(group)) == ("pending_confirmation", FIRST)
    clock.move_to(now)

    preview = confirm(api, group, dry_run=True).json()["would_update"]
    released = group_in(confirm(api, group))

    assert (slot_of(preview), slot_of(released), released["status"]) == (expected, expected, "scheduled")


def test_a_plan_whose_slot_was_taken_has_changed(api: ApiClient, slotted: ConnectedAccount, clock: Any) -> None:
    made = api.post("/plans", {"operation": "posts.create", "request": body(slotted)}).json()["plan"]
    post(api, slotted, text="Faster")

    refused = assert_envelope(api.post(f"/plans/{made['id']}/commit"), 409, "PLAN_CHANGED")

    committed = api.post(f"/plans/{refused['plan']['id']}/commit").json()["post_group"]
    assert slot_of(committed) == SECOND


def test_changing_the_slots_moves_nothing(api: ApiClient, slotted: ConnectedAccount, clock: Any) -> None:
    group = post(api, slotted)
    api.request("PUT", f"/accounts/{slotted.id}/slots", {"timezone": "UTC", "slots": []})

    assert slot_of(api.get(f"/posts/{group['id']}").json()["post_group"]) == FIRST


def test_only_posts_schedule_is_needed(key_with: Any, workspace: Workspace, clock: Any) -> None:
    real = AccountFactory(workspace=workspace, sandbox=False, slot_timezone="UTC", slots=THURSDAYS)

    assert key_with("posts.schedule").post("/posts", body(real)).status_code == 201
    assert_envelope(key_with("posts.publish").post("/posts", body(real)), 403, "SCOPE_MISSING")


@pytest.mark.django_db(transaction=True)
def test_racing_posts_get_a_slot_each(api: ApiClient, slotted: ConnectedAccount, clock: Any) -> None:
    groups = in_threads(6, lambda n: post(api, slotted, text=f"Number {n}"))

    expected = [f"2027-03-{day}T{hour}:00:00Z" for day in ("11", "18", "25") for hour in ("09", "18")]
    assert sorted(str(slot_of(group)) for group in groups) == expected


@pytest.mark.django_db(transaction=True)
def test_racing_confirmations_get_a_slot_each(api: ApiClient, slotted: ConnectedAccount, clock: Any) -> None:
    drafts = [post(api, slotted, text=f"Number {n}", draft=True) for n in range(4)]

    released = in_threads(4, lambda n: group_in(confirm(api, drafts[n])))

    assert len({slot_of(group) for group in released}) == 4


def test_the_database_holds_one_target_for_each_slot(api: ApiClient, slotted: ConnectedAccount, clock: Any) -> None:
    post(api, slotted)
    other = PostTarget.objects.get(group=post(api, slotted, text="Second")["id"])

    with pytest.raises(IntegrityError), transaction.atomic():
        PostTarget.objects.filter(pk=other.pk).update(scheduled_at=datetime(2027, 3, 11, 9, tzinfo=UTC))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(actions=st.lists(st.tuples(st.sampled_from(["post", "cancel", "move", "draft"]), st.integers(0, 5)), max_size=12))
def test_no_slot_is_taken_twice_and_none_is_left_out(
    api: ApiClient, slotted: ConnectedAccount, clock: Any, actions: list[tuple[str, int]]
) -> None:
    """A model of the slots: each post takes the first one that is free in the model."""
    slots = [
        f"2027-{day}T{time}:00:00Z" for day in ("03-11", "03-18", "03-25", "04-01", "04-08", "04-15") for time in ("09", "18")
    ]
    with transaction.atomic():
        held: dict[str, str] = {}
        groups: list[dict[str, Any]] = []
        for number, (action, which) in enumerate(actions):
            if action == "post":
                group = post(api, slotted, text=f"Number {number}")
                free = next(slot for slot in slots if slot not in held.values())
                assert slot_of(group) == free
                held[group["id"]] = free
                groups.append(group)
            elif action == "draft":
                post(api, slotted, text=f"Number {number}", draft=True)
            elif groups:
                group = groups.pop(which % len(groups))
                if action == "cancel":
                    api.delete(f"/posts/{group['id']}")
                else:
                    patch(api, group, targets=targets_for(slotted, scheduled_at="2027-03-11T12:00:00Z"))
                del held[group["id"]]
        shown = api.get(f"/accounts/{slotted.id}/slots/next?count=12").json()["next"]
        assert {each["post_group_id"]: each["at"] for each in shown if each["post_group_id"]} == held
        transaction.set_rollback(True)
