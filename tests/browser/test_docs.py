"""The API's reference at /docs in a browser."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.page_checks import PageChecker


def test_the_reference_is_readable_on_a_phone_and_in_the_dark(open_page: OpenPage, checker: PageChecker) -> None:
    page = open_page("/docs", signed_in=False)
    operation = page.locator("#operations-posts-posts_create")
    operation.get_by_role("button").first.click()
    expect(operation.get_by_text("Request body", exact=True)).to_be_visible()
    checker.check(page, "docs")
    page.emulate_media(color_scheme="dark")
    expect(page.locator("html")).to_have_class("dark-mode")
    expect(page.locator("body")).to_have_css("background-color", "rgb(28, 32, 34)")
