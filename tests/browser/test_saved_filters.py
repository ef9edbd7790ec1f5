"""Saved filters of the list of posts in a browser: saving, using and deleting one."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.page_checks import PageChecker
from tests.browser.service import Workspace
from tests.browser.ways_of_use import MOUSE, WayOfUse, in_every_way


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
