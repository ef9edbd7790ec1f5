"""The consent page in a browser: a program asks, the owner decides with the mouse, the keyboard, or without scripts."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.full_workspace import FullWorkspace
from tests.browser.page_checks import PageChecker
from tests.browser.service import Service

CALLBACK = "/.well-known/oauth-authorization-server"  # of the service itself, so that the redirect leads to an existing page


def click(page: Page, button: str) -> None:
    page.get_by_role("button", name=button, exact=True).click()


def press(page: Page, button: str) -> None:
    """Reach a button with the Tab key alone, and press it."""
    wanted = page.get_by_role("button", name=button, exact=True)
    for _ in range(100):
        page.keyboard.press("Tab")
        if wanted.evaluate("element => element === document.activeElement"):
            break
    page.keyboard.press("Enter")


def ask(page: Page, service: Service, workspace_id: str, client_id: str = "") -> str:
    """Open the consent page as a program that registers first, unless it has a client_id; return the client_id."""
    callback = service.base_url + CALLBACK
    if not client_id:
        metadata = {"client_name": "Claude Code", "redirect_uris": [callback]}
        client_id = page.context.request.post("/oauth/register", data=metadata).json()["client_id"]
    asked = f"client_id={client_id}&redirect_uri={quote(callback, safe='')}&state=s"
    pkce = f"code_challenge={'x' * 43}&code_challenge_method=S256"
    page.goto(f"/oauth/authorize?response_type=code&{asked}&{pkce}&workspace_id={workspace_id}")
    return client_id


@pytest.mark.parametrize(("use", "scripts"), [(click, True), (press, True), (click, False)])
def test_a_program_is_allowed_and_connected_again(
    open_page: OpenPage,
    service: Service,
    full_workspace: FullWorkspace,
    checker: PageChecker,
    use: Callable[[Page, str], None],
    scripts: bool,
) -> None:
    page, workspace_id = open_page(java_script_enabled=scripts), full_workspace.workspace.id
    client_id = ask(page, service, workspace_id)
    use(page, "Allow")
    expect(page).to_have_url(re.compile(r"/oauth-authorization-server\?code=sps_oac_\w+&state=s&iss="))

    ask(page, service, workspace_id, client_id)
    before = page.get_by_role("radio", name="Claude Code, as before")
    expect(before).to_be_checked()
    expect(page.get_by_label("Dollars in a month")).to_be_hidden()
    if scripts:
        checker.check(page, "consent-again")
    use(page, "Allow")
    expect(page).to_have_url(re.compile(r"/oauth-authorization-server\?code="))

    ask(page, service, workspace_id, client_id)
    expect(page.get_by_role("radio", name="as before")).to_have_count(1)
    page.get_by_role("radio", name="A new agent").check()
    expect(page.get_by_label("Dollars in a month")).to_be_visible()
    use(page, "Cancel")
    expect(page).to_have_url(re.compile(r"/oauth-authorization-server\?error=access_denied"))
