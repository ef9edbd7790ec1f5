"""Signing in by a link in an e-mail in a browser, and what invited viewers and editors then find on the pages.

The mail server is a stand-in.
"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, StorageState, expect

from tests.browser.conftest import new_context
from tests.browser.page_checks import ErrorRecorder, PageChecker
from tests.browser.received_mail import next_link
from tests.browser.service import Service, Workspace
from tests.browser.test_calendar import calendar_path, day_ahead
from tests.browser.ways_of_use import MOUSE, TOUCH, WayOfUse, in_every_way, sign_out
from tests.fakes.smtp import FakeMailServer


@pytest.fixture(scope="module")
def with_mail(service: Service) -> Service:
    """The service, which has no identity provider, after an operator has added two people by a command."""
    for name in ("Ada", "Lin"):  # two, because an address gets at most five links in an hour
        service.stack.run("manage.py", "add_person", f"{name.lower()}@example.com", "--name", name)
    return service


def sign_in(
    page: Page, mail_server: FakeMailServer, address: str, checker: PageChecker | None = None, way: WayOfUse = MOUSE
) -> None:
    """Sign in from the sign-in page by a link in an e-mail."""
    way.enter(page.get_by_label("E-mail address"), address)
    way.press(page.get_by_role("button", name="E-mail me a link"))
    expect(page.get_by_role("heading", name="Check your e-mail")).to_be_visible()
    if checker:
        checker.check(page, "sign-in-link-sent")
    page.goto(next_link(mail_server))
    expect(page.get_by_role("heading", name=f"Sign in as {address}?")).to_be_visible()
    if checker:
        checker.check(page, "sign-in-link")
    way.press(page.get_by_role("button", name="Sign in"))


@in_every_way
def test_a_person_signs_in_by_e_mail_and_invites_another(
    chromium: Browser, with_mail: Service, mail_server: FakeMailServer, checker: PageChecker, way: WayOfUse
) -> None:
    context = new_context(chromium, with_mail.base_url, **way.options)
    recorder = ErrorRecorder(context, with_mail.base_url)
    page = context.new_page()
    page.goto("/dashboard/?all=1")
    if way is MOUSE:
        checker.check(page, "sign-in-by-email")
    sign_in(page, mail_server, "lin@example.com", checker if way is MOUSE else None, way)
    way.enter(page.get_by_label("Name", exact=True), "Lin's news")
    way.press(page.get_by_role("button", name="Create the workspace"))
    expect(page.get_by_role("heading", name="Home")).to_be_visible()

    page.goto(f"{page.url}/members")
    way.enter(page.get_by_label("E-mail address"), "grace@example.com")
    way.press(page.get_by_role("button", name="Invite"))
    expect(page.get_by_role("heading", name="grace@example.com is invited")).to_be_visible()
    sign_out(page, way)
    page.goto(next_link(mail_server))
    sign_in(page, mail_server, "grace@example.com", way=way)
    way.press(page.get_by_role("button", name="Join the workspace"))
    expect(page.get_by_text("You are now a member of Lin's news.")).to_be_visible()
    context.close()
    assert recorder.problems == []


def test_a_used_link_shows_the_sign_in_page(
    chromium: Browser, with_mail: Service, mail_server: FakeMailServer, checker: PageChecker
) -> None:
    context = new_context(chromium, with_mail.base_url)
    page = context.new_page()
    page.goto("/dashboard/sign-in")
    page.get_by_label("E-mail address").fill("ada@example.com")
    page.get_by_role("button", name="E-mail me a link").click()
    link = next_link(mail_server)
    page.goto(link)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Sign in as")).not_to_be_visible()
    page.goto(link)

    expect(page.get_by_role("alert")).to_have_text("This link was already used, or is no longer valid. Request another one.")
    checker.check(page, "sign-in-link-used")
    context.close()


def test_a_post_of_an_editor_waits_for_the_owner(
    chromium: Browser, with_mail: Service, mail_server: FakeMailServer, checker: PageChecker
) -> None:
    context = new_context(chromium, with_mail.base_url)
    recorder = ErrorRecorder(context, with_mail.base_url)
    page = context.new_page()
    page.goto("/dashboard/?all=1")
    sign_in(page, mail_server, "ada@example.com")
    page.goto("/dashboard/?all=1")
    page.get_by_label("Name", exact=True).fill("Ada's desk")
    page.get_by_role("button", name="Create the workspace").click()
    expect(page.get_by_role("heading", name="Home")).to_be_visible()
    home = page.url
    page.goto(f"{home}/settings")
    page.get_by_label("Posts by editors need approval").check()
    page.locator("section", has=page.get_by_role("heading", name="Posts by editors")).get_by_role("button").click()
    expect(page.get_by_text("Posts by editors now wait for approval.")).to_be_visible()
    page.goto(f"{home}/members")
    page.get_by_label("E-mail address").fill("edith@example.com")
    page.get_by_label("Role", exact=True).select_option("editor")
    page.get_by_role("button", name="Invite").click()
    checker.check(page, "members-invited-editor")

    other = new_context(chromium, with_mail.base_url)
    desk = other.new_page()
    desk.goto(next_link(mail_server))
    sign_in(desk, mail_server, "edith@example.com")
    checker.check(desk, "invitation-editor")
    desk.get_by_role("button", name="Join the workspace").click()
    desk.goto(f"{home}/compose")
    desk.get_by_label("Text for all accounts").fill("Good morning from the desk")
    desk.get_by_role("checkbox", name="Mastodon").check()
    checker.check(desk, "compose-editor")
    ask = desk.get_by_role("button", name="Ask to publish once approved")
    expect(ask).to_have_class(re.compile(r"\bprimary\b"))
    expect(desk.get_by_role("button", name="Publish now")).to_have_count(0)
    ask.click()
    expect(desk.get_by_text("The post waits for the approval of an owner or admin.")).to_be_visible()
    desk.goto(f"{home}/approvals")
    expect(desk.get_by_role("button", name="Approve")).to_have_count(0)
    other.close()

    page.goto(f"{home}/approvals")
    page.get_by_role("button", name="Approve and publish now").click()
    expect(page.get_by_text("Approved.")).to_be_visible()
    context.close()
    assert recorder.problems == []


@in_every_way
def test_a_viewer_reads_and_finds_nothing_to_write_with(
    chromium: Browser,
    with_mail: Service,
    mail_server: FakeMailServer,
    owner: StorageState,
    checker: PageChecker,
    request: pytest.FixtureRequest,
    way: WayOfUse,
) -> None:
    workspace = with_mail.new_workspace(request.node.name.removeprefix("test_"))
    scheduled = workspace.post("Rye at dawn", workspace.account("mastodon"), scheduled_at=day_ahead(1).isoformat())
    waiting = workspace.post("May I?", workspace.account("mastodon"), token=workspace.new_agent("Robot")[1])
    address = f"vera-{workspace.id[-6:]}@example.com"
    inviting = new_context(chromium, with_mail.base_url, storage_state=owner)
    invite(inviting.new_page(), workspace, address, "member")
    inviting.close()

    context = new_context(chromium, with_mail.base_url, **way.options)
    recorder = ErrorRecorder(context, with_mail.base_url)
    page = context.new_page()
    page.goto(next_link(mail_server))
    sign_in(page, mail_server, address, way=way)
    way.press(page.get_by_role("button", name="Join the workspace"))
    expect(page.get_by_text("You are now a member of")).to_be_visible()
    expect_nothing_to_write_with(page)
    menu = page.get_by_role("navigation", name="Most used pages" if way is TOUCH else "Workspace")
    way.press(menu.get_by_role("link", name="Calendar"))
    expect_nothing_to_write_with(page)
    page.goto(calendar_path(workspace, view="list"))
    way.press(page.get_by_role("link", name="Rye at dawn"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Post Scheduled")
    assert page.url.endswith(scheduled["id"])
    expect_nothing_to_write_with(page)
    for path in ("posts", f"posts/{waiting['id']}", "approvals"):
        page.goto(f"/dashboard/workspaces/{workspace.id}/{path}")
        expect(page.get_by_role("main")).to_contain_text("May I?")
        expect_nothing_to_write_with(page)
    page.goto(f"/dashboard/workspaces/{workspace.id}/compose")
    expect(page.get_by_role("main")).to_contain_text("You have read-only access to this workspace.")
    expect_nothing_to_write_with(page)
    if way is MOUSE:
        checker.check(page, "compose-viewer")
    context.close()
    assert recorder.problems == []


def invite(page: Page, workspace: Workspace, address: str, role: str) -> None:
    """Invite a person to a workspace, as its owner."""
    page.goto(f"/dashboard/workspaces/{workspace.id}/members")
    page.get_by_label("E-mail address").fill(address)
    page.get_by_label("Role", exact=True).select_option(role)
    page.get_by_role("button", name="Invite").click()
    expect(page.get_by_role("heading", name=f"{address} is invited")).to_be_visible()


def expect_nothing_to_write_with(page: Page) -> None:
    """Fail if the open page has a form that changes something, or a link to the composer or to the editing of a post."""
    expect(page.get_by_role("main")).to_be_visible()
    for changing in ("main form[method=post]", "a[href*='/compose']", "a[href$='/edit']", "main [draggable=true]"):
        expect(page.locator(changing)).to_have_count(0)
