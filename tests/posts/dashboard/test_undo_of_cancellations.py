"""Undo of a cancellation: the same post is back, as it was, whoever has created it."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from auditlog.models import AuditEntry
from billing import selectors as billing
from billing.models import DayCounter, MonthCounter
from posts.models import PostGroup, PostTarget
from tests.conftest import ApiClient
from tests.factories import AccountFactory, MediaAssetFactory
from tests.posts.calls import confirm, targets_for
from tests.posts.dashboard.dashboard import Dashboard, the_group, words
from tests.posts.dashboard.offers import offer_after, undo
from tests.posts.media_rows import media_of
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, body_for, create, kinds_of, read
from tests.posts.series.rows import create_series, made_posts, run_series_loop
from workspaces.models import Workspace

TOO_LATE = "This can no longer be undone."
CONFIRMED = {"default_mode": "requires_confirmation"}


def rows() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The post and its targets as they are stored, without what every change raises."""
    changing = ("fence", "updated_at", "plan_hash", "event_sequence")
    groups, targets = PostGroup.objects.order_by("pk").values(), PostTarget.objects.order_by("pk").values()
    return (
        [{name: value for name, value in row.items() if name not in changing} for row in groups],
        [{name: value for name, value in row.items() if name not in changing} for row in targets],
    )


def cancel(dashboard: Dashboard, group: dict[str, Any]) -> str:
    """Cancel a post on its page; returns the address of the button that undoes it."""
    return offer_after(dashboard, dashboard.post("post-cancel", group))


@pytest.mark.parametrize(
    ("limits", "made", "words_after", "kinds"),
    [
        ({}, {"draft": True, "scheduled_at": TOMORROW}, "The draft is back.", ["post.cancelled"]),
        (
            CONFIRMED,
            {"scheduled_at": TOMORROW},
            "The post is back, and waits for approval.",
            ["post.pending_confirmation", "post.cancelled", "post.pending_confirmation"],
        ),
        (
            {},
            {"scheduled_at": TOMORROW},
            "The post is scheduled again.",
            ["post.scheduled", "post.cancelled", "post.scheduled"],
        ),
    ],
    ids=["draft", "pending_confirmation", "scheduled"],
)
def test_an_agents_post_is_back_as_it_was(
    dashboard: Dashboard,
    agent_client: Any,
    workspace: Workspace,
    clock: Any,
    limits: dict[str, Any],
    made: dict[str, Any],
    words_after: str,
    kinds: list[str],
) -> None:
    agent = agent_client(**limits)
    real = AccountFactory(workspace=workspace, sandbox=False)
    body = body_for(real, texts=["Mine"], media=media_of(MediaAssetFactory(workspace=workspace)), **made)
    group = agent.post("/posts", body, idempotency_key="once").json()["post_group"]
    stored, held = rows(), [*MonthCounter.objects.order_by("pk").values(), *DayCounter.objects.order_by("pk").values()]
    offer = cancel(dashboard, group)
    assert the_group().status == "cancelled"

    page = undo(dashboard, offer)

    assert f"Undone. {words_after}" in words(page)
    assert rows() == stored
    assert the_group().agent_id
    assert kinds_of(group) == kinds
    assert [*MonthCounter.objects.order_by("pk").values(), *DayCounter.objects.order_by("pk").values()] == held
    assert billing.find_wrong_month_counters() == []
    taken_back = AuditEntry.objects.get(operation="posts.cancel", metadata__taken_back=True)
    assert (taken_back.resource_id, taken_back.outcome) == (group["id"], "succeeded")
    assert agent.post("/posts", body, idempotency_key="once").json()["post_group"]["id"] == group["id"]
    assert "This was already undone." in words(undo(dashboard, offer))
    assert rows() == stored


def test_a_restored_post_is_approved_and_published_once(
    dashboard: Dashboard, api: ApiClient, agent_client: Any, account: ConnectedAccount, clock: Any
) -> None:
    group = agent_client(**CONFIRMED).post("/posts", body_for(account)).json()["post_group"]
    undo(dashboard, cancel(dashboard, group))
    assert run_until_idle() == 0

    assert confirm(api, group).status_code == 200

    assert run_until_idle() == 1
    assert read(api, group)["status"] == "published"


def test_another_cancellation_is_not_undone(
    dashboard: Dashboard, api: ApiClient, account: ConnectedAccount, clock: Any
) -> None:
    group = create(api, account, scheduled_at=TOMORROW)
    offer = cancel(dashboard, group)
    undo(dashboard, offer)
    clock.shift(1)
    api.delete(f"/posts/{group['id']}")

    assert TOO_LATE in words(undo(dashboard, offer))

    assert the_group().status == "cancelled"


