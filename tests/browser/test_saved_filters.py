"""Filters of the calendar and of the list of posts in a browser, and saved ones: saving, using and deleting one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.page_checks import PageChecker
from tests.browser.service import Workspace
from tests.browser.ways_of_use import MOUSE, WayOfUse, in_every_way


@pytest.mark.parametrize(("path", "entries"), [("calendar", ".entry"), ("posts", ".rows > li")], ids=["calendar", "posts"])
def test_posts_are_filtered_by_each_choice(open_page: OpenPage, workspace: Workspace, path: str, entries: str) -> None:
    mastodon, linkedin = workspace.account("mastodon"), workspace.account("linkedin")
    soon = (datetime.now(UTC) + timedelta(days=2)).isoformat()
    agents_key = workspace.new_agent("Desk agent")[1]
    workspace.post("Fresh bread", mastodon, scheduled_at=soon)
    workspace.post("Warm rolls", linkedin, scheduled_at=soon, metadata={"tags": "launch"})
    workspace.post("May I?", mastodon, scheduled_at=soon, token=agents_key)
    workspace.post("[sandbox:reject] Stale", mastodon)
    page = open_page(f"/dashboard/workspaces/{workspace.id}/{path}?view=list")
    shown = page.locator(entries)
    for label, choice, expected in (
        ("Account", linkedin["connected_account_id"], "Warm rolls"),
        ("Platform", "linkedin", "Warm rolls"),
        ("State", "Awaiting approval", "May I?"),
        ("State", "Failed", "[sandbox:reject] Stale"),
        ("Agent", "Desk agent", "May I?"),
        ("Tag", "launch", "Warm rolls"),
    ):
        if path == "posts" and label == "Platform":  # the list has no such choice
            continue
        expect(shown).to_have_count(4)
        if path == "calendar":
            page.locator(".calendar-filters > summary").click()
        field = page.get_by_label(label, exact=True)
        field.fill(choice) if label == "Tag" else field.select_option(choice)
        page.get_by_role("button", name="Show", exact=True).click()
        expect(shown).to_have_count(1)
        expect(shown).to_contain_text(expected)
        if path == "posts" and choice == "Failed":
            expect(shown).to_contain_text("The sandbox rejects this post, as its text asks.")
        page.goto(f"/dashboard/workspaces/{workspace.id}/{path}?view=list")


@in_every_way
def test_a_filter_is_saved_used_and_deleted(
    open_page: OpenPage, workspace: Workspace, checker: PageChecker, way: WayOfUse
) -> None:
    for text in ("Fresh bread", "Warm rolls"):
        workspace.post(text, workspace.account("mastodon"), draft=True)
    posts = f"/dashboard/workspaces/{workspace.id}/posts"
    page = open_page(posts, **way.options)
    rows, saved = page.locator(".rows > li"), page.get_by_role("navigation", name="Saved filters")
    way.enter(page.get_by_label("Text", exact=True), "rolls")
    way.press(page.get_by_role("button", name="Show"))
    way.press(page.locator("summary", has_text="Save this filter"))
    way.enter(page.get_by_label("Name of the filter"), "Rolls")
    way.press(page.get_by_role("button", name="Save", exact=True))
    expect(page.locator("#messages")).to_contain_text("The filter is saved as “Rolls”.")
    if way is MOUSE:
        checker.check(page, "posts-filter-saved")

    page.goto(posts)
    expect(rows).to_have_count(2)
    way.press(saved.get_by_role("link", name="Rolls"))
    expect(rows).to_have_count(1)
    expect(saved.get_by_role("link", name="Rolls")).to_have_attribute("aria-current", "page")

    page.goto(posts)
    way.press(page.locator("summary", has_text="Delete saved filters"))
    way.press(page.get_by_role("button", name="Delete the filter “Rolls”"))
    expect(page.locator("#messages")).to_contain_text("The saved filter was deleted.")
    expect(saved).to_have_count(0)
