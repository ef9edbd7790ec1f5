"""The dashboard as an installed app, in a browser: it can be installed, and says so when the service cannot be reached."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.page_checks import PageChecker

WORKER_IS_READY = "navigator.serviceWorker.ready.then(() => true)"


def test_chromium_offers_to_install_the_app(open_page: OpenPage) -> None:
    page = open_page("/dashboard/?all=1")
    page.evaluate(WORKER_IS_READY)
    devtools = page.context.new_cdp_session(page)

    manifest = devtools.send("Page.getAppManifest")
    assert manifest["errors"] == []
    assert manifest["url"].endswith("/app.webmanifest")
    # A profile in memory, as tests use it, cannot install apps.
    errors = [error["errorId"] for error in devtools.send("Page.getInstallabilityErrors")["installabilityErrors"]]
    assert errors in ([], ["in-incognito"])


def test_without_a_connection_the_app_says_so_and_goes_on_afterwards(open_page: OpenPage, checker: PageChecker) -> None:
    page = open_page("/dashboard/?all=1")
    page.evaluate(WORKER_IS_READY)
    page.context.set_offline(True)
    page.goto("/dashboard/sessions")
    expect(page.get_by_role("heading", name="No connection")).to_be_visible()

    page.context.set_offline(False)
    page.get_by_role("link", name="Try again").click()
    expect(page.get_by_role("heading", name="Sessions")).to_be_visible()


def test_the_page_without_a_connection_passes_the_checks(open_page: OpenPage, checker: PageChecker) -> None:
    page = open_page("/dashboard/offline", signed_in=False)
    expect(page.get_by_role("heading", name="No connection")).to_be_visible()
    checker.check(page, "offline")
