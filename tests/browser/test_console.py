"""The operators' console in a browser: signing in with a second factor, lists and rows, searches, late posts, corrections."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest
from django_otp.oath import totp
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import OpenPage, new_context
from tests.browser.full_workspace import FullWorkspace
from tests.browser.page_checks import PageChecker
from tests.browser.service import Service, Workspace
from tests.browser.ways_of_use import MOUSE, WayOfUse, in_every_way

NAME, APPROVER, GERMAN_OPERATOR = "operator", "approver", "german-operator"
PROPOSERS = {way: f"proposer-{number}" for number, way in enumerate(("mouse", "keyboard", "touch", "no scripts"))}
PASSWORD = "correct horse battery staple"
LATE_TEXT = "The flour has run out"
# Operators, and a post that should have been published two days ago.
PREPARE = """
from datetime import timedelta
from django.utils import timezone
from posts.models import PostTarget
from workspaces.models import User
for name in {names}:
    User.objects.create_superuser(username=name, email=name + "@demo.invalid", password={password!r})
PostTarget.objects.filter(group_id={late!r}).update(scheduled_at=timezone.now() - timedelta(days=2))
"""


@pytest.fixture(scope="session", autouse=True)
def late(service: Service) -> Workspace:
    """A workspace with a late post; creates the operators as well."""
    workspace = service.new_workspace("Late Bakery")
    post = workspace.post(f"[sandbox:unknown] {LATE_TEXT}", workspace.account("mastodon"))
    names = [NAME, APPROVER, GERMAN_OPERATOR, *PROPOSERS.values()]
    prepare = PREPARE.format(names=names, password=PASSWORD, late=post["id"])
    service.stack.run("manage.py", "shell", "--no-imports", "-c", prepare)
    return workspace


@pytest.fixture
def proposer(request: pytest.FixtureRequest) -> str:
    """The name of an operator who has not signed in yet: another one for each way of use."""
    return PROPOSERS[request.node.callspec.id]


@pytest.fixture(scope="session")
def approver(chromium: Browser, service: Service, late: Workspace) -> Any:
    """The cookies of an operator who has signed in."""
    context = new_context(chromium, service.base_url)
    page = context.new_page()
    page.goto("/admin/")
    sign_in(page, APPROVER)
    cookies = context.cookies()
    context.close()
    return cookies


def test_an_operator_signs_in_and_opens_admin_pages(
    open_page: OpenPage, full_workspace: FullWorkspace, checker: PageChecker
) -> None:
    page = open_page("/admin/", signed_in=False)
    checker.check(page, "console-sign-in")
    enter_password(page, NAME)
    expect(page.get_by_role("heading", name="Set up your second factor")).to_be_visible()
    checker.check(page, "console-second-factor-set-up")
    set_up_second_factor(page)
    checker.check(page, "console-recovery-codes")
    codes = page.locator(".recovery-codes code").all_inner_texts()
    page.get_by_role("link", name="I have stored them").click()
    expect(page.get_by_role("link", name="Sign out").or_(page.get_by_role("button", name="Log out"))).to_be_visible()
    checker.check(page, "console")
    check_console_pages(page, full_workspace, checker)

    checker.check(open_code_page(open_page), "console-second-factor")
    recovered = open_code_page(open_page)
    recovered.get_by_label("Code").fill(codes[0])
    recovered.keyboard.press("Enter")
    expect(recovered.get_by_text("9 are left")).to_be_visible()

    refused = open_code_page(open_page)
    refused.get_by_label("Code").fill("000000")
    refused.keyboard.press("Enter")
    expect(refused.get_by_text("This code is wrong")).to_be_visible()
    checker.check(refused, "console-wrong-code")


def test_admin_pages_in_german_pass_the_checks(
    open_page: OpenPage, full_workspace: FullWorkspace, checker: PageChecker
) -> None:
    checker.check(open_page("/admin/", signed_in=False, locale="de-DE"), "german-console-sign-in")
    page = open_page("/admin/", signed_in=False)
    sign_in(page, GERMAN_OPERATOR)
    page.goto("/dashboard/language")
    page.get_by_label("Language").select_option(label="Deutsch")
    page.get_by_role("button", name="Save").click()
    page.goto("/admin/")
    expect(page.get_by_role("heading", name="Zustand des Dienstes")).to_be_visible()
    checker.check(page, "german-console")
    check_console_pages(page, full_workspace, checker, prefix="german-")


@in_every_way
def test_people_accounts_posts_and_late_posts_are_found(
    open_page: OpenPage, late: Workspace, approver: Any, way: WayOfUse
) -> None:
    page = open_page(signed_in=False, **way.options)
    page.context.add_cookies(approver)
    page.goto("/admin/")
    account = late.call("GET", f"/accounts?workspace_id={late.id}")["accounts"][0]
    for words, found in (
        (f"{APPROVER}@demo.invalid", APPROVER),
        (account["handle"], account["id"]),
        (f"{late.id} flour has run", LATE_TEXT),
    ):
        way.enter(page.get_by_role("searchbox", name="Find"), words)
        way.press(page.get_by_role("button", name="Find"))
        expect(page.get_by_role("heading", name="Find")).to_be_visible()
        expect(page.locator("#content-main li", has_text=found)).to_be_visible()
    way.press(page.locator("#content-main li", has_text=LATE_TEXT).get_by_role("link"))
    expect(page.get_by_text(LATE_TEXT).first).to_be_visible()

    page.goto("/admin/")
    library = page.get_by_role("link", name="Access failures")
    expect(library).to_be_hidden()
    way.press(page.get_by_role("link", name="Late posts, and why"))
    row = page.get_by_role("row", name="Late Bakery")
    expect(row).to_contain_text("2\xa0days")
    expect(row).to_contain_text("It is unknown whether it was published.")
    page.go_back()
    way.press(page.locator("summary", has_text="Library tables"))
    way.press(library)
    expect(page.get_by_role("heading", name="Select access failure")).to_be_visible()


@in_every_way
def test_a_correction_counts_once_a_second_operator_approves_it(
    open_page: OpenPage, workspace: Workspace, approver: Any, checker: PageChecker, way: WayOfUse, proposer: str
) -> None:
    page = open_page("/admin/", signed_in=False, **way.options)
    sign_in(page, proposer, way)
    page.goto(f"/admin/workspaces/workspace/{workspace.id}/change/")
    way.press(page.get_by_role("link", name="Statement of a month"))
    propose_charge(page, way)
    choose_action(page, "approve", way)
    way.press(page.get_by_role("button", name="Approve"))
    expect(page.get_by_text("cannot approve")).to_be_visible()

    page.context.clear_cookies()
    page.context.add_cookies(approver)
    choose_action(page, "approve", way)
    if way is MOUSE:
        checker.check(page, "console-confirmation")
    way.press(page.get_by_role("button", name="Approve"))
    expect(page.get_by_text("Approved: ")).to_be_visible()
    expect(page).to_have_url(re.compile(r"\?status__exact=proposed$"))
    page.goto(f"/admin/statement/{workspace.id}/")
    expect(page.get_by_role("row", name="Published and corrected")).to_contain_text("$0.05")
    expect(page.get_by_role("row", name="A second invoice")).to_contain_text("Approved")
    customer = open_page(f"/dashboard/workspaces/{workspace.id}/usage")
    expect(customer.locator("main")).to_contain_text("A second invoice")


def check_console_pages(page: Page, full_workspace: FullWorkspace, checker: PageChecker, prefix: str = "") -> None:
    """Open lists, rows and pages of the console, and check each of them; screenshots have the prefix."""
    for name, path in {
        "console-posts": "posts/postgroup/",
        "console-post": f"posts/postgroup/{full_workspace.ids['published']}/change/",
        "console-deliveries": "webhooks/delivery/",
        "console-workspaces": "workspaces/workspace/",
        "console-corrections": "billing/correction/",
        "console-found": "find/?q=rye",
        "console-late-posts": "late-posts/",
        "console-statement": f"statement/{full_workspace.workspace.id}/",
    }.items():
        answer = page.goto(f"/admin/{path}")
        assert answer is not None
        assert answer.status == 200, path
        checker.check(page, f"{prefix}{name}")


def open_code_page(open_page: OpenPage) -> Page:
    """Sign in as the operator with the password; return the page that asks for the second factor."""
    page = open_page("/admin/", signed_in=False)
    enter_password(page, NAME)
    expect(page.get_by_role("heading", name="Second factor")).to_be_visible()
    return page


def sign_in(page: Page, name: str, way: WayOfUse = MOUSE) -> None:
    """Sign in as an operator for the first time, on the page of the console that asks for it."""
    enter_password(page, name, way)
    set_up_second_factor(page, way)


def enter_password(page: Page, name: str, way: WayOfUse = MOUSE) -> None:
    way.enter(page.get_by_label("Username"), name)
    way.enter(page.get_by_label("Password"), PASSWORD)
    way.press(page.get_by_role("button", name="Log in"))


def set_up_second_factor(page: Page, way: WayOfUse = MOUSE) -> None:
    key = base64.b32decode(page.locator(".key").inner_text().replace(" ", ""))
    way.enter(page.get_by_label("Code"), f"{totp(key):06d}")
    way.press(page.get_by_role("button", name="Set up"))
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()


def propose_charge(page: Page, way: WayOfUse) -> None:
    """Propose a charge of 5 cents on the statement that is open."""
    way.choose(page.get_by_label("Kind"), "Charge to the customer")
    way.enter(page.get_by_label("Amount in cents"), "5")
    way.enter(page.get_by_label("Reason"), "A second invoice")
    way.press(page.get_by_role("button", name="Propose"))
    expect(page.get_by_text("Nothing has changed until another operator approves it")).to_be_visible()


def choose_action(page: Page, action: str, way: WayOfUse) -> None:
    """Choose an action on the proposed correction, on the list of proposals; opens its confirmation."""
    page.goto("/admin/billing/correction/?status__exact=proposed")
    way.check(page.get_by_role("row", name="A second invoice").locator(".action-select"))
    way.choose(page.locator("select[name=action]"), action)
    way.press(page.get_by_role("button", name="Run").or_(page.get_by_role("button", name="Go")))
    expect(page.get_by_text("This concerns 1 correction")).to_be_visible()
