"""Fixtures of the browser tests: a browser, the running service, its workspaces, and pages opened in the browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, StorageState, expect, sync_playwright

from tests.browser.full_workspace import FullWorkspace, create_full_workspace
from tests.browser.page_checks import WIDE, ErrorRecorder, PageChecker
from tests.browser.program import NOT_FOUND, browser_path_or_none
from tests.browser.service import Service, Workspace, run_service
from tests.fakes.bluesky import FakeBluesky
from tests.fakes.slack import FakeSlack
from tests.fakes.smtp import FakeMailServer
from tests.fakes.telegram import FakeTelegram

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_MS = 30_000  # time that a page may take before a test fails
AXE = ROOT / "var/browser/node_modules/axe-core/axe.min.js"
# Chromium sometimes stops painting a page for good (seen once in some 30 runs of all tests), so that Playwright's check that
# an element does not move never ends. A page that paints but has an unstable element makes Playwright log more after this.
NO_LONGER_PAINTED = r"- attempting \w+ action\n\s*- waiting for element to be visible, enabled and stable\s*\Z"


class OpenPage(Protocol):
    """Opens a page in a new browser profile, as the signed-in owner or, with `signed_in=False`, as nobody."""

    def __call__(self, path: str = "", *, signed_in: bool = True, **options: Any) -> Page: ...


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.flaky(reruns=1, only_rerun=[NO_LONGER_PAINTED]))


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    program = browser_path_or_none()
    if not program:
        pytest.exit(NOT_FOUND, returncode=1)
    expect.set_options(timeout=TIMEOUT_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def bluesky() -> Iterator[FakeBluesky]:
    with FakeBluesky() as server:
        yield server


@pytest.fixture(scope="session")
def slack() -> Iterator[FakeSlack]:
    with FakeSlack() as server:
        yield server


@pytest.fixture(scope="session")
def telegram() -> Iterator[FakeTelegram]:
    with FakeTelegram() as server:
        yield server


@pytest.fixture(scope="session")
def mail_server() -> Iterator[FakeMailServer]:
    with FakeMailServer() as server:
        yield server


@pytest.fixture(scope="session")
def service(
    tmp_path_factory: pytest.TempPathFactory,
    bluesky: FakeBluesky,
    slack: FakeSlack,
    telegram: FakeTelegram,
    mail_server: FakeMailServer,
) -> Iterator[Service]:
    """The service as `make run` starts it, for all browser tests.

    Its mail server, Bluesky, Slack and Telegram are stand-ins, operators need a second factor as in production, no sign-in
    gets too old during the tests, and a post that cannot be sent is tried again once, after a second.
    """
    settings = {
        "BLUESKY_API_BASE": bluesky.url,
        "SLACK_API_BASE": slack.api_base,
        "TELEGRAM_API_BASE": telegram.url,
        "EMAIL_URL": f"smtp://127.0.0.1:{mail_server.port}",
        "OPERATOR_SECOND_FACTOR": "true",
        "REAUTHENTICATE_MINUTES": "600",
        "PUBLISH_RETRY_SCHEDULE": "1",
    }
    with run_service(tmp_path_factory.mktemp("service"), settings) as service:
        yield service


@pytest.fixture(scope="session")
def owner(chromium: Browser, service: Service) -> StorageState:
    """The cookies of the demo's owner, signed in through the link that `up` printed."""
    context = chromium.new_context()
    page = context.new_page()
    page.goto(service.printed_sign_in_link())
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    cookies = context.storage_state()
    context.close()
    return cookies


@pytest.fixture
def open_page(chromium: Browser, service: Service, request: pytest.FixtureRequest) -> Iterator[OpenPage]:
    """Opens pages of the service; fails at the end of the test if the browser reported an error on any of them."""
    opened: list[tuple[BrowserContext, ErrorRecorder]] = []

    def open_at(path: str = "", *, signed_in: bool = True, **options: Any) -> Page:
        state = request.getfixturevalue("owner") if signed_in else None
        context = new_context(chromium, service.base_url, storage_state=state, **options)
        opened.append((context, ErrorRecorder(context, service.base_url)))
        page = context.new_page()
        if path:
            page.goto(path)
        return page

    yield open_at
    for context, _ in opened:
        context.close()
    problems = [problem for _, recorder in opened for problem in recorder.problems]
    assert not problems, "\n".join(problems)


@pytest.fixture
def workspace(service: Service, request: pytest.FixtureRequest) -> Workspace:
    """An empty workspace of the demo's owner."""
    return service.new_workspace(request.node.name.removeprefix("test_").replace("_", " ").capitalize()[:60])


@pytest.fixture(scope="session")
def full_workspace(service: Service, bluesky: FakeBluesky) -> FullWorkspace:
    """A workspace with rows for every page."""
    return create_full_workspace(service, bluesky)


@pytest.fixture(scope="session")
def checker() -> PageChecker:
    """Checks pages, including their accessibility if axe-core is installed."""
    return PageChecker(AXE if AXE.exists() else None, ROOT / "var/screenshots")


def new_context(chromium: Browser, base_url: str, **options: Any) -> BrowserContext:
    """A browser profile on a wide screen, which accepts all dialogs and may read the clipboard."""
    context = chromium.new_context(**{"base_url": base_url, "viewport": WIDE, **options})
    context.set_default_timeout(TIMEOUT_MS)
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=base_url)
    context.on("dialog", lambda dialog: dialog.accept())
    return context
