"""What is entered in the composer survives links, Back, reloads, the end of the session, and browsers without scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.conftest import OpenPage, new_context
from tests.browser.page_checks import PageChecker, menu_link
from tests.browser.service import Service, Workspace
from tests.browser.test_composer import open_tab
from tests.browser.ways_of_use import MOUSE, NO_SCRIPTS, TOUCH, WayOfUse, in_every_way
from tests.media.pictures import jpeg


def fill_in(page: Page, workspace: Workspace, tmp_path: Path) -> None:
    """Enter a text for all accounts, a different text, an option, a picture with its description, and a time."""
    (tmp_path / "oven.jpg").write_bytes(jpeg(640, 480))
    page.goto(f"/dashboard/workspaces/{workspace.id}/compose")
    page.get_by_label("Text for all accounts").fill("Fresh from the oven")
    page.get_by_role("checkbox", name="Mastodon").check()
    page.get_by_role("checkbox", name="Bluesky").check()
    open_tab(page, "Mastodon")
    page.get_by_label("Text for Mastodon").fill("Only for Mastodon")
    page.get_by_text("Options of Mastodon").click()
    page.get_by_label("Visibility").select_option("unlisted")
    page.get_by_label("Upload files").set_input_files(tmp_path / "oven.jpg")
    page.get_by_label("Alt text for oven.jpg").fill("An open oven")
    page.get_by_label("When to publish").fill("2099-01-31T09:00")


def expect_everything(page: Page) -> None:
    expect(page.get_by_label("Text for all accounts")).to_have_value("Fresh from the oven")
    expect(page.get_by_role("checkbox", name="Mastodon")).to_be_checked()
    expect(page.get_by_role("checkbox", name="Bluesky")).to_be_checked()
    expect(page.get_by_label("Text for Mastodon")).to_have_value("Only for Mastodon")
    expect(page.get_by_label("Visibility")).to_have_value("unlisted")
    expect(page.get_by_label("Alt text for oven.jpg")).to_have_value("An open oven")
    expect(page.get_by_label("When to publish")).to_have_value("2099-01-31T09:00")
    expect(page.locator("#check")).to_contain_text("Only for Mastodon")


def expect_saved(page: Page) -> None:
    expect(page.locator("#draft-said")).to_contain_text(re.compile(r"Saved \d\d:\d\d"))


def test_everything_returns_after_links_back_and_reloads(
    open_page: OpenPage, workspace: Workspace, checker: PageChecker, tmp_path: Path
) -> None:
    page = open_page()
    fill_in(page, workspace, tmp_path)
    # The link is followed when everything is saved, and the browser does not ask.
    menu_link(page, "Calendar").click()
    expect(menu_link(page, "Calendar")).to_have_attribute("aria-current", "page")
    page.go_back()
    expect_everything(page)
    page.reload()
    expect_everything(page)
    expect_saved(page)
    checker.check(page, "compose-draft")

    menu_link(page, "New post").click()
    page.get_by_text("You have 1 unfinished post").click()
    checker.check(page, "compose-unfinished")
    page.get_by_role("link", name="Fresh from the oven").click()
    expect_everything(page)


def test_what_was_just_typed_returns_after_a_reload(open_page: OpenPage, workspace: Workspace) -> None:
    """A reload right after typing: the browser asks, and the page sends what is not saved while it is left."""
    page = open_page(f"/dashboard/workspaces/{workspace.id}/compose")
    page.get_by_label("Text for all accounts").fill("Not a second later")
    with page.expect_event("dialog") as asked:
        page.reload()

    assert asked.value.type == "beforeunload"
    expect(page.get_by_label("Text for all accounts")).to_have_value("Not a second later")


def test_leaving_can_be_cancelled_while_nothing_can_be_saved(
    chromium: Browser, service: Service, workspace: Workspace, owner: Any
) -> None:
    context = chromium.new_context(base_url=service.base_url, storage_state=owner)
    page = context.new_page()
    page.goto(f"/dashboard/workspaces/{workspace.id}/compose")
    page.on("dialog", lambda dialog: dialog.dismiss())
    context.set_offline(True)
    page.get_by_label("Text for all accounts").fill("In a tunnel")
    expect(page.locator("#draft-said")).to_contain_text("Not saved yet: the service cannot be reached.")
    with page.expect_event("dialog") as asked:
        menu_link(page, "Calendar").click()
    assert asked.value.type == "beforeunload"
    expect(page.get_by_label("Text for all accounts")).to_have_value("In a tunnel")
    context.set_offline(False)
    expect_saved(page)
    context.close()


@in_every_way
def test_a_lost_session_loses_no_text(
    chromium: Browser, service: Service, workspace: Workspace, owner: Any, checker: PageChecker, way: WayOfUse
) -> None:
    context = new_context(chromium, service.base_url, storage_state=owner, **way.options)
    page = context.new_page()
    page.goto(f"/dashboard/workspaces/{workspace.id}/compose")
    text, account = page.get_by_label("Text for all accounts"), page.get_by_role("checkbox", name="Mastodon")
    way.check(page.locator(".chip", has_text="Mastodon") if way is TOUCH else account)
    context.clear_cookies(name="sessionid")
    way.enter(text, "Typed while signed out")
    if way is NO_SCRIPTS:
        way.press(page.get_by_role("button", name="Publish now"))
        expect(page.locator("#messages")).to_contain_text("You are signed out. Your text is kept here.")
        page.goto(service.new_sign_in_link())
        page.goto(f"/dashboard/workspaces/{workspace.id}/compose")
        expect(page.locator("#messages")).to_contain_text("nothing was saved or published yet")
    else:
        expect(page.locator("#messages")).to_contain_text("You are signed out. Your text is kept here. Sign in in a new tab")
        if way is MOUSE:
            checker.check(page, "compose-signed-out")
        way.press(page.get_by_role("button", name="Publish now"))
        expect(text).to_have_value("Typed while signed out")
        with context.expect_page() as opened:
            way.press(page.get_by_role("link", name="Sign in in a new tab"))
        expect(opened.value.get_by_role("heading", name="Sign in")).to_be_visible()
        sign_in_in_other_tab(opened.value, service, owner, way)
        page.bring_to_front()
        page.evaluate("dispatchEvent(new Event('focus'))")  # without a window, Chromium says so to no page
        expect_saved(page)
        expect(page.locator("#signed-out")).to_have_count(0)
        page.reload()

    expect(text).to_have_value("Typed while signed out")
    expect(account).to_be_checked()
    context.close()


def sign_in_in_other_tab(tab: Page, service: Service, owner: Any, way: WayOfUse) -> None:
    """Sign in: with the mouse by a link; otherwise, as that takes seconds, with the cookies that a sign-in gives."""
    if way is MOUSE:
        tab.goto(service.new_sign_in_link())
        expect(tab.get_by_role("button", name="Sign out")).to_be_visible()
    else:
        tab.context.add_cookies(owner["cookies"])
        tab.context.add_cookies([{"name": "csrftoken", "value": "n" * 32, "url": service.base_url}])
    tab.close()


@in_every_way
def test_a_draft_is_found_again_and_discarded(open_page: OpenPage, workspace: Workspace, way: WayOfUse) -> None:
    page = open_page(f"/dashboard/workspaces/{workspace.id}/compose", **way.options)
    text, unfinished = (
        page.get_by_label("Text for all accounts"),
        page.locator("summary", has_text="You have 1 unfinished post"),
    )
    way.enter(text, "On the way to the market")
    account = page.get_by_role("checkbox", name="Mastodon")
    way.check(page.locator(".chip", has_text="Mastodon") if way is TOUCH else account)
    if way is NO_SCRIPTS:
        way.press(page.get_by_role("button", name="Save for me only"))
    expect_saved(page)
    follow_menu(page, "Calendar", way)
    follow_menu(page, "New post", way)
    way.press(unfinished)
    way.press(page.get_by_role("link", name="On the way to the market"))
    expect(text).to_have_value("On the way to the market")
    expect(account).to_be_checked()

    follow_menu(page, "New post", way)
    way.press(unfinished)
    way.press(page.get_by_role("button", name="Discard:"))
    expect(page.locator("main")).not_to_contain_text("On the way to the market")


def follow_menu(page: Page, name: str, way: WayOfUse) -> None:
    """Open a page by the menu, which a button opens on a phone."""
    if way is TOUCH:
        way.press(page.get_by_role("button", name="Menu", exact=True))
    way.press(menu_link(page, name))
    expect(page.locator("#menu [aria-current=page]", has_text=name)).to_be_attached()  # the menu of a phone is closed again


def test_own_text_returns_when_an_account_is_chosen_again(open_page: OpenPage, workspace: Workspace, tmp_path: Path) -> None:
    page = open_page()
    fill_in(page, workspace, tmp_path)
    page.get_by_role("checkbox", name="Mastodon").uncheck()
    expect(page.get_by_label("Text for Mastodon")).to_have_count(0)
    page.get_by_role("checkbox", name="Mastodon").check()

    expect_everything(page)


def test_what_is_entered_while_a_part_of_the_form_loads_stays(open_page: OpenPage, workspace: Workspace) -> None:
    """On a slow connection, the fields of the next account arrive while a person types into those of the first."""
    page = open_page(f"/dashboard/workspaces/{workspace.id}/compose")
    page.get_by_role("checkbox", name="Mastodon").check()
    open_tab(page, "Mastodon")
    page.get_by_text("Options of Mastodon").click()
    with fields_of_bluesky_arrive_at_the_end(page):
        page.get_by_label("Text for Mastodon").fill("Typed meanwhile")
        page.get_by_label("Visibility").select_option("unlisted")

    expect(page.get_by_label("Text for Mastodon")).to_have_value("Typed meanwhile")
    expect(page.get_by_label("Visibility")).to_have_value("unlisted")
    expect(page.locator("#check")).to_contain_text("Typed meanwhile")
    expect_saved(page)
    page.reload()
    expect(page.get_by_label("Text for Mastodon")).to_have_value("Typed meanwhile")


def test_selected_text_stays_selected_while_a_part_of_the_form_loads(open_page: OpenPage, workspace: Workspace) -> None:
    """The copy of the text for all accounts is selected, to be replaced by the next key."""
    page = open_page(f"/dashboard/workspaces/{workspace.id}/compose")
    page.get_by_label("Text for all accounts").fill("Fresh from the oven")
    page.get_by_role("checkbox", name="Mastodon").check()
    with fields_of_bluesky_arrive_at_the_end(page):
        open_tab(page, "Mastodon")
        page.get_by_label("Text for Mastodon").select_text()
    page.keyboard.insert_text("Only for Mastodon")

    expect(page.get_by_label("Text for Mastodon")).to_have_value("Only for Mastodon")


@contextmanager
def fields_of_bluesky_arrive_at_the_end(page: Page) -> Iterator[None]:
    """Choose the account on Bluesky, and hold back the answer with its fields until the block has ended."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        if route.request.headers.get("hx-target") == "targets":
            held.append(route)
        else:
            route.continue_()

    page.route("**/compose*", hold)
    with page.expect_request(lambda request: request.headers.get("hx-target") == "targets"):
        page.get_by_role("checkbox", name="Bluesky").check()
    yield
    for route in held:
        route.continue_()
    expect(page.locator(".tab", has_text="Bluesky")).to_be_visible()
