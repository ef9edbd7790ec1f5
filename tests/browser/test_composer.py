"""The composer in a browser: pictures, polls, repairs, scheduling, with the keyboard alone and without scripts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import OpenPage
from tests.browser.full_workspace import HANDLE, FullWorkspace
from tests.browser.page_checks import PageChecker, menu_link
from tests.browser.service import Service, Workspace
from tests.browser.test_first_minutes import to_demo_workspace
from tests.browser.ways_of_use import COUNT_CLICKS, MOUSE, NO_SCRIPTS, TOUCH, WayOfUse, clicks, in_every_way, tab_to_and_press
from tests.fakes.bluesky import FakeBluesky
from tests.media.pictures import jpeg, png

DROP = """(zone, [name, bytes]) => {
  const carried = new DataTransfer();
  carried.items.add(new File([new Uint8Array(bytes)], name, { type: "image/png" }));
  for (const kind of ["dragenter", "dragover", "drop"])
    zone.dispatchEvent(new DragEvent(kind, { dataTransfer: carried, bubbles: true, cancelable: true }));
}"""


def compose(page: Page, workspace: Workspace, text: str, account: str) -> None:
    """Open the composer, enter a text and choose an account."""
    page.goto(f"/dashboard/workspaces/{workspace.id}/compose")
    page.get_by_label("Text for all accounts").fill(text)
    page.get_by_role("checkbox", name=account).check()


def open_tab(page: Page, platform: str) -> None:
    """Open the composer's tab of the account on this platform."""
    page.locator(".tab", has_text=platform).click()


def expect_published(page: Page) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text("Post Published")


def test_a_post_with_pictures_is_published_to_the_platform(
    open_page: OpenPage, full_workspace: FullWorkspace, bluesky: FakeBluesky, checker: PageChecker, tmp_path: Path
) -> None:
    page = open_page()
    compose(page, full_workspace.workspace, "Fresh from the oven", f"Bluesky {HANDLE}")
    (tmp_path / "oven.jpg").write_bytes(jpeg(640, 480))
    page.get_by_label("Upload files").set_input_files(tmp_path / "oven.jpg")
    page.get_by_label("Alt text for oven.jpg").fill("An open oven")
    page.get_by_label("Text for all accounts").evaluate(DROP, ["rolls.png", list(png(320, 240))])
    page.get_by_label("Alt text for rolls.png").fill("A basket of rolls")
    expect(page.get_by_label("Alt text for oven.jpg")).to_have_value("An open oven")
    expect(page.locator("#check-said")).to_contain_text("Valid for this account. It costs $0.01")
    expect(page.locator("#check").get_by_role("img")).to_have_count(2)
    checker.check(page, "compose-with-pictures")

    page.get_by_role("button", name="Publish now").click()
    expect_published(page)
    records = [record["value"] for record in bluesky.records(full_workspace.ids["did"])]
    sent = next(record for record in records if record["text"] == "Fresh from the oven")
    assert [image["alt"] for image in sent["embed"]["images"]] == ["An open oven", "A basket of rolls"]


def test_a_poll_is_composed_previewed_and_published(open_page: OpenPage, workspace: Workspace, checker: PageChecker) -> None:
    page = open_page()
    compose(page, workspace, "Which bread do you want on Sunday?", "Mastodon")
    open_tab(page, "Mastodon")
    page.get_by_text("Options of Mastodon").click()
    poll = page.get_by_role("group", name="Poll")
    poll.get_by_label("Choices").fill("Rye\nSpelt\nBaguette")
    poll.get_by_label("Open for how many minutes").fill("1440")

    expect(page.locator("#check")).to_contain_text("With a poll of 3 choices, open for 1 day")
    expect(page.locator("#check")).to_contain_text("Baguette")
    checker.check(page, "compose-with-a-poll")
    poll.get_by_label("Choices").fill("Rye")
    expect(page.locator("#check-said")).to_contain_text("1 problem to fix.")
    poll.get_by_label("Choices").fill("Rye\nSpelt")
    expect(page.locator("#check-said")).to_contain_text("Valid for this account.")
    page.get_by_role("button", name="Publish now").click()
    expect_published(page)
    expect(page.locator("main")).to_contain_text("Spelt")


