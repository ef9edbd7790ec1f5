"""The composer's tabs in a browser: with the mouse, with the keyboard, on a phone, and without scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Page, Request, expect

from tests.browser.conftest import OpenPage
from tests.browser.page_checks import PageChecker, menu_link
from tests.browser.service import Workspace
from tests.browser.test_composer import open_tab
from tests.browser.ways_of_use import (
    COUNT_CLICKS,
    KEYBOARD,
    NO_SCRIPTS,
    TOUCH,
    WayOfUse,
    clicks,
    in_every_way,
    tab_to_and_press,
)
from tests.fakes.http_server import Answer
from tests.fakes.web_pages import WebPages, html, open_graph, picture
from tests.media.pictures import jpeg, png

PASTE = """(field, bytes) => {
  const carried = new DataTransfer();
  carried.items.add(new File([new Uint8Array(bytes)], "pasted.png", { type: "image/png" }));
  field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: carried, bubbles: true, cancelable: true }));
}"""


def choose(page: Page, *platforms: str) -> None:
    for platform in platforms:
        page.locator(".chip", has_text=platform).click()


def test_three_platforms_three_texts_and_a_picture_take_ten_clicks(
    open_page: OpenPage, workspace: Workspace, checker: PageChecker, tmp_path: Path
) -> None:
    (tmp_path / "oven.jpg").write_bytes(jpeg(640, 480))
    page = open_page()
    page.context.add_init_script(COUNT_CLICKS)
    page.goto(f"/dashboard/workspaces/{workspace.id}")
    menu_link(page, "New post").click()
    page.get_by_label("Text for all accounts").click()
    page.keyboard.type("For everyone")
    choose(page, "Bluesky", "Mastodon", "LinkedIn")
    for platform in ("Mastodon", "LinkedIn"):
        open_tab(page, platform)
        page.keyboard.press("ControlOrMeta+A")
        page.keyboard.type(f"Only for {platform}")
    with page.expect_file_chooser() as chooser:
        page.get_by_label("Upload files").click()
    chooser.value.set_files(tmp_path / "oven.jpg")
    expect(page.get_by_label("Alt text for oven.jpg")).to_be_visible()
    day = datetime.now(UTC) + timedelta(days=40)
    page.get_by_label("When to publish").click(position={"x": 20, "y": 18})  # where the month is
    page.keyboard.type(f"{day:%m%d%Y}")
    page.keyboard.press("ArrowRight")
    page.keyboard.type("0900AM")
    expect(page.get_by_label("When to publish")).to_have_value(f"{day:%Y-%m-%dT09:00}")
    expect(page.locator("#check")).to_contain_text("Only for LinkedIn")
    checker.check(page, "compose-three-texts")
    page.get_by_role("button", name="Schedule for").click()
    expect(page.locator("#messages")).to_contain_text("Scheduled for ")

    for text in ("For everyone", "Only for Mastodon", "Only for LinkedIn"):
        expect(page.locator("main")).to_contain_text(text)
    assert clicks(page) <= 10


@pytest.fixture
def web() -> Iterator[WebPages]:
    with WebPages() as server:
        server.put("/bread", html(open_graph("All about bread", "How we bake it, and for whom", "/oven.png")))
        server.put("/oven.png", Answer(200, picture(1200, 630), {"Content-Type": "image/png"}))
        yield server


def test_the_tab_that_is_open_shows_its_preview_alone(
    open_page: OpenPage, workspace: Workspace, web: WebPages, checker: PageChecker
) -> None:
    page = open_page(f"/dashboard/workspaces/{workspace.id}/compose")
    page.get_by_label("Text for all accounts").fill(f"See {web.url}/bread")
    choose(page, "Bluesky", "Mastodon")
    expect(page.locator("#check > article")).to_have_count(2)
    cards = page.locator("#check .link-card")
    for number in range(2):
        expect(cards.nth(number)).to_contain_text("All about bread How we bake it, and for whom 127.0.0.1")
        expect(cards.nth(number).locator("img")).to_have_js_property("naturalWidth", 600)
    checker.check(page, "compose-link-card")

    asked: list[Request] = []
    page.on("request", lambda request: asked.append(request) if "/link-card" in request.url else None)
    page.get_by_label("Text for all accounts").fill("One text")
    expect(cards).to_have_count(0)
    page.get_by_label("Text for all accounts").fill(f"More text {web.url}/bread")
    expect(cards.locator("img")).to_have_count(2)
    before = len(asked)
    page.get_by_label("Text for all accounts").fill(f"Other text {web.url}/bread")
    expect(page.locator("#check")).to_contain_text("Other text")
    expect(cards.locator("img")).to_have_count(2)
    assert len(asked) == before  # a card that is whole stays while the text changes
    assert web.asked == ["/bread", "/oven.png"]
    page.get_by_label("Text for all accounts").fill("One text")
    page.get_by_role("radio", name="All accounts").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("radio", name="Bluesky")).to_be_checked()
    expect(page.locator("#check > article").nth(1)).to_be_hidden()

    page.get_by_label("Text for Bluesky").focus()
    expect(page.get_by_label("Text for Bluesky")).to_have_value("One text")
    page.get_by_role("radio", name="Mastodon").check()
    expect(page.locator("#check > article").nth(0)).to_be_hidden()
    expect(page.locator("[data-own]:checked")).to_have_count(0)
    expect(page.get_by_label("Text for Bluesky")).to_have_value("")


def test_on_a_phone_the_counter_and_the_buttons_stay_in_sight(open_page: OpenPage, workspace: Workspace) -> None:
    page = open_page(f"/dashboard/workspaces/{workspace.id}/compose", **TOUCH.options)
    page.locator(".chip", has_text="Bluesky").tap()
    page.locator(".tab", has_text="Bluesky").tap()
    page.get_by_label("Text for Bluesky").fill("x" * 120)
    expect(page.locator("#counters")).to_contain_text("180")
    for place in (".accounts", ".when"):
        page.locator(place).scroll_into_view_if_needed()
        expect(page.locator("#counters")).to_be_in_viewport()
        expect(page.get_by_role("button", name="Publish now")).to_be_in_viewport()


def test_tabs_work_without_scripts(open_page: OpenPage, workspace: Workspace) -> None:
    page = open_page(f"/dashboard/workspaces/{workspace.id}/compose", java_script_enabled=False)
    page.get_by_label("Text for all accounts").fill("For everyone")
    choose(page, "Bluesky", "Mastodon")
    page.get_by_role("button", name="Show the chosen accounts").click()
    open_tab(page, "Mastodon")
    expect(page.get_by_label("Text for all accounts")).to_be_hidden()
    page.get_by_role("checkbox", name="Use a different text").check()
    page.get_by_label("Text for Mastodon").fill("Only there")
    page.get_by_role("button", name="Check", exact=True).last.click()
    expect(page.get_by_role("radio", name="Mastodon")).to_be_checked()
    expect(page.locator("#check > article").nth(1)).to_contain_text("Only there")
    expect(page.locator(".tab", has_text="Mastodon")).to_contain_text("490")


def test_a_long_text_becomes_a_thread(open_page: OpenPage, workspace: Workspace, checker: PageChecker) -> None:
    page = open_page(f"/dashboard/workspaces/{workspace.id}/compose")
    page.get_by_label("Text for all accounts").fill("Fresh bread every day. " * 20)
    choose(page, "Bluesky")
    expect(page.locator("#check-said")).to_contain_text("1 problem to fix.")
    page.get_by_role("button", name="Split into a thread").click()
    expect(page.locator("#check-said")).to_contain_text("Valid for this account.")
    second = page.get_by_label("Part 2 of the thread")
    expect(second).to_be_visible()
    page.get_by_role("button", name="Add a part").click()
    page.get_by_label("Part 3 of the thread").fill("And a last word")
    page.get_by_role("button", name="Move up part 3").click()
    expect(second).to_have_value("And a last word")
    expect(page.locator("#check .segment")).to_have_count(3)
    checker.check(page, "compose-thread")
    page.get_by_role("button", name="Remove part 2").click()
    expect(page.get_by_label("Part 3 of the thread")).to_have_count(0)
    expect(second).not_to_have_value("And a last word")


def test_the_parts_of_a_thread_are_dragged(open_page: OpenPage, workspace: Workspace) -> None:
    # Nothing has to be scrolled on so high a screen: Chromium starts no drag if the page scrolls after the press.
    page = open_page(f"/dashboard/workspaces/{workspace.id}/compose", viewport={"width": 1280, "height": 1800})
    page.get_by_label("Text for all accounts").fill("First")
    choose(page, "Bluesky")
    open_tab(page, "Bluesky")
    page.get_by_role("button", name="Make it a thread").click()
    for number, text in ((2, "two"), (3, "three"), (4, "four")):
        page.get_by_label(f"Part {number} of the thread").fill(text)
        if number < 4:
            page.get_by_role("button", name="Add a part").click()
    parts = page.locator(".thread > .field")
    parts.nth(2).locator(".grip").drag_to(parts.nth(0).locator("textarea"))
    expect_parts(page, "four", "two", "three")
    parts.nth(0).locator(".grip").drag_to(parts.nth(1).locator("textarea"))
    expect_parts(page, "two", "four", "three")
    last, third = page.get_by_label("Part 4 of the thread"), page.get_by_label("Part 3 of the thread")
    last.select_text()
    last.drag_to(third, source_position={"x": 20, "y": 18})
    expect(third).to_have_value(re.compile("four.*three|three.*four"))  # a selected text is moved alone
    with page.expect_request_finished(saves_two_further_parts):
        page.get_by_role("button", name="Remove part 4").click()
    page.reload()
    expect(parts).to_have_count(2)
    expect(page.locator("#check .segment")).to_have_count(3)


def saves_two_further_parts(request: Request) -> bool:
    sent = request.post_data or ""
    return sent.count("&thread-") == 2 and "action=keep" in sent


def expect_parts(page: Page, *texts: str) -> None:
    """Expect these parts of a thread after the first, and that they are numbered in this order."""
    for number, text in enumerate(texts, start=2):
        expect(page.get_by_label(f"Part {number} of the thread")).to_have_value(text)


@in_every_way
def test_a_thread_is_written_and_put_in_order(open_page: OpenPage, workspace: Workspace, way: WayOfUse) -> None:
    page = open_page(f"/dashboard/workspaces/{workspace.id}/compose", **way.options)
    way.enter(page.get_by_label("Text for all accounts"), "The first part")
    account, tab = page.locator(".chip", has_text="Mastodon"), page.locator(".tab", has_text="Mastodon")
    way.check(page.get_by_role("checkbox", name="Mastodon") if way is KEYBOARD else account)
    if way is NO_SCRIPTS:
        way.press(page.get_by_role("button", name="Show the chosen accounts"))
    if way is KEYBOARD:
        expect(tab).to_be_visible()
        tab_to_and_press(page.get_by_role("radio", name="All accounts"), "ArrowRight")
    else:
        way.press(tab)
    way.press(page.get_by_role("button", name="Make it a thread"))
    way.enter(page.get_by_label("Part 2 of the thread"), "The third part")
    way.press(page.get_by_role("button", name="Add a part"))
    way.enter(page.get_by_label("Part 3 of the thread"), "The second part")
    way.press(page.get_by_role("button", name="Move up part 3"))
    expect_parts(page, "The second part", "The third part")
    way.press(page.get_by_role("button", name="Remove part 3"))
    expect(page.get_by_label("Part 3 of the thread")).to_have_count(0)
    expect(page.locator("#check .segment")).to_have_count(2)
    way.press(page.get_by_role("button", name="Publish now"))
    expect(page.locator("main")).to_contain_text("The second part")
    expect(page.locator("main")).not_to_contain_text("The third part")


def test_a_picture_is_pasted(open_page: OpenPage, workspace: Workspace) -> None:
    page = open_page(f"/dashboard/workspaces/{workspace.id}/compose")
    page.get_by_label("Text for all accounts").evaluate(PASTE, list(png(320, 240)))

    expect(page.get_by_label("Alt text for pasted.png")).to_be_visible()
