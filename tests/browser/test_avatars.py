"""The pictures of accounts in a browser, fetched by the running service from the stand-in of their platform."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.page_checks import PageChecker
from tests.browser.service import Service, Workspace
from tests.browser.ways_of_use import NO_SCRIPTS, TOUCH, WayOfUse, in_every_way
from tests.chaos.stack import wait_until
from tests.fakes.bluesky import FakeBluesky
from tests.media.pictures import jpeg

HANDLE, APP_PASSWORD = "pictured.test", "abcd-efgh-ijkl-mnop"


@pytest.fixture(scope="module")
def pictured(service: Service, bluesky: FakeBluesky) -> tuple[Workspace, dict[str, str]]:
    """A workspace, and as the target of a post its account on Bluesky, which has a picture."""
    workspace = service.new_workspace("Pictured Bakery")
    bluesky.add_account(HANDLE, APP_PASSWORD)
    bluesky.set_profile(HANDLE, "Pictured Bakery", jpeg(400, 300, colour="peru"))
    credentials = {"identifier": HANDLE, "app_password": APP_PASSWORD}
    asked = {"workspace_id": workspace.id, "platform": "bluesky", "method": "credentials", "credentials": credentials}
    account = workspace.call("POST", "/accounts/connect", asked)["account"]
    return workspace, {"platform": "bluesky", "connected_account_id": account["id"]}


def open_composer(open_page: OpenPage, workspace: Workspace, **options: Any) -> Page:
    """Open the composer, and reload it until it shows the picture of an account."""
    page = open_page(f"/dashboard/workspaces/{workspace.id}/compose", **options)
    picture = page.locator(".chip img.avatar")
    wait_until(lambda: bool(page.reload() and picture.count()), "a picture of the account")
    return page


@in_every_way
def test_a_chosen_account_shows_its_picture(
    open_page: OpenPage, pictured: tuple[Workspace, dict[str, str]], way: WayOfUse
) -> None:
    page = open_composer(open_page, pictured[0], **way.options)
    way.check(page.locator(".chip", has_text=HANDLE) if way is TOUCH else page.get_by_role("checkbox", name=HANDLE))
    way.enter(page.get_by_label("Text for all accounts"), "Fresh from the oven")
    if way is NO_SCRIPTS:
        way.press(page.get_by_role("button", name="Check", exact=True).last)
    for place in (".chip", "#check h3", "#check .segment"):
        expect(page.locator(f"{place} img.avatar")).to_have_js_property("naturalWidth", 96)


def test_pages_show_the_picture_of_a_connected_account(
    open_page: OpenPage, pictured: tuple[Workspace, dict[str, str]], checker: PageChecker
) -> None:
    workspace, target = pictured
    page = open_composer(open_page, workspace)
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
