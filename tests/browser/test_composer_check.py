"""The check of the composer in a browser: ways from a problem to the field in which a person mends it."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.page_checks import PageChecker
from tests.browser.service import Workspace
from tests.browser.ways_of_use import MOUSE, WayOfUse, in_every_way
from tests.media.pictures import jpeg


@in_every_way
def test_a_problem_leads_to_its_field_and_an_account_with_one_is_left_out(
    open_page: OpenPage, workspace: Workspace, checker: PageChecker, way: WayOfUse
) -> None:
    accounts = "".join(f"&account={workspace.account(each)['connected_account_id']}" for each in ("bluesky", "pinterest"))
    media = f"&media={workspace.upload(jpeg(64, 48), 'rye.jpg', '')}"
    page = open_page(f"/dashboard/workspaces/{workspace.id}/compose?text=Rye{accounts}{media}", **way.options)
    if way is MOUSE:
        checker.check(page, "compose-fields-to-fill-in")
    way.press(page.locator("#check").get_by_role("button", name="Describe rye.jpg").first)
    expect(page.get_by_label("Alt text for rye.jpg")).to_be_focused()
    page.keyboard.type("A loaf of rye")
    way.press(page.get_by_role("button", name="Fill in “Board”"))
    expect(page.get_by_label("Board (needed)")).to_be_focused()
    expect(page.get_by_label("Alt text for rye.jpg")).to_have_value("A loaf of rye")
    way.press(page.get_by_role("button", name="Leave out Pinterest"))
    expect(page.locator("#check-said")).to_contain_text("Valid for this account.")
    left_out = page.get_by_role("checkbox", name="Pinterest")
    expect(left_out).not_to_be_checked()
    expect(left_out).to_be_focused()
    expect(page.get_by_role("button", name="Leave out")).to_have_count(0)
