"""The operators' admin console in a browser: signing in with a second factor, lists and rows, and corrections."""

from __future__ import annotations

import base64
import re

import pytest
from django_otp.oath import totp
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.full_workspace import FullWorkspace
from tests.browser.page_checks import PageChecker
from tests.browser.service import Service, Workspace

NAME, PROPOSER, APPROVER, GERMAN_OPERATOR = "operator", "proposer", "approver", "german-operator"
PASSWORD = "correct horse battery staple"
CREATE_OPERATORS = f"""
from workspaces.models import User
for name in {NAME, PROPOSER, APPROVER, GERMAN_OPERATOR}:
    User.objects.create_superuser(username=name, email=name + "@demo.invalid", password={PASSWORD!r})
"""


@pytest.fixture(scope="session", autouse=True)
def operators(service: Service) -> None:
    service.stack.run("manage.py", "shell", "--no-imports", "-c", CREATE_OPERATORS)


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
    check_an_action(page, checker)

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
    page = sign_in(open_page, GERMAN_OPERATOR)
    page.goto("/dashboard/language")
    page.get_by_label("Language").select_option(label="Deutsch")
    page.get_by_role("button", name="Save").click()
    page.goto("/admin/")
    expect(page.get_by_role("heading", name="Zustand des Dienstes")).to_be_visible()
    checker.check(page, "german-console")
    check_console_pages(page, full_workspace, checker, prefix="german-")


def test_a_correction_counts_once_a_second_operator_approves_it(open_page: OpenPage, workspace: Workspace) -> None:
    proposer, approver = (sign_in(open_page, name) for name in (PROPOSER, APPROVER))
    statement = f"/admin/statement/{workspace.id}/"
    proposer.goto(statement)
    propose_charge(proposer, "A second invoice")
    choose_action(proposer, "A second invoice", "approve")
    proposer.get_by_role("button", name="Approve").click()
    expect(proposer.get_by_text("cannot approve")).to_be_visible()

    approver.goto(statement)
    total = approver.get_by_role("row", name="Published and corrected")
    expect(total).to_contain_text("$0.00")
    choose_action(approver, "A second invoice", "approve")
    approver.get_by_role("button", name="Approve").click()
    expect(approver.get_by_text("Approved: ")).to_be_visible()
    approver.goto(statement)
    expect(total).to_contain_text("$0.05")
    expect(approver.get_by_role("row", name="A second invoice")).to_contain_text("Approved")
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


def check_an_action(page: Page, checker: PageChecker) -> None:
    """Propose a charge, withdraw it on the list of proposals, and be back on that list."""
    propose_charge(page, "A manual transfer")
    choose_action(page, "A manual transfer", "withdraw")
    checker.check(page, "console-confirmation")
    page.get_by_role("button", name="Withdraw").click()
    expect(page).to_have_url(re.compile(r"\?status__exact=proposed$"))


def open_code_page(open_page: OpenPage) -> Page:
    """Sign in as the operator with the password; return the page that asks for the second factor."""
    page = open_page("/admin/", signed_in=False)
    enter_password(page, NAME)
    expect(page.get_by_role("heading", name="Second factor")).to_be_visible()
    return page


def sign_in(open_page: OpenPage, name: str) -> Page:
    """Sign in as an operator for the first time, in a browser profile of their own; return the page of the console."""
    page = open_page("/admin/", signed_in=False)
    enter_password(page, name)
    set_up_second_factor(page)
    return page


def enter_password(page: Page, name: str) -> None:
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()


def set_up_second_factor(page: Page) -> None:
    key = base64.b32decode(page.locator(".key").inner_text().replace(" ", ""))
    page.get_by_label("Code").fill(f"{totp(key):06d}")
    page.get_by_role("button", name="Set up").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()


def propose_charge(page: Page, reason: str) -> None:
    """Propose a charge of 5 cents on the statement that is open."""
    page.get_by_label("Kind").select_option("charge")
    page.get_by_label("Amount in cents").fill("5")
    page.get_by_label("Reason").fill(reason)
    page.get_by_role("button", name="Propose").click()
    expect(page.get_by_text("Nothing has changed until another operator approves it")).to_be_visible()


def choose_action(page: Page, reason: str, action: str) -> None:
    """Choose an action on the proposed correction with this reason, on the list of proposals; opens its confirmation."""
    page.goto("/admin/billing/correction/?status__exact=proposed")
    page.get_by_role("row", name=reason).locator(".action-select").check()
    page.locator("select[name=action]").select_option(action)
    page.get_by_role("button", name="Run").or_(page.get_by_role("button", name="Go")).click()
    expect(page.get_by_text("This concerns 1 correction")).to_be_visible()