def test_a_time_that_has_passed_is_not_restored(
    dashboard: Dashboard, api: ApiClient, account: ConnectedAccount, clock: Any
) -> None:
    offer = cancel(dashboard, create(api, account, scheduled_at="2027-03-10T12:01:00Z"))
    clock.shift(300)

    page = undo(dashboard, offer)

    assert "This time has passed." in words(page)
    assert the_group().status == "cancelled"
    assert run_until_idle() == 0


def test_a_slot_that_was_taken_is_not_restored(
    dashboard: Dashboard, api: ApiClient, account: ConnectedAccount, clock: Any
) -> None:
    account.slot_timezone, account.slots = "UTC", [{"weekday": "thu", "time": "09:00"}]
    account.save()
    body = {"text": "Hello", "targets": targets_for(account, slot="next")}
    first = api.post("/posts", body).json()["post_group"]
    offer = cancel(dashboard, first)
    undo(dashboard, offer)
    assert PostTarget.objects.get().slot
    offer = cancel(dashboard, first)
    assert api.post("/posts", body).status_code == 201

    page = undo(dashboard, offer)

    assert "Another post has taken this slot meanwhile." in words(page)
    assert PostGroup.objects.get(pk=first["id"]).status == "cancelled"


def test_a_passed_slot_that_was_taken_is_not_restored(
    dashboard: Dashboard, api: ApiClient, agent_client: Any, account: ConnectedAccount, clock: Any
) -> None:
    account.slot_timezone, account.slots = "UTC", [{"weekday": "wed", "time": "12:05"}]
    account.save()
    body = {"text": "Hello", "targets": targets_for(account, slot="next")}
    waiting = agent_client(**CONFIRMED).post("/posts", body).json()["post_group"]
    offer = cancel(dashboard, waiting)
    assert api.post("/posts", body).status_code == 201
    clock.shift(360)

    page = undo(dashboard, offer)

    assert "Another post has taken this slot meanwhile." in words(page)
    assert PostGroup.objects.get(pk=waiting["id"]).status == "cancelled"


@pytest.mark.parametrize("after", ["end", "skip"])
def test_a_post_that_its_series_no_longer_wants_is_not_restored(
    dashboard: Dashboard, api: ApiClient, account: ConnectedAccount, clock: Any, after: str
) -> None:
    series = create_series(api, account)
    run_series_loop()
    first = made_posts(series)[0]
    offer = cancel(dashboard, {"id": first.id})
    if after == "end":
        assert api.delete(f"/series/{series['id']}").status_code == 200
    else:
        assert api.post(f"/series/{series['id']}/skip", {"at": first.occurrence.at.isoformat()}).status_code == 200

    assert TOO_LATE in words(undo(dashboard, offer))

    first.refresh_from_db()
    assert first.status == "cancelled"


def test_a_post_to_a_disconnected_account_is_not_restored(
    dashboard: Dashboard, api: ApiClient, account: ConnectedAccount, clock: Any
) -> None:
    offer = cancel(dashboard, create(api, account, scheduled_at=TOMORROW))
    assert api.delete(f"/accounts/{account.id}").status_code == 200

    undo(dashboard, offer)

    assert the_group().status == "cancelled"


def test_media_that_were_deleted_meanwhile_are_not_restored(
    dashboard: Dashboard, api: ApiClient, account: ConnectedAccount, workspace: Workspace, clock: Any
) -> None:
    picture = MediaAssetFactory(workspace=workspace)
    offer = cancel(dashboard, create(api, account, media=media_of(picture), scheduled_at=TOMORROW))
    assert api.delete(f"/media/{picture.id}").status_code in (200, 204)

    undo(dashboard, offer)

    assert the_group().status == "cancelled"


def test_a_cap_that_is_used_up_refuses_the_undo(
    dashboard: Dashboard, agent_client: Any, workspace: Workspace, clock: Any
) -> None:
    real = AccountFactory(workspace=workspace, sandbox=False)
    agent = agent_client(posts_per_day_cap=1)
    group = agent.post("/posts", body_for(real, scheduled_at=TOMORROW)).json()["post_group"]
    offer = cancel(dashboard, group)
    assert agent.post("/posts", body_for(real, text="Another", scheduled_at=TOMORROW)).status_code == 201

    undo(dashboard, offer)

    assert PostGroup.objects.get(pk=group["id"]).status == "cancelled"
    assert billing.find_wrong_month_counters() == []


def test_a_post_that_has_begun_says_that_its_cancellation_cannot_be_undone(
    dashboard: Dashboard, api: ApiClient, accounts: list[ConnectedAccount], clock: Any
) -> None:
    targets = targets_for(*accounts[:2])
    targets[1] |= {"scheduled_at": TOMORROW}
    group = api.post("/posts", {"text": "Hello", "targets": targets}).json()["post_group"]
    run_until_idle()

    page = dashboard.http.post(dashboard.address("post-cancel", group), follow=True)

    assert "This cannot be undone." in words(page)
    assert TOO_LATE not in words(page)
