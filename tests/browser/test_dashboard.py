"""The dashboard in a browser: home, approvals, accounts, deliveries, the audit log, secrets, pausing, and media."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.page_checks import PageChecker, menu_link
from tests.browser.service import Service, Workspace
from tests.browser.ways_of_use import KEYBOARD, MOUSE, NO_SCRIPTS, TOUCH, WayOfUse, in_every_way, tab_to_and_press
from tests.fakes.bluesky import FakeBluesky
from tests.fakes.receiver import Receiver
from tests.media.pictures import jpeg

HIDE = "Object.defineProperty(document, 'hidden', { configurable: true, get: () => true })"
SHOW = "delete document.hidden"


def test_posts_are_reviewed_with_keyboard_shortcuts(open_page: OpenPage, workspace: Workspace) -> None:
    _, key = workspace.new_agent("Desk agent")
    account = workspace.account("mastodon")
    asked = [workspace.post(f"Request {number}", account, token=key)["id"] for number in (1, 2, 3)]
    page = open_page(f"/dashboard/workspaces/{workspace.id}/approvals")

    page.keyboard.press("j")
    expect(page.get_by_role("article").nth(0)).to_be_focused()
    page.keyboard.press("a")
    page.keyboard.press("Enter")
    expect_waiting(page, 2)
    page.keyboard.press("j")
    page.keyboard.press("r")
    page.keyboard.type("Too early")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect_waiting(page, 1)
    page.keyboard.press("j")
    page.keyboard.press("e")
    page.get_by_label("Text for all accounts").fill("Request with another end")
    page.get_by_role("button", name="Approve and publish now").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Post Published")

    groups = [workspace.wait_until_finished(each) for each in asked]
    assert sorted(group["status"] for group in groups) == ["published", "published", "rejected"]
    assert [group["rejection_reason"] for group in groups if group["status"] == "rejected"] == ["Too early"]
    assert "Request with another end" in {group["text"] for group in groups}


def test_an_account_is_connected_with_credentials(
    open_page: OpenPage, workspace: Workspace, bluesky: FakeBluesky, checker: PageChecker
) -> None:
    bluesky.add_account("pier.test", "wxyz-wxyz-wxyz-wxyz")
    page = open_page(f"/dashboard/workspaces/{workspace.id}/accounts")
    page.get_by_role("link", name="Connect Bluesky").click()
    page.get_by_label("Handle or e-mail address").fill("pier.test")
    page.get_by_label("App password").fill("aaaa-aaaa-aaaa-aaaa")
    page.get_by_role("button", name="Connect", exact=True).click()
    expect(page.get_by_role("alert")).to_be_visible()
    checker.check(page, "account-refused")

    page.get_by_label("App password").fill("wxyz-wxyz-wxyz-wxyz")
    page.get_by_role("button", name="Connect", exact=True).click()
    expect(page.get_by_role("link", name="pier.test").or_(page.get_by_role("heading", name="pier.test"))).to_be_visible()
    accounts = workspace.call("GET", f"/accounts?workspace_id={workspace.id}")["accounts"]
    assert [each["handle"] for each in accounts if not each["sandbox"]] == ["pier.test"]


def test_a_dead_letter_is_sent_again(open_page: OpenPage, workspace: Workspace) -> None:
    with Receiver(410) as receiver:
        workspace.post("For a receiver", workspace.account("mastodon"), webhook_url=f"{receiver.url}/events")
        receiver.wait_for(1)
        page = open_page(f"/dashboard/workspaces/{workspace.id}/webhooks")
        page.get_by_role("link", name="post.published").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Given up")
        page.get_by_role("button", name="Send again").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Delivered")

    first, second = receiver.wait_for(2)
    assert first.body == second.body
    assert first.headers["x-service-delivery-id"] == second.headers["x-service-delivery-id"]


def test_the_audit_log_is_downloaded_as_csv(open_page: OpenPage, workspace: Workspace) -> None:
    group = workspace.post("For the log", workspace.account("mastodon"))
    page = open_page(f"/dashboard/workspaces/{workspace.id}/audit-log")
    with page.expect_download() as coming:
        page.get_by_role("link", name="Download as CSV").click()

    with open(coming.value.path(), encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert coming.value.suggested_filename.endswith(".csv")
    made = next(row for row in rows if row["resource_id"] == group["id"])
    assert (made["operation"], made["outcome"]) == ("posts.create", "succeeded")
    assert {row["workspace_id"] for row in rows} == {workspace.id}


def test_secrets_are_shown_once_and_can_be_copied(
    open_page: OpenPage, service: Service, workspace: Workspace, checker: PageChecker
) -> None:
    page = open_page(f"/dashboard/workspaces/{workspace.id}/api-keys/new")
    page.get_by_label("Name", exact=True).fill("Command line")
    page.get_by_role("button", name="Make the key").click()
    checker.check(page, "api-key-made")
    page.get_by_role("button", name="Copy the key").click()
    expect(page.get_by_role("button", name="Copied", exact=True)).to_be_visible()
    key = page.evaluate("navigator.clipboard.readText()")
    assert service.call("GET", f"/accounts?workspace_id={workspace.id}", token=key)["accounts"]

    page.goto(f"/dashboard/workspaces/{workspace.id}/webhooks")
    page.get_by_role("button", name="Show the secret").click()
    expect(page.locator("#secret")).to_have_text(_signing_secret(workspace))
    checker.check(page, "webhook-secret")


def test_a_workspace_is_paused_and_resumed(open_page: OpenPage, workspace: Workspace, checker: PageChecker) -> None:
    page = open_page(f"/dashboard/workspaces/{workspace.id}/settings")
    page.get_by_role("button", name="Stop everything").click()
    expect(page.get_by_text("This workspace is paused")).to_be_visible()
    checker.check(page, "settings-paused")
    page.get_by_role("button", name="Start again").click()
    expect(page.get_by_text("This workspace is paused")).to_be_hidden()
    assert workspace.post("Again", workspace.account("mastodon"))["status"] == "published"


def test_a_file_is_uploaded_to_the_library_and_described(
    open_page: OpenPage, workspace: Workspace, checker: PageChecker, tmp_path: Path
) -> None:
    (tmp_path / "quay.jpg").write_bytes(jpeg(320, 240))
    page = open_page(f"/dashboard/workspaces/{workspace.id}/media")
    page.get_by_label("Upload files").set_input_files(tmp_path / "quay.jpg")
    expect(page.get_by_role("heading", name="Add alt text")).to_be_visible()
    checker.check(page, "media-describe")
    page.get_by_label("Alt text").fill("A quay in the morning")
    page.get_by_role("button", name="Save").click()
    page.get_by_label("File name or alt text").fill("morning")
    page.get_by_role("button", name="Show").click()

    expect(page.get_by_role("link", name="quay.jpg")).to_be_visible()
    [asset] = workspace.call("GET", f"/media?workspace_id={workspace.id}")["media"]
    assert asset["alt_text"] == "A quay in the morning"


@pytest.mark.parametrize("scripts", [True, False])
def test_the_menu_of_a_phone_leads_to_a_page(open_page: OpenPage, workspace: Workspace, scripts: bool) -> None:
    page = open_page(f"/dashboard/workspaces/{workspace.id}", **TOUCH.options, java_script_enabled=scripts)
    page.get_by_role("button", name="Menu", exact=True).tap()
    menu_link(page, "Settings").tap()
    expect(page.get_by_role("heading", name="Settings", level=1)).to_be_visible()


@in_every_way
def test_home_shows_what_needs_a_person_as_it_happens(open_page: OpenPage, workspace: Workspace, way: WayOfUse) -> None:
    """The page asks again every 20 seconds, but not while nobody sees it or somebody is in it; without scripts, a reload."""
    page = open_page(**way.options)
    page.clock.install()
    page.goto(f"/dashboard/workspaces/{workspace.id}")
    expect(page.get_by_text("Nothing needs your attention.")).to_be_visible()
    workspace.post("[sandbox:reject] no", workspace.account("mastodon"))
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    if way is NO_SCRIPTS:
        page.reload()
    elif way in (MOUSE, KEYBOARD):
        page.evaluate(HIDE) if way is MOUSE else tab_to_and_press(page.get_by_role("link", name="Write a post"), "")
        page.clock.run_for(60_000)
        assert requests == []
        page.evaluate(SHOW) if way is MOUSE else menu_link(page, "Home").focus()
    page.clock.fast_forward(20_000)
    needs = page.get_by_role("region", name="Needs your attention")
    expect(needs).to_contain_text("[sandbox:reject] no")
    way.press(needs.get_by_role("link"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Post Failed")


@in_every_way
def test_the_first_steps_are_taken_from_home(open_page: OpenPage, workspace: Workspace, way: WayOfUse) -> None:
    home = f"/dashboard/workspaces/{workspace.id}"
    page = open_page(home, **way.options)
    steps = page.get_by_role("region", name="First steps")
    expect(steps).to_contain_text("0 of 4 done")
    way.press(steps.get_by_role("link", name="Choose your time zone"))
    way.choose(page.get_by_label("Time zone", exact=True), "Berlin")
    way.press(page.get_by_role("region", name="Workspace").get_by_role("button", name="Save"))
    expect(page.locator("#messages")).not_to_be_empty()
    page.goto(home)
    expect(steps).to_contain_text("1 of 4 done")


@in_every_way
def test_a_lost_account_is_reconnected_from_a_failed_post(open_page: OpenPage, workspace: Workspace, way: WayOfUse) -> None:
    failed = workspace.post("[sandbox:reauth] no", workspace.account("mastodon"))
    post = f"/dashboard/workspaces/{workspace.id}/posts/{failed['id']}"
    page = open_page(post, **way.options)
    expect(page.get_by_text("Mastodon has to be connected again. Then send the post again.")).to_be_visible()
    way.press(page.get_by_role("link", name="Reconnect Mastodon"))
    way.press(page.get_by_role("button", name="Check now"))
    expect(page.locator("#messages")).to_contain_text("works.")
    page.goto(post)
    expect(page.locator("main .primary")).to_have_text("Try again")


def expect_waiting(page: Page, count: int) -> None:
    """Wait until the approvals page has loaded and shows this number of posts."""
    expect(page.get_by_role("article")).to_have_count(count)
    page.wait_for_load_state()


def _signing_secret(workspace: Workspace) -> str:
    secret: str = workspace.call("GET", f"/workspaces/{workspace.id}/webhook-signing-secret")["signing_secret"]
    return secret
