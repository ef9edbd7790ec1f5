"""Keyboard shortcuts of the dashboard in a browser."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.full_workspace import FullWorkspace
from tests.browser.page_checks import PageChecker, menu_link
from tests.browser.service import Workspace
from tests.browser.ways_of_use import NO_SCRIPTS, TOUCH, WayOfUse, in_every_way

TWO_FRAMES = "() => new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)))"
ADDRESSES = "links => links.map((link) => link.getAttribute('href'))"


def test_a_page_is_opened_by_a_part_of_its_name(open_page: OpenPage, workspace: Workspace, checker: PageChecker) -> None:
    page = home_of(workspace, open_page)
    page.keyboard.press("Control+k")
    checker.check(page, "go-to")
    for typed, name in (("webh", "Webhooks"), ("memb", "Members")):
        expect(page.get_by_role("button", name="Go to…")).to_be_visible()  # by the script that also listens to the keys
        page.evaluate(TWO_FRAMES)  # Chromium drops keys that come before the first frame of a page
        page.keyboard.press("Control+k")
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.type(typed)
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()


@in_every_way
def test_a_page_that_no_menu_names_is_opened(open_page: OpenPage, workspace: Workspace, way: WayOfUse) -> None:
    """Where there are no keys, a button opens the list of pages; without scripts, the menu and the pages have links."""
    page = open_page(f"/dashboard/workspaces/{workspace.id}", **way.options)
    listed, opener = page.get_by_role("dialog"), page.get_by_role("button", name="Go to…")
    if way is TOUCH:
        way.press(page.get_by_role("button", name="Menu", exact=True))
    if way is NO_SCRIPTS:
        expect(opener).to_be_hidden()
        way.press(menu_link(page, "Settings"))
        way.press(page.get_by_role("link", name="See and invite members"))
    else:
        way.press(opener)
        way.press(listed.get_by_role("link", name="Members"))
    expect(page.get_by_role("heading", name="Members", level=1)).to_be_visible()


def test_without_scripts_links_lead_to_every_listed_page(open_page: OpenPage, workspace: Workspace) -> None:
    page = open_page(f"/dashboard/workspaces/{workspace.id}", java_script_enabled=False)
    listed = set(page.locator("#go-to li a").evaluate_all(ADDRESSES))
    linked = set()
    for address in page.locator("#menu li a").evaluate_all(ADDRESSES):
        linked |= set(re.findall(r'<a[^>]* href="([^"]+)"', page.context.request.get(address).text().partition("<main")[2]))

    assert len(listed) == 5
    assert listed <= linked


def test_the_arrow_keys_choose_among_the_pages(open_page: OpenPage, workspace: Workspace) -> None:
    page = home_of(workspace, open_page)
    page.keyboard.press("?")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("dialog").get_by_role("link", name="Home")).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_single_keys_open_pages_until_they_are_turned_off(open_page: OpenPage, workspace: Workspace) -> None:
    page = home_of(workspace, open_page)
    page.keyboard.press("n")
    expect(page.get_by_role("heading", name="New post", level=1)).to_be_visible()
    page.get_by_role("button", name="Go to…").click()
    page.get_by_label("Single keys").uncheck()
    page.get_by_role("button", name="Close").click()
    page = home_of(workspace, open_page, page)
    page.keyboard.press("n")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.get_by_role("heading", name="Home", level=1)).to_be_visible()


def test_single_keys_do_nothing_where_one_writes(open_page: OpenPage, workspace: Workspace) -> None:
    page = open_page(f"/dashboard/workspaces/{workspace.id}/compose")
    page.get_by_label("Text for all accounts").fill("Unfinished")
    page.get_by_label("Text for all accounts").blur()
    page.keyboard.press("n")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.get_by_label("Text for all accounts")).to_have_value("Unfinished")


def test_single_keys_work_beside_a_closed_form(open_page: OpenPage, full_workspace: FullWorkspace) -> None:
    """An approvals page has a field for the reason of a refusal, which is hidden until it is wanted."""
    approvals = f"/dashboard/workspaces/{full_workspace.workspace.id}/approvals"
    page = open_page(approvals)
    page.keyboard.press("n")
    expect(page.get_by_role("heading", name="New post", level=1)).to_be_visible()
    page.goto(approvals)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()


def home_of(workspace: Workspace, open_page: OpenPage, page: Page | None = None) -> Page:
    """Open the home page of a workspace."""
    address = f"/dashboard/workspaces/{workspace.id}"
    if page is None:
        return open_page(address)
    page.goto(address)
    return page
