"""The operators' console in a browser: its front page, lists and rows, for somebody who signs in with a password."""

from __future__ import annotations

import base64

import pytest
from django_otp.oath import totp
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.filling import Filled
from tests.browser.service import Service
from tests.browser.watch import Inspection

NAME, PASSWORD = "operator", "correct horse battery staple"
DJANGOS = {"label-title-only"}  # the label of its search field is a picture
MADE = (
    "from workspaces.models import User; "
    f"User.objects.create_superuser(username={NAME!r}, email='operator@demo.invalid', password={PASSWORD!r})"
)


@pytest.fixture(scope="module")
def an_operator(service: Service) -> None:
    service.stack.run("manage.py", "shell", "--no-imports", "-c", MADE)


@pytest.mark.usefixtures("an_operator")
def test_an_operator_looks_round(open_page: Open, filled: Filled, inspection: Inspection) -> None:
    page = open_page("/admin/", signed_in=False)
    inspection.look(page, "console-sign-in")
    page.get_by_label("Username").fill(NAME)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="Set up your second factor")).to_be_visible()
    inspection.look(page, "console-second-factor-set-up")
    key = base64.b32decode(page.locator(".key").inner_text().replace(" ", ""))
    page.get_by_label("Code").fill(f"{totp(key):06d}")
    page.get_by_role("button", name="Set up").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    inspection.look(page, "console-recovery-codes")
    codes = page.locator(".recovery-codes code").all_inner_texts()
    page.get_by_role("link", name="I have stored them").click()
    expect(page.get_by_role("link", name="Sign out").or_(page.get_by_role("button", name="Log out"))).to_be_visible()
    inspection.look(page, "console")
    for name, path in {
        "console-posts": "posts/postgroup/",
        "console-post": f"posts/postgroup/{filled.ids['published']}/change/",
        "console-deliveries": "webhooks/delivery/",
        "console-workspaces": "workspaces/workspace/",
    }.items():
        answer = page.goto(f"/admin/{path}")
        assert answer is not None
        assert answer.status == 200, path
        inspection.look(page, name, borne=DJANGOS)

    inspection.look(at_the_code(open_page), "console-second-factor")
    another = at_the_code(open_page)
    another.get_by_label("Code").fill(codes[0])
    another.keyboard.press("Enter")
    expect(another.get_by_text("9 are left")).to_be_visible()

    third = at_the_code(open_page)
    third.get_by_label("Code").fill("000000")
    third.keyboard.press("Enter")
    expect(third.get_by_text("This code is wrong")).to_be_visible()
    inspection.look(third, "console-wrong-code")


def at_the_code(open_page: Open) -> Page:
    """A browser in which the operator has given the password, at the page that asks for a code."""
    page = open_page("/admin/", signed_in=False)
    page.get_by_label("Username").fill(NAME)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="Second factor")).to_be_visible()
    return page
