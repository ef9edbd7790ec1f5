"""Keyboard shortcuts of the dashboard in a browser."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.full_workspace import FullWorkspace
from tests.browser.page_checks import PageChecker
from tests.browser.service import Workspace


def test_a_page_is_opened_by_a_part_of_its_name(open_page: OpenPage, workspace: Workspace, checker: PageChecker) -> None:
    page = home_of(workspace, open_page)
    page.keyboard.press("Control+k")
    checker.check(page, "go-to")
    for typed, name in (("webh", "Webhooks"), ("memb", "Members")):
        expect(page.get_by_role("button", name="Go to…")).to_be_visible()  # by the script that also listens to the keys
        page.keyboard.press("Control+k")
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.type(typed)
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()


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
