"""Files of posts in a browser: choose a file, see the difference, apply it, and export it again; also without scripts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.page_checks import PageChecker
from tests.browser.service import Workspace

DAY = (datetime.now(UTC) + timedelta(days=40)).date().isoformat()


def choose(page: Page, workspace: Workspace, content: str) -> None:
    page.goto(f"/dashboard/workspaces/{workspace.id}/files")
    page.get_by_label("File", exact=True).set_input_files(
        {"name": "month.csv", "mimeType": "text/csv", "buffer": content.encode()}
    )
    page.get_by_role("button", name="Show the difference", exact=True).click()


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_file_is_imported_changed_and_exported(
    open_page: OpenPage, workspace: Workspace, checker: PageChecker, tmp_path: Path, scripts: bool
) -> None:
    page = open_page(java_script_enabled=scripts)
    account = workspace.account("mastodon")["connected_account_id"]
    rows = f"text,accounts,scheduled_at\nFresh bread today,{account},{DAY}T09:00\n{{}},{account},{DAY}T17:30\n"

    choose(page, workspace, rows.format("x" * 501))
    expect(page.get_by_role("alert")).to_contain_text("Some rows have problems")
    expect(page.get_by_role("row").nth(2)).to_contain_text("too long for Mastodon")
    expect(page.get_by_role("button", name="Apply", exact=True)).to_have_count(0)
    if scripts:
        checker.check(page, "file-problems")

    choose(page, workspace, rows.format("And rolls tomorrow"))
    expect(page.get_by_role("heading", name="2 new, 0 changed, 0 unchanged")).to_be_visible()
    page.get_by_role("button", name="Apply", exact=True).click()
    expect(page.locator("#messages")).to_contain_text("2 posts created, 0 changed.")

    page.get_by_label("From").fill(DAY)
    page.get_by_label("To", exact=True).fill(DAY)
    with page.expect_download() as download:
        page.get_by_role("button", name="Export", exact=True).click()
    exported = tmp_path / "month.csv"
    download.value.save_as(exported)
    content = exported.read_text()

    choose(page, workspace, content)
    expect(page.get_by_text("There is no difference.")).to_be_visible()
    choose(
        page, workspace, content.replace("And rolls tomorrow", "And rolls") + f",,{DAY}T20:00,,{account},New in the file,\n"
    )
    expect(page.get_by_role("heading", name="1 new, 1 changed, 1 unchanged")).to_be_visible()
    if scripts:
        checker.check(page, "file-difference")
    page.get_by_role("button", name="Apply", exact=True).click()
    expect(page.locator("#messages")).to_contain_text("1 post created, 1 changed.")
