"""The API's reference at /docs in a browser: with the mouse, the keyboard, on a phone and without scripts, in the dark."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.page_checks import FIND_OVERFLOW, PageChecker
from tests.browser.ways_of_use import MOUSE, NO_SCRIPTS, WayOfUse, in_every_way

DARK_GROUND = "rgb(28, 32, 34)"


@in_every_way
def test_the_reference_is_read_in_the_dark(open_page: OpenPage, checker: PageChecker, way: WayOfUse) -> None:
    page = open_page("/docs", signed_in=False, color_scheme="dark", **way.options)
    expect(page.locator("body")).to_have_css("background-color", DARK_GROUND)
    if way is NO_SCRIPTS:
        document = page.get_by_role("link", name="OpenAPI document")
        address = document.get_attribute("href")
        assert address is not None
        assert page.context.request.get(address).json()["openapi"].startswith("3.1")
        return

    operation = page.locator("#operations-posts-posts_create" if way is MOUSE else ".opblock").first
    way.press(operation.get_by_role("button").first)
    expect(operation.get_by_text("Responses", exact=True).first).to_be_visible()
    assert page.evaluate(FIND_OVERFLOW) == []
    if way is MOUSE:
        checker.check(page, "docs")
