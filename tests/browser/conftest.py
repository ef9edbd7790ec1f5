"""A browser, the running service, and the owner of its workspaces in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, StorageState, expect, sync_playwright

from tests.browser.filling import Filled, fill
from tests.browser.service import Service, Workspace, running
from tests.browser.watch import WIDE, Inspection, Watch
from tests.fakes.bluesky import FakeBluesky

ROOT = Path(__file__).resolve().parents[2]
SETUP = "`make browser-setup` brings what is missing."
PATIENCE = 30_000  # milliseconds that a page may take before a test gives up
AXE = ROOT / "var/browser/node_modules/axe-core/axe.min.js"


class Open(Protocol):
    """Opens a page in a browser profile of its own; nobody is signed in unless `signed_in`."""

    def __call__(self, path: str = "", *, signed_in: bool = True, **options: Any) -> Page: ...


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    program = shutil.which(os.environ.get("CHROMIUM") or "chromium")
    if not program:
        pytest.exit(f"There is no chromium here. {SETUP} CHROMIUM names another program.", returncode=1)
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def bluesky() -> Iterator[FakeBluesky]:
    with FakeBluesky() as server:
        yield server


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory, bluesky: FakeBluesky) -> Iterator[Service]:
    """What `make run` starts, for the whole session. Its Bluesky is a stand-in, operators need a second factor as in
    production, and no sign-in gets too old while the tests run."""
    settings = {
        "BLUESKY_API_BASE": bluesky.url,
        "OPERATOR_SECOND_FACTOR": "true",
        "REAUTHENTICATE_MINUTES": "600",
    }
    with running(tmp_path_factory.mktemp("service"), settings) as service:
        yield service


@pytest.fixture(scope="session")
def owner(chromium: Browser, service: Service) -> StorageState:
    """The cookies of the demo's owner, who came by the link that `up` printed."""
    context = chromium.new_context()
    page = context.new_page()
    page.goto(service.printed_link())
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    cookies = context.storage_state()
    context.close()
    return cookies


@pytest.fixture
def open_page(chromium: Browser, service: Service, request: pytest.FixtureRequest) -> Iterator[Open]:
    """Opens pages of the service; at the end none of them may have complained."""
    opened: list[tuple[BrowserContext, Watch]] = []

    def open_at(path: str = "", *, signed_in: bool = True, **options: Any) -> Page:
        state = request.getfixturevalue("owner") if signed_in else None
        context = new_context(chromium, service.base_url, storage_state=state, **options)
        opened.append((context, Watch(context, service.base_url)))
        page = context.new_page()
        if path:
            page.goto(path)
        return page

    yield open_at
    for context, _ in opened:
        context.close()
    problems = [problem for _, watch in opened for problem in watch.problems]
    assert not problems, "\n".join(problems)


@pytest.fixture
def workspace(service: Service, request: pytest.FixtureRequest) -> Workspace:
    """An empty workspace of the demo's owner."""
    return service.new_workspace(request.node.name.removeprefix("test_").replace("_", " ").capitalize()[:60])


@pytest.fixture(scope="session")
def filled(service: Service, bluesky: FakeBluesky) -> Filled:
    """A workspace in which everything has happened once."""
    return fill(service, bluesky)


@pytest.fixture(scope="session")
def inspection() -> Inspection:
    """Looks at pages, with axe-core where it is."""
    return Inspection(AXE if AXE.exists() else None, ROOT / "var/screenshots")


def new_context(chromium: Browser, base_url: str, **options: Any) -> BrowserContext:
    """A browser profile on a wide screen, which says yes to what pages ask and may read the clipboard."""
    context = chromium.new_context(**{"base_url": base_url, "viewport": WIDE, **options})
    context.set_default_timeout(PATIENCE)
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=base_url)
    context.on("dialog", lambda dialog: dialog.accept())
    return context
