"""Signing in by a link in an e-mail in a browser, with a mail server that is a stand-in, with scripts and without."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import new_context
from tests.browser.page_checks import ErrorRecorder, PageChecker
from tests.browser.service import Service, run_service
from tests.fakes.smtp import FakeMailServer
from tests.until import wait_until

LINK = re.compile(r"http\S+/dashboard/(?:sign-in/link|invitations)/\S+")


@pytest.fixture(scope="module")
def mail_server() -> Iterator[FakeMailServer]:
    with FakeMailServer() as server:
        yield server


@pytest.fixture(scope="module")
def with_mail(tmp_path_factory: pytest.TempPathFactory, mail_server: FakeMailServer) -> Iterator[Service]:
    """A service without an identity provider, whose first person an operator has added by a command."""
    settings = {"EMAIL_URL": f"smtp://127.0.0.1:{mail_server.port}"}
    with run_service(tmp_path_factory.mktemp("with-mail"), settings) as service:
        service.stack.run("manage.py", "add_person", "ada@example.com", "--name", "Ada")
        yield service


def next_link(mail_server: FakeMailServer) -> str:
    """Return the link in the next e-mail."""
    wait_until(lambda: bool(mail_server.messages))
    body = mail_server.messages.pop(0).get_body(("plain",))
    assert body
    found = LINK.search(body.get_content())
    assert found
    return found[0]


def sign_in(page: Page, mail_server: FakeMailServer, address: str, checker: PageChecker | None = None) -> None:
    """Sign in from the sign-in page by a link in an e-mail."""
    page.get_by_label("E-mail address").fill(address)
    page.get_by_role("button", name="E-mail me a link").click()
    expect(page.get_by_role("heading", name="Check your e-mail")).to_be_visible()
    if checker:
        checker.check(page, "sign-in-link-sent")
    page.goto(next_link(mail_server))
    expect(page.get_by_role("heading", name=f"Sign in as {address}?")).to_be_visible()
    if checker:
        checker.check(page, "sign-in-link")
    page.get_by_role("button", name="Sign in").click()


@pytest.mark.parametrize("scripts", [True, False])
def test_a_person_signs_in_by_e_mail_and_invites_another(
    chromium: Browser, with_mail: Service, mail_server: FakeMailServer, checker: PageChecker, scripts: bool
) -> None:
    context = new_context(chromium, with_mail.base_url, java_script_enabled=scripts)
    recorder = ErrorRecorder(context, with_mail.base_url)
    page = context.new_page()
    page.goto("/dashboard/?all=1")
    if scripts:
        checker.check(page, "sign-in-by-email")
    sign_in(page, mail_server, "ada@example.com", checker if scripts else None)
    page.get_by_label("Name", exact=True).fill(f"Ada's news {scripts}")
    page.get_by_role("button", name="Create the workspace").click()
    expect(page.get_by_role("heading", name="Home")).to_be_visible()

    page.goto(f"{page.url}/members")
    grace = f"grace-{scripts}@example.com".lower()
    page.get_by_label("E-mail address").fill(grace)
    page.get_by_role("button", name="Invite").click()
    page.get_by_role("button", name="Sign out").click()
    page.goto(next_link(mail_server))
    sign_in(page, mail_server, grace)
    page.get_by_role("button", name="Join the workspace").click()
    expect(page.get_by_text(f"You are now a member of Ada's news {scripts}.")).to_be_visible()
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
    desk.get_by_role("button", name="Ask to publish once approved").click()
    expect(desk.get_by_text("The post waits for the approval of an owner or admin.")).to_be_visible()
    desk.goto(f"{home}/approvals")
    expect(desk.get_by_role("button", name="Approve")).to_have_count(0)
    other.close()

    page.goto(f"{home}/approvals")
    page.get_by_role("button", name="Approve and publish now").click()
    expect(page.get_by_text("Approved.")).to_be_visible()
    context.close()
    assert recorder.problems == []