def test_a_failed_post_is_fixed_and_sent_again(open_page: OpenPage, workspace: Workspace, checker: PageChecker) -> None:
    failed = workspace.post("[sandbox:reject] no", workspace.account("mastodon"))
    page = open_page(f"/dashboard/workspaces/{workspace.id}")
    page.get_by_role("link", name="[sandbox:reject] no").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Post Failed")
    fix = page.get_by_role("button", name="Fix and send again")
    expect(fix).to_have_class("primary")
    checker.check(page, "post-to-fix")
    fix.click()
    expect(page.get_by_role("checkbox", name="Mastodon")).to_be_checked()
    page.get_by_label("Text for all accounts").fill("Much too long. " * 60)
    expect(page.locator("#check-said")).to_contain_text("1 problem to fix.")
    page.get_by_role("button", name="Publish now").click()

    expect(page.get_by_role("alert")).to_contain_text("the content does not fit all accounts")
    checker.check(page, "compose-refused")
    page.get_by_role("button", name="Shorten").click()
    expect(page.locator("#check-said")).to_contain_text("Valid for this account.")
    assert len(page.get_by_label("Text for Mastodon").input_value()) <= 500
    page.get_by_role("button", name="Publish now").click()
    expect_published(page)
    assert failed["id"] not in page.url


