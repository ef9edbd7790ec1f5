"""What pages say to editors whose posts need approval: a post that they move waits for approval, before and after an undo."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from posts.models import PostGroup
from tests.conftest import ApiClient
from tests.factories import UserFactory
from tests.pages import Pages
from tests.posts.dashboard.dashboard import Dashboard, words
from tests.posts.dashboard.offers import offer_on, undo
from tests.posts.dashboard.test_calendar_moves import move
from tests.posts.dashboard.test_chosen_posts import confirm
from tests.posts.dashboard.test_queue_pages import confirm as commit_queue_change
from tests.posts.dashboard.test_queue_pages import preview as preview_queue_change
from tests.posts.rows import TOMORROW, create
from workspaces.models import Member, User, Workspace

WAITS = ", and waits for approval."


@pytest.fixture
def editor(workspace: Workspace, clock: Any) -> User:
    """An editor of a workspace where posts by editors need approval."""
    Workspace.objects.filter(pk=workspace.pk).update(editors_need_approval=True)
    person: User = UserFactory()
    Member.objects.create(workspace=workspace, user=person, role="editor")
    return person


@pytest.fixture
def pages(workspace: Workspace, editor: User) -> Dashboard:
    return Dashboard(workspace, editor)


def status_of(group: dict[str, Any]) -> str:
    return PostGroup.objects.get(pk=group["id"]).status


def test_a_post_moved_in_the_calendar_waits(pages: Dashboard, api: ApiClient, account: ConnectedAccount) -> None:
    group = create(api, account, scheduled_at=TOMORROW)

    moved = pages.http.get(move(pages, group, TOMORROW, "2027-03-20T15:30")["location"])
    assert f"Moved to Saturday, 20 March 2027, 15:30{WAITS}" in words(moved)
    assert status_of(group) == "pending_confirmation"
    assert f"Undone: the post has its former time again{WAITS}" in words(undo(pages, offer_on(moved)))
    assert status_of(group) == "pending_confirmation"


def test_a_moved_draft_stays_a_draft(pages: Dashboard, api: ApiClient, account: ConnectedAccount) -> None:
    draft = create(api, account, scheduled_at=TOMORROW, draft=True)

    moved = pages.http.get(move(pages, draft, TOMORROW, "2027-03-20T15:30")["location"])

    assert "Moved to Saturday, 20 March 2027, 15:30." in words(moved)
    assert status_of(draft) == "draft"
    assert "Undone: the post has its former time again." in words(undo(pages, offer_on(moved)))


def test_nothing_is_said_of_approval_where_editors_need_none(
    pages: Dashboard, api: ApiClient, account: ConnectedAccount
) -> None:
    Workspace.objects.update(editors_need_approval=False)
    group = create(api, account, scheduled_at=TOMORROW)

    moved = pages.http.get(move(pages, group, TOMORROW, "2027-03-20T15:30")["location"])

    assert "Moved to Saturday, 20 March 2027, 15:30." in words(moved)
    assert status_of(group) == "scheduled"


def test_a_rescheduled_post_waits(pages: Dashboard, api: ApiClient, account: ConnectedAccount) -> None:
    group = create(api, account, scheduled_at=TOMORROW)

    moved = pages.http.post(pages.address("post-reschedule", group), {"when": "2027-03-20T15:30"}, follow=True)

    assert "The post waits for the approval of an owner or admin for Saturday, 20 March 2027, 15:30." in words(moved)
    assert f"Undone: the post has its former time again{WAITS}" in words(undo(pages, offer_on(moved)))


@pytest.mark.parametrize(
    ("draft", "done", "undone"),
    [
        (False, "2 posts moved, and wait for approval.", "Undone for 2 posts. They wait for approval."),
        (True, "2 posts moved. 1 of them waits for approval.", "Undone for 2 posts. 1 of them waits for approval."),
    ],
)
def test_chosen_posts_that_are_moved_wait(
    pages: Dashboard, api: ApiClient, account: ConnectedAccount, draft: bool, done: str, undone: str
) -> None:
    groups = [create(api, account, scheduled_at=TOMORROW), create(api, account, scheduled_at=TOMORROW, draft=draft)]

    shown = pages.post("posts-chosen", action="move", when="", days="1", post=[each["id"] for each in groups])
    assert words(shown).count("12 Mar 2027, 12:00, and waits for approval") == (1 if draft else 2)
    moved = confirm(pages, shown)
    assert done in words(moved)
    assert undone in words(undo(pages, offer_on(moved)))


def test_a_cancelled_post_that_is_restored_waits(pages: Dashboard, api: ApiClient, account: ConnectedAccount) -> None:
    group = create(api, account, scheduled_at=TOMORROW)
    cancelled = pages.http.post(pages.address("post-cancel", group), follow=True)

    assert f"Undone. The post is back{WAITS}" in words(undo(pages, offer_on(cancelled)))
    assert PostGroup.objects.get(pk=group["id"]).status == "pending_confirmation"


@pytest.mark.parametrize(
    ("number", "preview", "moved", "undone"),
    [
        (1, "It will wait for approval.", f"1 post moved{WAITS}", f"Undone: the post has its former time again{WAITS}"),
        (
            2,
            "They will wait for approval.",
            "2 posts moved, and wait for approval.",
            "Undone: the posts have their former times again, and wait for approval.",
        ),
    ],
)
def test_posts_of_a_queue_that_are_moved_wait(
    workspace: Workspace,
    editor: User,
    api: ApiClient,
    account: ConnectedAccount,
    number: int,
    preview: str,
    moved: str,
    undone: str,
) -> None:
    for _ in range(number):
        create(api, account, scheduled_at=TOMORROW)
    pages = Pages(workspace, editor)

    shown = preview_queue_change(pages, account, action="move", days="1")
    assert preview in words(shown)
    answer = commit_queue_change(pages, account, shown)
    assert moved in words(answer)
    assert set(PostGroup.objects.values_list("status", flat=True)) == {"pending_confirmation"}
    assert undone in words(pages.http.post(offer_on(answer), follow=True))
