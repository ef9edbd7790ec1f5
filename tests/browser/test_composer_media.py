"""The composer's media in a browser: files from an address, their order by buttons and by dragging, and the focus."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.page_checks import PageChecker
from tests.browser.service import Workspace
from tests.browser.test_composer_tabs import choose
from tests.browser.ways_of_use import KEYBOARD, MOUSE, NO_SCRIPTS, WayOfUse, in_every_way, tab_to_and_press
from tests.fakes.http_server import Answer, LoopbackServer, ReceivedRequest
from tests.media.pictures import jpeg, png


class Pictures(LoopbackServer):
    """A web server with a picture at each address."""

    def answer(self, request: ReceivedRequest) -> Answer:
        return Answer(200, jpeg(640, 480), {"Content-Type": "image/jpeg"})


@pytest.fixture(scope="module")
def pictures() -> Iterator[Pictures]:
    with Pictures() as server:
        yield server


def with_three_pictures(open_page: OpenPage, workspace: Workspace, **options: Any) -> Page:
    """Open the composer with three pictures, each with its own alt text."""
    files = {"one.jpg": "peru", "two.jpg": "navy", "three.jpg": "teal"}
    ids = [workspace.upload(jpeg(320, 240, colour=colour), name, "") for name, colour in files.items()]
    query = "&".join(f"media={media_id}" for media_id in ids)
    page = open_page(f"/dashboard/workspaces/{workspace.id}/compose?{query}", **options)
    for name in files:
        page.get_by_label(f"Alt text for {name}").fill(f"It shows {name}")
    return page


def expect_order(page: Page, *names: str) -> None:
    labels = page.locator(".attached label")
    expect(labels).to_have_text([f"Alt text for {name}" for name in names])
    for name in names:
        expect(page.get_by_label(f"Alt text for {name}")).to_have_value(f"It shows {name}")


def test_a_picture_is_added_from_an_address(
    open_page: OpenPage, workspace: Workspace, pictures: Pictures, checker: PageChecker
) -> None:
    page = open_page(f"/dashboard/workspaces/{workspace.id}/compose")
    choose(page, "Mastodon")
    page.get_by_label("Text for all accounts").fill("From elsewhere")
    page.get_by_text("Add from a web address").click()
    address = page.get_by_label("Address of the file")
    address.fill("https://10.0.0.1/rye.jpg")
    page.get_by_role("button", name="Add the file").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was added from this address.")
    checker.check(page, "compose-address-refused")

    address.fill(f"{pictures.url}/rye.jpg")
    page.get_by_role("button", name="Add the file").click()
    expect(page.get_by_label("Alt text for rye.jpg")).to_be_visible()
    expect(address).to_have_value("")
    expect(page.get_by_label("Text for all accounts")).to_have_value("From elsewhere")
    expect(page.locator("#check .shown-file")).to_have_count(1)


@in_every_way
def test_a_picture_is_attached_from_the_library_and_one_from_an_address(
    open_page: OpenPage, workspace: Workspace, pictures: Pictures, way: WayOfUse
) -> None:
    workspace.upload(jpeg(320, 240), "oven.jpg", "An open oven")
    page = open_page(f"/dashboard/workspaces/{workspace.id}/compose", **way.options)
    way.press(page.get_by_text("Choose from the library"))
    way.press(page.get_by_role("button", name="Attach oven.jpg"))
    expect(page.get_by_label("Alt text for oven.jpg")).to_have_value("An open oven")
    expect(page.get_by_text("No other files in the library.")).to_be_visible()

    way.press(page.get_by_text("Add from a web address"))
    way.enter(page.get_by_label("Address of the file"), f"{pictures.url}/rye.jpg")
    way.press(page.get_by_role("button", name="Add the file"))
    expect(page.get_by_label("Alt text for rye.jpg")).to_be_visible()
    expect(page.locator(".attached li")).to_have_count(2)


def test_a_picture_is_added_from_an_address_without_scripts(
    open_page: OpenPage, workspace: Workspace, pictures: Pictures
) -> None:
    page = open_page(f"/dashboard/workspaces/{workspace.id}/compose", java_script_enabled=False)
    page.get_by_text("Add from a web address").click()
    page.get_by_label("Address of the file").fill(f"{pictures.url}/rye.jpg")
    page.get_by_label("Address of the file").press("Enter")

    expect(page.get_by_label("Alt text for rye.jpg")).to_be_visible()


@in_every_way
def test_pictures_are_put_in_order_with_buttons(open_page: OpenPage, workspace: Workspace, way: WayOfUse) -> None:
    page = with_three_pictures(open_page, workspace, **way.options)
    back, forward = (page.get_by_role("button", name=f"Move {where} one.jpg") for where in ("back", "forward"))
    way.press(back)
    expect_order(page, "two.jpg", "one.jpg", "three.jpg")
    press_focused(back, way)
    expect_order(page, "two.jpg", "three.jpg", "one.jpg")
    expect(back).to_be_hidden()
    press_focused(forward, way)
    expect_order(page, "two.jpg", "one.jpg", "three.jpg")


def press_focused(button: Locator, way: WayOfUse) -> None:
    """Press a button that has the focus after the last press, with the keyboard without Tab."""
    expect(button).to_be_focused()
    if way is KEYBOARD:
        button.page.keyboard.press("Enter")
    else:
        way.press(button)


def test_a_picture_is_dragged_to_another_place(open_page: OpenPage, workspace: Workspace) -> None:
    page = with_three_pictures(open_page, workspace)
    shown = page.locator(".attached img, .attached .filename")
    shown.nth(2).drag_to(shown.nth(0))
    expect_order(page, "three.jpg", "one.jpg", "two.jpg")
    shown.nth(0).drag_to(shown.nth(1))
    expect_order(page, "one.jpg", "three.jpg", "two.jpg")
    expect(page.get_by_role("button", name="Move forward one.jpg")).to_be_hidden()
    expect(page.locator(".attached li")).to_have_count(3)
    expect(page.locator("#draft-said")).to_contain_text("Saved")
    page.reload()
    expect_order(page, "one.jpg", "three.jpg", "two.jpg")


def test_the_focus_stays_in_a_thread(open_page: OpenPage, workspace: Workspace) -> None:
    page = open_page(f"/dashboard/workspaces/{workspace.id}/compose")
    page.get_by_label("Text for all accounts").fill("The first part")
    choose(page, "Bluesky")
    page.locator(".tab", has_text="Bluesky").click()
    tab_to_and_press(page.get_by_role("button", name="Make it a thread"), "Enter")
    for number, text in ((2, "second"), (3, "third"), (4, "fourth")):
        expect(page.get_by_label(f"Part {number} of the thread")).to_be_focused()
        page.keyboard.type(text)
        if number < 4:
            tab_to_and_press(page.get_by_role("button", name="Add a part"), "Enter")
    tab_to_and_press(page.get_by_role("button", name="Split at the limit"), "Enter")
    # The button has the focus before the answer, too. Until then the parts take no input.
    expect(page.locator("#targets:not([inert])")).to_be_visible()
    expect(page.get_by_role("button", name="Split at the limit")).to_be_focused()
    page.get_by_role("button", name="Move up part 4").press("Enter")
    expect(page.get_by_role("button", name="Move up part 3")).to_be_focused()
    expect(page.get_by_label("Part 3 of the thread")).to_have_value("fourth")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Move down part 2")).to_be_focused()
    page.get_by_role("button", name="Remove part 2").press("Enter")
    expect(page.get_by_label("Part 2 of the thread")).to_be_focused()
    expect(page.get_by_label("Part 2 of the thread")).to_have_value("second")


@in_every_way
def test_a_picture_is_converted_and_cropped_for_a_platform(
    open_page: OpenPage, workspace: Workspace, checker: PageChecker, way: WayOfUse
) -> None:
    tower = workspace.upload(png(600, 1200, colour="peru"), "tower.png", "A tower")
    target = workspace.account("instagram")["connected_account_id"]
    path = f"/dashboard/workspaces/{workspace.id}/compose?media={tower}&account={target}&text=Look"
    page = open_page(path, **way.options)
    way.press(page.get_by_role("button", name="Convert it to JPEG."))
    expect(page.get_by_label("Alt text for tower.jpg")).to_have_value("A tower")
    way.press(page.get_by_role("button", name="Crop to 4:5"))
    expect(page.get_by_role("heading", name="Crop tower.jpg to 4:5")).to_be_visible()
    top = page.get_by_role("button", name="Top")
    if way is not NO_SCRIPTS:
        expect(top).to_be_focused()
    if way is MOUSE:
        checker.check(page, "compose-crop")
    if way is KEYBOARD:
        page.keyboard.press("Enter")
    else:
        way.press(top)

    expect(page.get_by_label("Alt text for tower 4-5.jpg")).to_have_value("A tower")
    expect(page.get_by_role("button", name="Crop to 4:5")).to_have_count(0)
    expect(page.locator("#check-said")).to_contain_text("Valid for this account.")
