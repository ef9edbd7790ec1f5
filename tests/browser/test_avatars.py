"""The pictures of accounts in a browser, fetched by the running service from the stand-in of their platform."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.page_checks import PageChecker
from tests.browser.service import Workspace
from tests.chaos.stack import wait_until
from tests.fakes.bluesky import FakeBluesky
from tests.media.pictures import jpeg

HANDLE, APP_PASSWORD = "pictured.test", "abcd-efgh-ijkl-mnop"


def test_pages_show_the_picture_of_a_connected_account(
    open_page: OpenPage, workspace: Workspace, bluesky: FakeBluesky, checker: PageChecker
) -> None:
    bluesky.add_account(HANDLE, APP_PASSWORD)
    bluesky.set_profile(HANDLE, "Pictured Bakery", jpeg(400, 300, colour="peru"))
    credentials = {"identifier": HANDLE, "app_password": APP_PASSWORD}
    asked = {"workspace_id": workspace.id, "platform": "bluesky", "method": "credentials", "credentials": credentials}
    account_id = workspace.call("POST", "/accounts/connect", asked)["account"]["id"]

    page = open_page(f"/dashboard/workspaces/{workspace.id}/compose")
    picture = page.locator(".chip img.avatar")
    wait_until(lambda: bool(page.reload() and picture.count()), "a picture of the account")
    page.get_by_role("checkbox", name=f"Bluesky {HANDLE}").check()
    page.locator(".accounts summary").click()
    page.locator(".chip", has_text="Mastodon").click()
    page.get_by_label("Text for all accounts").fill("Fresh from the oven")
    expect(page.locator("#check > article")).to_have_count(2)
    expect(page.locator("#check article").first).to_contain_text("Fresh from the oven")
    for place in (".chip", ".tab", "#check h3", "#check .segment"):
        expect(page.locator(f"{place} img.avatar")).to_have_js_property("naturalWidth", 96)
    checker.check(page, "compose-avatars")

    page.goto(f"/dashboard/workspaces/{workspace.id}/accounts")
    expect(page.locator(".rows img.avatar")).to_have_js_property("naturalWidth", 96)
    checker.check(page, "accounts-avatars")
    page.get_by_role("link", name=f"Bluesky {HANDLE}").click()
    checker.check(page, "account-avatar")

    target = {"platform": "bluesky", "connected_account_id": account_id}
    soon = datetime.now(UTC) + timedelta(minutes=30)
    workspace.post("Out of the oven", target, workspace.account("mastodon"), scheduled_at=soon.isoformat())
    workspace.post("May I tell everyone?", target, workspace.account("mastodon"), token=workspace.new_agent("Newsroom")[1])
    page.goto(f"/dashboard/workspaces/{workspace.id}")
    needs = page.get_by_role("region", name="Needs your attention")
    expect(needs.locator("img.avatar")).to_have_js_property("naturalWidth", 96)
    for name, path, place in (
        ("home", "", ".rows li"),
        ("posts", "/posts", ".rows li"),
        ("calendar-month", f"/calendar?date={soon:%Y-%m-%d}", ".entry"),
        ("calendar-week", f"/calendar?view=week&date={soon:%Y-%m-%d}", ".entry"),
        ("calendar-day", f"/calendar?view=day&date={soon:%Y-%m-%d}", ".entry"),
        ("calendar-list", f"/calendar?view=list&date={soon:%Y-%m-%d}", ".entry"),
    ):
        page.goto(f"/dashboard/workspaces/{workspace.id}{path}")
        row = page.locator(place, has_text="Out of the oven")
        expect(row.locator("img.avatar")).to_have_js_property("naturalWidth", 96)
        expect(row.get_by_role("img", name="Mastodon")).to_be_visible()
        checker.check(page, f"{name}-avatars")