@in_every_way
def test_a_failed_post_goes_out_again_with_three_clicks_which_are_undone(
    open_page: OpenPage, workspace: Workspace, way: WayOfUse
) -> None:
    accepted = {**workspace.account("bluesky"), "text": "It works"}
    workspace.post("[sandbox:reject] no", workspace.account("mastodon"), accepted)
    page = open_page(**way.options)
    page.context.add_init_script(COUNT_CLICKS)
    page.goto(f"/dashboard/workspaces/{workspace.id}")
    way.press(page.get_by_role("region", name="Needs your attention").get_by_role("link"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Post Partly published")
    expect(page.get_by_text("The sandbox rejects this post, as its text asks.")).to_be_visible()
    expect(page.get_by_text("Mastodon did not accept the post.")).to_be_visible()
    way.press(page.get_by_role("button", name="Fix and send again"))
    expect(page.get_by_role("checkbox", name="Mastodon")).to_be_checked()
    expect(page.get_by_role("checkbox", name="Bluesky")).not_to_be_checked()
    expect(page.get_by_label("Text for all accounts")).to_be_focused()
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type("Better now")
    way.press(page.get_by_role("button", name="Publish now"))
    expect(page.locator("#messages")).to_contain_text("It is published in 10 seconds.")
    assert clicks(page) == (3 if way in (MOUSE, TOUCH) else 0)
    way.press(page.get_by_role("button", name="Undo", exact=True))
    expect(page.locator("#messages")).to_contain_text("Undone: nothing was published.")


@pytest.mark.parametrize(("fault", "step"), [("reauth", "Reconnect Mastodon"), ("outage", "Try again")])
def test_the_primary_button_after_a_failure_says_what_helps(
    open_page: OpenPage, workspace: Workspace, fault: str, step: str
) -> None:
    failed = workspace.post(f"[sandbox:{fault}] no", workspace.account("mastodon"))
    page = open_page(f"/dashboard/workspaces/{workspace.id}/posts/{failed['id']}")

    expect(page.get_by_role("heading", level=1)).to_have_text("Post Failed")
    expect(page.locator("main .primary")).to_have_text(step)


@in_every_way
def test_too_many_pictures_and_a_text_that_is_too_long_are_mended_by_buttons(
    open_page: OpenPage, workspace: Workspace, checker: PageChecker, way: WayOfUse
) -> None:
    account = workspace.account("bluesky")["connected_account_id"]
    media = "".join(f"&media={workspace.upload(jpeg(64, 48), f'{name}.jpg', name)}" for name in "abcde")
    text = "Fresh+bread+every+day.+" * 20
    page = open_page(f"/dashboard/workspaces/{workspace.id}/compose?account={account}&text={text}{media}", **way.options)
    expect(page.locator("#check-said")).to_contain_text("2 problems to fix.")
    if way is MOUSE:
        checker.check(page, "compose-repairs")
    way.press(page.get_by_role("button", name="Keep only the first 4 images"))
    expect(page.locator("#check-said")).to_contain_text("1 problem to fix.")
    expect(page.get_by_label("Alt text for d.jpg")).to_have_value("d")
    expect(page.get_by_label("Alt text for e.jpg")).to_have_count(0)
    way.press(page.get_by_role("button", name="Split into a thread"))
    expect(page.locator("#check-said")).to_contain_text("Valid for this account.")
    expect(page.get_by_label("Part 2 of the thread")).to_be_visible()


@in_every_way
def test_a_post_is_scheduled_rescheduled_and_cancelled(open_page: OpenPage, workspace: Workspace, way: WayOfUse) -> None:
    page = open_page(**way.options)
    compose(page, workspace, "For another day", "Mastodon")
    first = datetime.now(UTC).replace(hour=8, minute=0) + timedelta(days=40)
    page.get_by_label("When to publish").fill(f"{first:%Y-%m-%dT%H:%M}")
    if way is NO_SCRIPTS:
        way.press(page.get_by_role("button", name="Publish now"))
        expect(page.get_by_role("alert")).to_contain_text("Nothing was published, because a time is filled in.")
    expect(page.get_by_role("button", name="Publish now, not on")).not_to_have_class("primary")
    scheduled = page.get_by_role("button", name=f"Schedule for {first:%a} {first.day} {first:%b}")
    expect(scheduled).to_have_class("primary")
    way.press(scheduled)
    expect(page.locator("#messages")).to_contain_text(f"Scheduled for {first:%A}, {first.day} {first:%B %Y}, 08:00.")

    later = first + timedelta(days=1, minutes=90)
    page.get_by_label("When to publish").fill(f"{later:%Y-%m-%dT%H:%M}")
    way.press(page.get_by_role("button", name="Reschedule", exact=True))
    expect(page.locator("dl.properties").first).to_contain_text(f"{later:%A}, {later.day} {later:%B %Y}, 09:30")
    way.press(page.get_by_role("button", name="Cancel post"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Post Cancelled")


@pytest.mark.usefixtures("owner")  # uses the printed link, which a new one would replace
def test_a_post_is_published_with_the_keyboard_alone(open_page: OpenPage, service: Service) -> None:
    page = open_page(service.new_sign_in_link(), signed_in=False)
    to_demo_workspace(page)
    tab_to_and_press(menu_link(page, "New post"), "Enter")
    expect(page.get_by_role("heading", name="New post")).to_be_visible()
    tab_to_and_press(page.get_by_label("Text for all accounts"), "")
    page.keyboard.type("Written without a mouse")
    tab_to_and_press(page.get_by_role("checkbox", name="Mastodon"), "Space")
    expect(page.locator("#check-said")).to_contain_text("Valid for this account.")
    tab_to_and_press(page.get_by_role("button", name="Publish now"), "Enter")
    expect_published(page)


def test_text_entered_before_the_scripts_load_is_checked(open_page: OpenPage, workspace: Workspace) -> None:
    workspace.post("[sandbox:reject] no", workspace.account("mastodon"))
    page = open_page(f"/dashboard/workspaces/{workspace.id}")
    page.get_by_role("link", name="[sandbox:reject] no").first.click()
    delayed: list[Route] = []

    def delay(script: Route) -> None:
        delayed.append(script)

    page.route("**/htmx*.js", delay)
    with page.expect_request("**/htmx*.js"):
        page.get_by_role("button", name="Duplicate into a draft").click()
    page.get_by_label("Text for all accounts").fill("Much too long. " * 60)
    for script in delayed:
        script.continue_()

    expect(page.locator("#check-said")).to_contain_text("1 problem to fix.")


def test_a_post_is_published_without_scripts(open_page: OpenPage, workspace: Workspace) -> None:
    page = open_page(java_script_enabled=False)
    compose(page, workspace, "Without any script", "Mastodon")
    page.get_by_role("button", name="Check", exact=True).last.click()
    expect(page.locator("#check-said")).to_contain_text("Valid for this account.")
    page.get_by_role("button", name="Publish now").click()
    expect(page.get_by_text("Without any script").first).to_be_visible()
    path = page.url.rpartition("/")[2]
    assert workspace.wait_until_finished(path)["status"] == "published"
    page.reload()
    expect_published(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_follow_the_browsers_color_scheme(open_page: OpenPage, workspace: Workspace, scheme: str) -> None:
    page = open_page(f"/dashboard/workspaces/{workspace.id}", color_scheme=scheme)
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")

    assert (sum(ground) > 3 * 128) is (scheme == "light")
