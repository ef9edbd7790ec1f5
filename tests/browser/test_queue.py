"""The queue of an account in a browser: its slots, changes with a preview, and missed posts."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.page_checks import PageChecker
from tests.browser.service import Workspace
from tests.browser.test_calendar import calendar_path, day_ahead, time_of
from tests.browser.test_composer import compose
from tests.browser.ways_of_use import tab_to_and_press

PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
NO_SCRIPTS = {"java_script_enabled": False}
# The state of posts whose times passed while the service was down: they begin to be published, two days late.
MISS_TIMES = """
from datetime import timedelta
from django.utils import timezone
from posts.models import PostGroup, PostTarget
late = timezone.now() - timedelta(days=2)
PostTarget.objects.filter(group_id__in={ids}).update(scheduled_at=late, due_at=late)
PostGroup.objects.filter(id__in={ids}).update(scheduled_at=late)
"""


def set_slots(workspace: Workspace, *slots: datetime) -> None:
    """Give the workspace's Mastodon account weekly slots, in UTC, on the days and at the times of these moments."""
    path = f"/accounts/{workspace.account('mastodon')['connected_account_id']}/slots"
    entered = [{"weekday": f"{at:%a}".lower(), "time": f"{at:%H:%M}"} for at in slots]
    workspace.call("PUT", path, {"slots": entered, "timezone": "UTC"})


def schedule(workspace: Workspace, *times: datetime) -> list[dict[str, Any]]:
    """Schedule the posts "Loaf 0", "Loaf 1" and so on for these moments, to the workspace's Mastodon account."""
    account = workspace.account("mastodon")
    return [workspace.post(f"Loaf {n}", account, scheduled_at=at.isoformat()) for n, at in enumerate(times)]


def account_path(workspace: Workspace, page: str = "") -> str:
    account_id = workspace.account("mastodon")["connected_account_id"]
    return f"/dashboard/workspaces/{workspace.id}/accounts/{account_id}/{page}".rstrip("/")


def post_in_slot(workspace: Workspace, at: datetime) -> str | None:
    """The id of the post that has taken the slot of the Mastodon account at this moment; None if it is free."""
    path = f"/accounts/{workspace.account('mastodon')['connected_account_id']}/slots/next?count=10"
    found = {datetime.fromisoformat(each["at"]): each["post_group_id"] for each in workspace.call("GET", path)["next"]}
    taken_by: str | None = found[at]
    return taken_by


def post_id_of(page: Page) -> str:
    """The id of the post whose page is open."""
    return page.url.rpartition("/")[2]


@pytest.mark.parametrize("options", [{}, NO_SCRIPTS, PHONE], ids=["keyboard", "no scripts", "phone"])
def test_a_post_takes_the_next_free_slot(
    open_page: OpenPage, workspace: Workspace, checker: PageChecker, options: dict[str, Any]
) -> None:
    slot = day_ahead(3, 9)
    set_slots(workspace, slot)
    page = open_page(**options)
    compose(page, workspace, "Into the queue", "Mastodon")
    if options is NO_SCRIPTS:
        page.get_by_role("button", name="Check", exact=True).last.click()
    press(page, "Times for single accounts")
    page.get_by_label("Next free slot of Mastodon").check()
    if not options:
        checker.check(page, "queue-composer")
    press(page, "Schedule for later")

    expect(page.get_by_role("heading", level=1)).to_have_text("Post Scheduled")
    assert post_in_slot(workspace, slot) == post_id_of(page)


@pytest.mark.parametrize("options", [{}, NO_SCRIPTS, PHONE], ids=["mouse", "no scripts", "phone"])
def test_the_plus_of_an_empty_slot_writes_a_post_for_it(
    open_page: OpenPage, workspace: Workspace, checker: PageChecker, options: dict[str, Any]
) -> None:
    slot = day_ahead(3, 9)
    set_slots(workspace, slot)
    view = "month" if options else "week"  # the month shows the first slot of a day
    page = open_page(calendar_path(workspace, view=view, date=f"{slot:%Y-%m-%d}"), **options)
    empty = page.locator(f'[data-day="{slot:%Y-%m-%d}"] .slot').get_by_role("link")
    if options is PHONE:
        empty.tap()
    else:
        empty.click()
    expect(page.get_by_label("Take the slot of Mastodon")).to_be_checked()
    page.get_by_label("Text for all accounts").fill("For this slot")
    if not options:
        expect(page.locator("#check-said")).to_contain_text("Valid for this account.")
        checker.check(page, "queue-composer-slot")
    page.get_by_role("button", name=f"Schedule for {slot:%a}").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Post Scheduled")
    assert post_in_slot(workspace, slot) == post_id_of(page)


def test_a_post_is_dragged_onto_a_slot(open_page: OpenPage, workspace: Workspace, checker: PageChecker) -> None:
    slot = day_ahead(12, 14)
    set_slots(workspace, slot)
    [post] = schedule(workspace, day_ahead(10))
    page = open_page(calendar_path(workspace, view="list", date=f"{day_ahead(9):%Y-%m-%d}"))
    empty = page.locator(f'[data-day="{slot:%Y-%m-%d}"] .slot')
    page.locator(".entry", has_text="Loaf 0").drag_to(empty)
    expect(page.locator("#messages")).to_contain_text("14:00.")
    expect(empty).to_have_count(0)
    assert post_in_slot(workspace, slot) == post["id"]
    checker.check(page, "queue-dragged")

    page.get_by_role("button", name="Undo", exact=True).click()
    expect(empty).to_have_count(1)
    assert post_in_slot(workspace, slot) is None


