"""Inserting snippets in the composer in a browser: with the mouse, with the keyboard, on a phone, without scripts."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.page_checks import PageChecker
from tests.browser.service import Workspace
from tests.browser.test_composer import open_tab
from tests.browser.test_composer_tabs import choose
from tests.browser.ways_of_use import MOUSE, NO_SCRIPTS, TOUCH, WayOfUse, in_every_way, tab_to_and_press


@pytest.fixture
def snippets(open_page: OpenPage, workspace: Workspace) -> Workspace:
    """A workspace with a group of hashtags and a signature."""
    page = open_page(f"/dashboard/workspaces/{workspace.id}/snippets")
    for name, kind, text in (("Rye", "Hashtags", "#rye #bread"), ("Bakery", "Signature", "— Harbour Bakery")):
        page.get_by_label("Name", exact=True).first.fill(name)
        page.get_by_label("Kind").first.select_option(kind)
        page.get_by_label("Text", exact=True).first.fill(text)
        page.get_by_role("button", name="Add the snippet").click()
        expect(page.locator("#messages")).to_contain_text("The snippet is saved.")
    return workspace


def open_composer(open_page: OpenPage, workspace: Workspace, **options: Any) -> Page:
    return open_page(f"/dashboard/workspaces/{workspace.id}/compose", **options)


def test_snippets_are_managed_on_their_page(open_page: OpenPage, snippets: Workspace, checker: PageChecker) -> None:
    page = open_page(f"/dashboard/workspaces/{snippets.id}/settings")
    page.get_by_role("link", name="See and change snippets").click()
    page.get_by_text("Change Rye").click()
    checker.check(page, "snippets-change")
    page.get_by_label("Text", exact=True).nth(1).fill("#rye")
    page.get_by_role("button", name="Save Rye").click()
    expect(page.locator("main")).to_contain_text("The snippet is changed.")
    page.get_by_text("Change Rye").click()
    page.get_by_role("button", name="Delete Rye").click()
    expect(page.get_by_role("heading", name="Rye")).to_have_count(0)


@in_every_way
def test_no_snippets_a_new_one_and_a_refused_one_look_different(
    open_page: OpenPage, workspace: Workspace, way: WayOfUse
) -> None:
    page = open_page(f"/dashboard/workspaces/{workspace.id}/snippets", **way.options)
    empty, done = page.locator(".empty"), page.get_by_role("status").locator(".message.success")
    wrong = page.get_by_role("alert")
    new = page.get_by_role("region", name="Add a snippet")
    expect(empty).to_contain_text("There are no snippets yet.")
    expect(done.or_(wrong)).to_have_count(0)
    for expected, other in ((done, wrong), (wrong, done)):  # the second has the name of the first
        way.enter(new.get_by_label("Name"), "Rye")
        way.choose(new.get_by_label("Kind"), "Signature")
        way.enter(new.get_by_label("Text"), "#rye #bread")
        way.press(new.get_by_role("button", name="Add the snippet"))
        expect(expected).to_be_visible()
        expect(other).to_have_count(0)
    expect(new.locator(".problem")).to_contain_text("Another snippet has this name.")
    expect(new.get_by_label("Name")).to_have_attribute("aria-invalid", "true")
    expect(new.get_by_label("Text")).to_have_value("#rye #bread")
    expect(empty).to_have_count(0)


def test_a_snippet_is_inserted_at_the_cursor(open_page: OpenPage, snippets: Workspace, checker: PageChecker) -> None:
    page = open_composer(open_page, snippets)
    text = page.get_by_label("Text for all accounts")
    text.fill("Fresh today!")
    text.press("End")
    text.press("ArrowLeft")
    page.locator("summary", has_text="Snippets").click()
    checker.check(page, "compose-snippets")
    page.get_by_role("button", name="Rye").click()
    expect(text).to_have_value("Fresh today #rye #bread!")
    page.get_by_role("button", name="Bakery").click()
    expect(text).to_have_value("Fresh today #rye #bread\n\n— Harbour Bakery!")

    choose(page, "Bluesky", "Mastodon")
    expect(page.locator("#check-said")).to_contain_text("Valid for all accounts.")
    open_tab(page, "Mastodon")
    page.keyboard.type(" Only there.")
    page.get_by_role("button", name="Rye").click()
    expect(page.get_by_label("Text for Mastodon")).to_be_focused()
    page.keyboard.type(" Come!")
    expect(page.get_by_label("Text for Mastodon")).to_have_value(
        "Fresh today #rye #bread\n\n— Harbour Bakery! Only there. #rye #bread Come!"
    )
    expect(page.locator("#check")).to_contain_text("Only there. #rye #bread Come!")
    expect(page.locator("#draft-said")).to_contain_text("Saved")


def test_a_snippet_is_inserted_with_the_keyboard(open_page: OpenPage, snippets: Workspace) -> None:
    page = open_composer(open_page, snippets)
    choose(page, "Mastodon")
    open_tab(page, "Mastodon")
    page.get_by_label("Text for all accounts").evaluate("field => { field.value = 'For everyone'; }")
    tab_to_and_press(page.locator("summary", has_text="Snippets"), "Enter")
    button = page.get_by_role("button", name="Rye")
    tab_to_and_press(button, "Enter")

    expect(page.get_by_label("Text for Mastodon")).to_have_value("For everyone #rye #bread")
    expect(page.get_by_role("checkbox", name="Use a different text")).to_be_checked()
    expect(button).to_be_focused()


def test_a_snippet_is_inserted_on_a_phone(open_page: OpenPage, snippets: Workspace) -> None:
    page = open_composer(open_page, snippets, **TOUCH.options)
    page.locator("summary", has_text="Snippets").tap()
    page.get_by_role("button", name="Rye").tap()

    expect(page.get_by_label("Text for all accounts")).to_have_value("#rye #bread")


def test_a_snippet_is_appended_without_scripts(open_page: OpenPage, snippets: Workspace) -> None:
    page = open_composer(open_page, snippets, java_script_enabled=False)
    page.get_by_label("Text for all accounts").fill("Fresh today")
    page.locator("summary", has_text="Snippets").click()
    page.get_by_role("button", name="Bakery").click()

    expect(page.get_by_label("Text for all accounts")).to_have_value("Fresh today\n\n— Harbour Bakery")


@in_every_way
def test_an_emoji_is_found_and_inserted(
    open_page: OpenPage, workspace: Workspace, checker: PageChecker, way: WayOfUse
) -> None:
    page = open_composer(open_page, workspace, **way.options)
    way.enter(page.get_by_label("Text for all accounts"), "Off we go ")
    way.press(page.locator("summary", has_text="Emoji"))
    if way is MOUSE:
        checker.check(page, "compose-emoji")
    way.enter(page.get_by_label("Search by name"), "rocket")
    if way is NO_SCRIPTS:
        way.press(page.get_by_role("button", name="Search", exact=True))
    expect(page.locator(".emoji button")).to_have_count(1)
    way.press(page.get_by_role("button", name="rocket"))
    way.press(page.get_by_role("button", name="rocket"))

    expect(page.get_by_label("Text for all accounts")).to_have_value("Off we go 🚀🚀")
