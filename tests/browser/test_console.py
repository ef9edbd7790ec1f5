"""The operators' console in a browser: its front page, lists and rows, for somebody who signs in with a password."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

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
