"""The first minutes of a new user in a browser: create an agent, claim its key, and approve its first post."""

from __future__ import annotations

import shlex
from itertools import pairwise
from typing import Any

import pytest
import requests
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.page_checks import PageChecker, menu_link
from tests.browser.service import Service
from tests.browser.ways_of_use import MOUSE, NO_SCRIPTS, TOUCH, WayOfUse, in_every_way


@pytest.mark.usefixtures("owner")  # uses the printed link, which a new one would replace
@in_every_way
def test_an_agent_is_created_and_claimed_and_its_post_approved(
    open_page: OpenPage, service: Service, checker: PageChecker, way: WayOfUse
) -> None:
    page = open_page(service.new_sign_in_link(), signed_in=False, **way.options)
    to_demo_workspace(page, way)
    open_from_menu(page, "Agents", way)
    way.press(page.get_by_role("link", name="New agent"))
    way.enter(page.get_by_label("Name", exact=True), "Weekend agent")
    way.press(page.get_by_role("button", name="Make the agent"))
    expect(page.get_by_role("heading", name="Weekend agent is ready to be claimed")).to_be_visible()
    if way is MOUSE:
        checker.check(page, "agent-made")

    agent = Agent(run_as_pasted(copied_command(page, way))["token"], service)
    group = agent.post("The first post of an agent")
    assert group["status"] == "pending_confirmation"

    open_from_menu(page, "Approvals", way)
    waiting = page.get_by_role("article").filter(has_text="The first post of an agent")
    expect(waiting.get_by_role("heading")).to_have_text("Weekend agent asks to publish to 1 account")
    way.press(waiting.get_by_role("link", name="details"))
    way.press(page.get_by_role("button", name="Approve and publish now"))
    expect(page.locator("#messages")).to_contain_text("Approved.")


def to_demo_workspace(page: Page, way: WayOfUse = MOUSE) -> None:
    """Open the home page of the demo workspace."""
    page.goto("/dashboard/?all=1")
    way.press(page.get_by_role("link", name="Demo workspace"))
    expect(page.get_by_role("heading", name="Home")).to_be_visible()


def open_from_menu(page: Page, name: str, way: WayOfUse) -> None:
    """Open a page of the workspace from its menu, which a button opens on phones."""
    if way is TOUCH:
        way.press(page.get_by_role("button", name="Menu"))
    way.press(menu_link(page, name))


def copied_command(page: Page, way: WayOfUse) -> str:
    """Return the command with which an agent claims its key: copied by a button or, without scripts, selected."""
    copy = page.get_by_role("button", name="Copy", exact=True).first
    if way is NO_SCRIPTS:
        expect(copy).not_to_be_visible()
        return page.locator("#claim").inner_text()
    way.press(copy)
    expect(page.get_by_role("button", name="Copied").first).to_be_visible()
    return str(page.evaluate("navigator.clipboard.readText()"))


def run_as_pasted(line: str) -> Any:
    """Send the request of a curl command line copied from a page, split as a shell does; return the response body."""
    program, *words = shlex.split(line.replace("\\\n", " "))
    assert program == "curl"
    given = dict(pairwise(words))
    headers = dict(words[at + 1].split(": ", 1) for at, word in enumerate(words) if word == "-H")
    address = next(word for word in words if word.startswith("http"))
    answer = requests.request("POST", address, headers=headers, data=given["-d"], timeout=30)  # noqa: TID251
    assert answer.status_code == 200, answer.text
    return answer.json()


class Agent:
    """An agent program that uses the key it claimed."""

    def __init__(self, token: str, service: Service) -> None:
        self.token, self.service = token, service

    def post(self, text: str) -> dict[str, Any]:
        """Create a post to the first account that the agent may use."""
        workspace_id = self.service.stack.demo["workspace_id"]
        path = f"/accounts?workspace_id={workspace_id}"
        account = self.service.call("GET", path, token=self.token)["accounts"][0]
        target = {"platform": account["platform"], "connected_account_id": account["id"]}
        body = {"text": text, "targets": [target]}
        made: dict[str, Any] = self.service.call("POST", "/posts", body, token=self.token)["post_group"]
        return made
