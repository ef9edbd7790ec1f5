"""Undo in a browser: with the mouse, the keyboard alone, by touch, without scripts, and after the ten seconds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.page_checks import PageChecker
from tests.browser.service import Workspace
from tests.browser.test_composer import compose, expect_published
from tests.browser.ways_of_use import WayOfUse, in_every_way, tab_to_and_press


def test_publishing_is_undone_with_the_mouse(open_page: OpenPage, workspace: Workspace, checker: PageChecker) -> None:
    page = open_page()
    compose(page, workspace, "Published too early", "Mastodon")
    page.get_by_role("button", name="Publish now").click()
    expect(page.locator("#messages")).to_contain_text("It is published in 10 seconds.")
    expect(page.locator("#post")).to_contain_text("The post is published in a few seconds.")
    post_id = page.url.rpartition("/")[2]
    checker.check(page, "undo-publishing")
    page.get_by_role("button", name="Undo", exact=True).click()

    expect(page.locator("#messages")).to_contain_text("Undone: nothing was published.")
    expect(page.get_by_label("Text for all accounts")).to_have_value("Published too early")
    expect(page.get_by_role("checkbox", name="Mastodon")).to_be_checked()
    assert workspace.call("GET", f"/posts/{post_id}")["post_group"]["status"] == "cancelled"
    # The composer has a draft of its own again, which can be published.
    page.get_by_role("button", name="Publish now").click()
    expect_published(page)
    expect(page.get_by_role("button", name="Undo", exact=True)).to_have_count(0)
    expect(page.locator("#messages")).to_contain_text("It is being published now.")


def test_what_is_published_at_once_is_not_undone(open_page: OpenPage, workspace: Workspace) -> None:
    page = open_page()
    set_publish_at_once(page, workspace, True)
    try:
        compose(page, workspace, "Out at once", "Mastodon")
        expect(page.locator("main")).to_contain_text("“Publish now” publishes at once.")
        page.get_by_role("button", name="Publish now").click()
        expect_published(page)
        expect(page.locator("#messages")).to_contain_text("It is being published now.")
        expect(page.get_by_role("button", name="Undo", exact=True)).to_have_count(0)
    finally:
        set_publish_at_once(page, workspace, False)  # the choice is the person's, for all workspaces


def set_publish_at_once(page: Page, workspace: Workspace, at_once: bool) -> None:
    """Choose whether what the signed-in person publishes waits for an undo."""
    page.goto(f"/dashboard/workspaces/{workspace.id}/compose/preference")
    page.get_by_label("Publish without the 10 seconds").set_checked(at_once)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#messages")).to_contain_text("Saved.")


def test_an_approval_is_undone_with_the_keyboard(open_page: OpenPage, workspace: Workspace) -> None:
    _, key = workspace.new_agent("Hasty agent")
    soon = (datetime.now(UTC) + timedelta(days=3)).isoformat()
    waiting = workspace.post("May I?", workspace.account("mastodon"), token=key, scheduled_at=soon)
    page = open_page(f"/dashboard/workspaces/{workspace.id}/approvals")
    page.keyboard.press("j")
    page.keyboard.press("a")
    page.keyboard.press("Enter")
    expect(page.locator("#messages")).to_contain_text("Approved and scheduled.")
    tab_to_and_press(page.get_by_role("button", name="Undo", exact=True), "Enter")

    expect(page.locator("#messages")).to_contain_text("Undone: the post awaits approval again.")
    assert workspace.call("GET", f"/posts/{waiting['id']}")["post_group"]["status"] == "pending_confirmation"


def test_moving_and_deleting_are_undone_without_scripts(open_page: OpenPage, workspace: Workspace) -> None:
    at = datetime.now(UTC).replace(hour=8, minute=0, second=0, microsecond=0) + timedelta(days=40)
    post = workspace.post("Move me", workspace.account("mastodon"), scheduled_at=at.isoformat())
    page = open_page(f"/dashboard/workspaces/{workspace.id}/posts/{post['id']}", java_script_enabled=False)
    page.get_by_label("When to publish").fill(f"{at + timedelta(days=1):%Y-%m-%dT%H:%M}")
    page.get_by_role("button", name="Reschedule", exact=True).click()
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.locator("dl.properties").first).to_contain_text(f"{at:%A}, {at.day} {at:%B %Y}, 08:00")

    page.get_by_role("button", name="Cancel post").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Post Cancelled")
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Post Scheduled")
    assert page.url.endswith(post["id"])
    expect(page.locator("#messages")).to_contain_text("The post is scheduled again.")
    expect(page.locator("main")).to_contain_text("Move me")


def test_sending_a_failed_post_again_is_undone(open_page: OpenPage, workspace: Workspace) -> None:
    post = workspace.post("[sandbox:reject] no", workspace.account("mastodon"))
    assert workspace.wait_until_finished(post["id"])["status"] == "failed"
    page = open_page(f"/dashboard/workspaces/{workspace.id}/posts/{post['id']}")
    page.get_by_role("button", name="Send again unchanged").click()
    expect(page.locator("#messages")).to_contain_text("The post is sent again in 10 seconds.")
    expect(page.locator("#post")).to_contain_text("The post is published in a few seconds.")
    page.get_by_role("button", name="Undo", exact=True).click()

    expect(page.locator("#messages")).to_contain_text("Undone: the post is not sent again.")
    expect(page.get_by_role("heading", level=1)).to_have_text("Post Failed")
    target = workspace.call("GET", f"/posts/{post['id']}")["post_group"]["targets"][0]
    assert (target["attempts"], target["error"]["code"]) == (1, "PLATFORM_REJECTED")

    # Left alone, it is sent after the seconds, and the button is gone.
    page.get_by_role("button", name="Send again unchanged").click()
    expect(page.locator("#messages")).to_contain_text("The post is sent again in 10 seconds.")
    expect(page.get_by_role("heading", level=1)).to_have_text("Post Failed", timeout=30_000)
    expect(page.get_by_role("button", name="Undo", exact=True)).to_have_count(0)
    assert workspace.call("GET", f"/posts/{post['id']}")["post_group"]["targets"][0]["attempts"] == 2


@in_every_way
def test_deleting_an_agents_draft_is_undone(open_page: OpenPage, workspace: Workspace, way: WayOfUse) -> None:
    _, key = workspace.new_agent("Tidy agent")
    draft = workspace.post("Mine to keep", workspace.account("mastodon"), token=key, draft=True)
    page = open_page(f"/dashboard/workspaces/{workspace.id}/posts/{draft['id']}", **way.options)
    way.press(page.get_by_role("button", name="Delete the draft"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Post Cancelled")
    way.press(page.get_by_role("button", name="Undo", exact=True))

    expect(page.locator("#messages")).to_contain_text("Undone. The draft is back.")
    again = workspace.call("GET", f"/posts/{draft['id']}", token=key)["post_group"]
    assert (again["status"], again["created_by"]) == ("draft", draft["created_by"])
