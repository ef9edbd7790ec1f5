"""Actions on several posts of the list in a browser: with the mouse, the keyboard alone, on a phone and without scripts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.page_checks import PageChecker
from tests.browser.service import Workspace
from tests.browser.ways_of_use import WayOfUse, in_every_way

PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True}


def home_path(workspace: Workspace) -> str:
    return f"/dashboard/workspaces/{workspace.id}"


def schedule(workspace: Workspace, number: int, **fields: Any) -> None:
    """Schedule posts for days that begin in ten days."""
    account = workspace.account("mastodon")
    for place in range(number):
        at = datetime.now(UTC).replace(hour=8, minute=0, second=0, microsecond=0) + timedelta(days=10 + place)
        workspace.post(f"Post number {place}", account, scheduled_at=at.isoformat(), **fields)


@pytest.mark.parametrize("options", [{}, PHONE], ids=["mouse", "phone"])
def test_five_posts_are_approved_with_three_clicks_from_home(
    open_page: OpenPage, workspace: Workspace, checker: PageChecker, options: dict[str, Any]
) -> None:
    token = workspace.new_agent("Robot", default_mode="requires_confirmation")[1]
    schedule(workspace, 5, token=token)
    page = open_page(home_path(workspace), **options)
    page.get_by_role("link", name="Approvals").locator("visible=true").first.click()
    page.get_by_role("button", name="Approve several…").click()
    expect(page.get_by_role("heading", name="5 posts will be approved")).to_be_visible()
    if not options:
        checker.check(page, "chosen-approve")
    page.get_by_role("button", name="Approve the checked posts").click()

    expect(page.locator("#messages")).to_contain_text("5 posts approved.")
    expect(page.locator(".rows .pill", has_text="Scheduled")).to_have_count(5)
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.locator("#messages")).to_contain_text("Undone for 5 posts.")


@in_every_way
def test_posts_are_approved_by_their_check_boxes(open_page: OpenPage, workspace: Workspace, way: WayOfUse) -> None:
    token = workspace.new_agent("Robot", default_mode="requires_confirmation")[1]
    schedule(workspace, 3, token=token)
    page = open_page(f"{home_path(workspace)}/posts", **way.options)
    for number in (2, 0):
        way.check(page.get_by_role("checkbox", name=f"Choose: Post number {number}"))
    expect(page.get_by_role("checkbox", checked=True)).to_have_count(2)
    way.press(page.get_by_role("button", name="Approve…"))
    expect(page.get_by_role("heading", name="2 posts will be approved")).to_be_visible()
    way.press(page.get_by_role("button", name="Approve the checked posts"))

    expect(page.locator("#messages")).to_contain_text("2 posts approved.")
    expect(page.locator(".rows .pill", has_text="Scheduled")).to_have_count(2)
    expect(page.locator(".rows > li", has_text="Post number 1")).to_contain_text("Awaiting approval")


def test_posts_are_chosen_and_moved_with_the_keyboard(
    open_page: OpenPage, workspace: Workspace, checker: PageChecker
) -> None:
    schedule(workspace, 3, metadata={"tags": "launch, spring sale"})
    page = open_page(f"{home_path(workspace)}/posts")
    page.keyboard.press("j")
    expect(page.get_by_role("link", name="Post number 2", exact=True)).to_be_focused()
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.keyboard.press("k")
    expect(page.get_by_role("link", name="Post number 2", exact=True)).to_be_focused()
    expect(page.get_by_role("checkbox", checked=True)).to_have_count(2)
    checker.check(page, "posts-chosen")
    page.get_by_role("button", name="Move…").press("Enter")
    page.get_by_label("Or by days").fill("2")
    page.get_by_label("Or by days").press("Enter")
    expect(page.get_by_role("heading", name="2 posts will be moved")).to_be_visible()
    checker.check(page, "chosen-move")
    page.get_by_role("button", name="Move the checked posts").press("Enter")
    expect(page.locator("#messages")).to_contain_text("2 posts moved.")


def test_all_posts_of_a_page_are_cancelled_on_a_phone(
    open_page: OpenPage, workspace: Workspace, checker: PageChecker
) -> None:
    schedule(workspace, 2)
    workspace.post("Gone out", workspace.account("mastodon"))
    page = open_page(f"{home_path(workspace)}/posts", **PHONE)
    checker.check(page, "posts-phone")
    page.get_by_role("link", name="Choose all on this page").tap()
    page.get_by_role("button", name="Cancel…").tap()
    expect(page.get_by_role("heading", name="2 posts will be cancelled")).to_be_visible()
    expect(page.get_by_role("heading", name="1 cannot be cancelled")).to_be_visible()
    checker.check(page, "chosen-cancel-phone")
    page.get_by_role("button", name="Cancel the checked posts").tap()
    expect(page.locator("#messages")).to_contain_text("2 posts cancelled.")


@in_every_way
def test_a_post_is_duplicated_and_tagged(open_page: OpenPage, workspace: Workspace, way: WayOfUse) -> None:
    schedule(workspace, 1)
    page = open_page(f"{home_path(workspace)}/posts", **way.options)
    way.press(page.get_by_role("button", name="Duplicate Post number 0"))
    expect(page.get_by_role("heading", name="Edit post", level=1)).to_be_visible()
    expect(page.get_by_label("Text for all accounts")).to_have_value("Post number 0")
    expect(page.get_by_label("When to publish")).to_have_value("")
    way.enter(page.get_by_label("Tags"), "launch")
    way.press(page.get_by_role("button", name="Save as a shared draft"))
    expect(page.locator("#messages")).to_contain_text("Saved.")
    page.goto(f"{home_path(workspace)}/posts")
    way.press(page.get_by_role("link", name="launch", exact=True))
    expect(page.locator(".rows > li")).to_have_count(1)
