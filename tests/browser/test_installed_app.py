"""The dashboard as an installed app, in a browser: it can be installed, and says so when the service cannot be reached."""

from __future__ import annotations

import pytest
from playwright.sync_api import Error, expect

from tests.browser.conftest import OpenPage
from tests.browser.page_checks import PageChecker
from tests.browser.ways_of_use import NO_SCRIPTS, WayOfUse, in_every_way

WORKER_IS_READY = "navigator.serviceWorker.ready.then(() => true)"


@in_every_way
def test_the_app_can_be_installed_and_goes_on_after_a_lost_connection(open_page: OpenPage, way: WayOfUse) -> None:
    page = open_page("/dashboard/?all=1", **way.options)
    if way is not NO_SCRIPTS:
        page.evaluate(WORKER_IS_READY)
    devtools = page.context.new_cdp_session(page)
    manifest = devtools.send("Page.getAppManifest")
    assert manifest["errors"] == []
    assert manifest["url"].endswith("/app.webmanifest")
    # A profile in memory, as tests use it, cannot install apps.
    errors = [error["errorId"] for error in devtools.send("Page.getInstallabilityErrors")["installabilityErrors"]]
    assert errors in ([], ["in-incognito"])

    page.context.set_offline(True)
    if way is NO_SCRIPTS:  # the browser itself says that there is no connection
        with pytest.raises(Error, match="ERR_INTERNET_DISCONNECTED"):
            page.goto("/dashboard/sessions")
        page.context.set_offline(False)
        page.goto("/dashboard/sessions")
    else:
        page.goto("/dashboard/sessions")
        expect(page.get_by_role("heading", name="No connection")).to_be_visible()
        page.context.set_offline(False)
        way.press(page.get_by_role("link", name="Try again"))
    expect(page.get_by_role("heading", name="Sessions")).to_be_visible()


def test_the_page_without_a_connection_passes_the_checks(open_page: OpenPage, checker: PageChecker) -> None:
    page = open_page("/dashboard/offline", signed_in=False)
    expect(page.get_by_role("heading", name="No connection")).to_be_visible()
    checker.check(page, "offline")