def test_all_posts_of_a_queue_are_moved(open_page: OpenPage, workspace: Workspace, checker: PageChecker) -> None:
    posts = schedule(workspace, day_ahead(10), day_ahead(11))
    page = open_page(account_path(workspace))
    page.get_by_role("link", name="Queue of this account").click()
    expect(page.locator(".rows > li")).to_have_count(2)
    checker.check(page, "queue")
    page.get_by_label("Days", exact=True).fill("1")
    page.get_by_label("Hours", exact=True).fill("-2")
    page.get_by_role("button", name="Preview the move").click()
    expect(page.get_by_role("heading", name="2 posts would move")).to_be_visible()
    checker.check(page, "queue-preview")
    assert time_of(workspace, posts[0]) == day_ahead(10)
    page.get_by_role("button", name="Move all posts").click()

    expect(page.locator("#messages")).to_contain_text("2 posts moved.")
    assert [time_of(workspace, each) for each in posts] == [day_ahead(11, 6), day_ahead(12, 6)]
    checker.check(page, "queue-moved")
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.locator("#messages")).to_contain_text("Undone: the posts have their former times again.")
    assert [time_of(workspace, each) for each in posts] == [day_ahead(10), day_ahead(11)]


@pytest.mark.parametrize("options", [{}, PHONE], ids=["keyboard", "phone"])
def test_a_queue_is_shuffled(
    open_page: OpenPage, workspace: Workspace, checker: PageChecker, options: dict[str, Any]
) -> None:
    times = [day_ahead(10), day_ahead(11), day_ahead(12)]
    posts = schedule(workspace, *times)
    page = open_page(account_path(workspace, "queue"), **options)
    press(page, "Preview the shuffle")
    expect(page.get_by_role("heading", name="Shuffle the queue", level=1)).to_be_visible()
    if options:
        checker.check(page, "queue-shuffle")
    press(page, "Shuffle the queue")

    expect(page.locator("#messages")).to_contain_text("posts moved.")
    after = [time_of(workspace, each) for each in posts]
    assert after != times
    assert sorted(after) == times


@pytest.mark.parametrize("options", [{}, NO_SCRIPTS], ids=["mouse", "no scripts"])
def test_a_week_is_skipped(open_page: OpenPage, workspace: Workspace, checker: PageChecker, options: dict[str, Any]) -> None:
    day = day_ahead(14)
    wednesday = day + timedelta(days=2 - day.weekday())
    set_slots(workspace, wednesday)
    [post] = schedule(workspace, wednesday)
    page = open_page(account_path(workspace, "queue"), **options)
    page.get_by_label("A day of the week").fill(f"{wednesday:%Y-%m-%d}")
    page.get_by_role("button", name="Preview the skipped week").click()
    expect(page.get_by_role("heading", name="1 post would move")).to_be_visible()
    if not options:
        checker.check(page, "queue-skip")
    page.get_by_role("button", name="Skip a week").click()

    expect(page.locator("#messages")).to_contain_text("1 post moved.")
    assert time_of(workspace, post) == wednesday + timedelta(days=7)
    assert post_in_slot(workspace, wednesday + timedelta(days=7)) == post["id"]


@pytest.mark.parametrize("options", [{}, NO_SCRIPTS, PHONE], ids=["mouse", "no scripts", "phone"])
def test_missed_posts_are_sent_or_left(
    open_page: OpenPage, workspace: Workspace, checker: PageChecker, options: dict[str, Any]
) -> None:
    posts = schedule(workspace, day_ahead(10), day_ahead(11))
    ids = [each["id"] for each in posts]
    workspace.service.stack.run("manage.py", "shell", "--no-imports", "-c", MISS_TIMES.format(ids=ids))
    for each in ids:
        assert workspace.wait_until_finished(each)["status"] == "failed"
    page = open_page(f"/dashboard/workspaces/{workspace.id}", **options)
    page.get_by_role("link", name="2 posts have missed their times").click()
    expect(page.get_by_role("heading", name="Missed posts", level=1)).to_be_visible()
    if not options:
        checker.check(page, "missed-two")
    page.get_by_role("checkbox", name="Send Loaf 1").uncheck()
    page.get_by_role("button", name="Send the chosen posts now").click()

    expect(page.locator("#messages")).to_contain_text("1 post is sent in 10 seconds.")
    assert workspace.wait_until_finished(ids[0])["status"] == "published"
    assert workspace.call("GET", f"/posts/{ids[1]}")["post_group"]["status"] == "failed"
    expect(page.get_by_role("checkbox")).to_have_count(1)


def test_slots_are_edited_with_the_keyboard(open_page: OpenPage, workspace: Workspace, checker: PageChecker) -> None:
    page = open_page(account_path(workspace))
    tab_to_and_press(page.get_by_role("link", name="Set slots"), "Enter")
    page.get_by_label("Monday").focus()
    page.keyboard.type("9:00 25:00")
    page.keyboard.press("Enter")
    expect(page.get_by_text("“25:00” is not a time of day.")).to_be_visible()
    checker.check(page, "slots-refused")
    page.get_by_label("Monday").fill("9:00, 17:30")
    page.get_by_label("Monday").press("Enter")

    expect(page.locator("#messages")).to_contain_text("The slots are saved.")
    expect(page.locator("main")).to_contain_text("09:00, 17:30")
    checker.check(page, "slots-saved")


def press(page: Page, button: str) -> None:
    """Press a button with the keyboard, or tap it where the screen can be touched."""
    found = page.get_by_role("button", name=button)
    if page.evaluate("navigator.maxTouchPoints"):
        found.tap()
    else:
        found.press("Enter")
