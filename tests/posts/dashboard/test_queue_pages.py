"""The dashboard's queue: a change is previewed, confirmed and undone."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from accounts.models import ConnectedAccount
from posts.models import PostTarget, StoredPlan
from tests.conftest import ApiClient
from tests.pages import Pages, form_of, has_form, words
from tests.posts.calls import targets_for
from tests.posts.dashboard.offers import offer_on
from tests.posts.rows import create
from workspaces.models import User, Workspace


@pytest.fixture
def pages(workspace: Workspace, clock: Any) -> Pages:
    return Pages(workspace, workspace.owner_user)


@pytest.fixture
def queued(api: ApiClient, account: ConnectedAccount, clock: Any) -> ConnectedAccount:
    """An account with a slot each Thursday and Friday; its two next slots are taken, and a post is scheduled between them."""
    account.slot_timezone = "UTC"
    account.slots = [{"weekday": day, "time": "09:00"} for day in ("thu", "fri")]
    account.save()
    for n in range(2):
        api.post("/posts", {"text": f"Slot {n}", "targets": targets_for(account, slot="next")})
    create(api, account, text="Between", scheduled_at="2027-03-11T12:00:00Z")
    return account


def times() -> dict[str, tuple[str, bool]]:
    return {row.group.text: (f"{row.scheduled_at:%d %H:%M}", row.slot) for row in PostTarget.objects.select_related("group")}


def preview(pages: Pages, account: ConnectedAccount, **fields: Any) -> Any:
    return pages.post("account-queue", fields, account_id=account.id)


def confirm(pages: Pages, account: ConnectedAccount, page: Any) -> Any:
    plan = StoredPlan.objects.latest("pk")
    address = pages.address("account-queue-confirm", account_id=account.id, plan_id=plan.id)
    return pages.http.post(address, form_of(page, address), follow=True)


BEFORE = {"Slot 0": ("11 09:00", True), "Slot 1": ("12 09:00", True), "Between": ("11 12:00", False)}


@pytest.mark.parametrize(
    ("fields", "after"),
    [
        ({"action": "move", "days": "1", "hours": "-1"}, {"Slot 0": "12 08:00", "Slot 1": "13 08:00", "Between": "12 11:00"}),
        ({"action": "skip_week"}, {"Slot 0": "18 09:00", "Between": "19 09:00", "Slot 1": "25 09:00"}),
        ({"action": "skip_week", "week": "2027-03-14"}, {"Slot 0": "18 09:00", "Between": "19 09:00", "Slot 1": "25 09:00"}),
        ({"action": "shuffle", "first": "2027-03-11", "last": "2027-03-11"}, {"Slot 0": "11 12:00", "Between": "11 09:00"}),
    ],
)
def test_a_change_is_previewed_confirmed_and_undone(
    pages: Pages, queued: ConnectedAccount, fields: dict[str, str], after: dict[str, str]
) -> None:
    page = preview(pages, queued, **fields)
    assert page.status_code == 200, words(page)
    assert f"{len(after)} posts would move" in words(page)
    assert times() == BEFORE

    answer = confirm(pages, queued, page)

    assert f"{len(after)} posts moved." in answer.content.decode()
    assert {text: times()[text][0] for text in after} == after
    undone = pages.http.post(offer_on(answer), follow=True)
    assert "Undone: the posts have their former times again." in undone.content.decode()
    assert times() == BEFORE
    again = pages.http.post(offer_on(answer), follow=True)
    assert "This can no longer be undone." in again.content.decode()


def test_posts_that_leave_their_slots_are_counted(pages: Pages, queued: ConnectedAccount) -> None:
    assert "2 of them leave their slots." in words(preview(pages, queued, action="move", days="1"))
    assert "leave" not in words(preview(pages, queued, action="shuffle", last="2027-03-11"))


def test_a_queue_that_has_changed_is_shown_again(pages: Pages, api: ApiClient, queued: ConnectedAccount) -> None:
    page = preview(pages, queued, action="move", days="1")
    create(api, queued, text="Another", scheduled_at="2027-03-11T13:00:00Z")

    shown = confirm(pages, queued, page)

    assert shown.status_code == 409
    assert "The queue has changed meanwhile." in shown.content.decode()
    assert "4 posts would move" in words(shown)
    assert times() == BEFORE | {"Another": ("11 13:00", False)}
    assert "4 posts moved." in confirm(pages, queued, shown).content.decode()


def test_a_second_click_does_nothing_again(pages: Pages, queued: ConnectedAccount) -> None:
    page = preview(pages, queued, action="move", days="1")
    confirm(pages, queued, page)
    moved = times()

    assert "This was done before." in confirm(pages, queued, page).content.decode()
    assert times() == moved


def test_previews_replace_each_other(pages: Pages, queued: ConnectedAccount) -> None:
    for days in ("1", "2", "3"):
        preview(pages, queued, action="move", days=days)

    assert StoredPlan.objects.count() == 1


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"action": "move"}, "Say by how many days, hours or minutes to move the posts."),
        ({"action": "move", "days": "-1"}, "This time has passed."),
        ({"action": "move", "days": "x"}, "Enter days such as 2027-01-31, and whole numbers."),
        ({"action": "skip_week", "week": "9999-12-31"}, "Enter days such as 2027-01-31, and whole numbers."),
        ({"action": "shuffle", "first": "2027-05-01"}, "There are no posts to shuffle."),
        ({"action": "turn"}, "Enter days such as 2027-01-31, and whole numbers."),
    ],
)
def test_what_is_refused_is_said(pages: Pages, queued: ConnectedAccount, fields: dict[str, str], sentence: str) -> None:
    address = pages.address("account-queue", account_id=queued.id)

    answer = pages.http.post(address, fields, follow=True, HTTP_REFERER=f"http://testserver{_queue(pages, queued)}")

    assert sentence in words(answer)
    assert times() == BEFORE


def test_only_who_may_write_sees_and_uses_the_forms(
    pages: Pages, queued: ConnectedAccount, teammate: User, stranger: User
) -> None:
    address = pages.address("account-queue", account_id=queued.id)
    assert has_form(pages.http.get(_queue(pages, queued)), address)
    member = Pages(pages.workspace, teammate)
    assert not has_form(member.http.get(_queue(pages, queued)), address)
    preview(member, queued, action="move", days="1")
    page = preview(pages, queued, action="move", days="1")
    plan = StoredPlan.objects.get()
    confirmed = pages.address("account-queue-confirm", account_id=queued.id, plan_id=plan.id)
    assert member.http.post(confirmed).status_code in (302, 303, 404)
    assert Pages(pages.workspace, stranger).http.post(confirmed).status_code == 404
    assert page.status_code == 200
    assert times() == BEFORE


def _queue(pages: Pages, account: ConnectedAccount) -> str:
    return reverse("account-queue", kwargs={"workspace_id": pages.workspace.id, "account_id": account.id})
