"""A person makes a series in the browser: choices, preview, and the page of the series."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.page_checks import PageChecker
from tests.browser.service import Workspace


def test_a_series_is_previewed_and_created(open_page: OpenPage, workspace: Workspace, checker: PageChecker) -> None:
    page = open_page(f"/dashboard/workspaces/{workspace.id}/series")
    page.get_by_role("link", name="New series").click()
    page.get_by_label("Name", exact=True).fill("Morning")
    page.get_by_label("Text", exact=True).fill("Good morning, no. {n}")
    page.get_by_role("checkbox", name="Mastodon").check()
    page.get_by_role("radio", name="On days of the week").check()
    page.get_by_role("checkbox", name="Monday").check()
    page.get_by_role("button", name="Preview", exact=True).click()
    expect(page.get_by_role("heading", name="Preview", exact=True)).to_be_visible()
    expect(page.get_by_text("Good morning, no. 10")).to_be_visible()
    checker.check(page, "series-preview")

    page.get_by_role("button", name="Create series").click()
    expect(page.get_by_role("heading", name="Morning Active")).to_be_visible()
    expect(page.get_by_text("Every week on Monday")).to_be_visible()
    checker.check(page, "series-created")
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="End series").click()
    expect(page.get_by_text("The series has ended")).to_be_visible()
