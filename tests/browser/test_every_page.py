"""Every dashboard page in a browser: no errors, no horizontal scrolling, and no accessibility violations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from django.urls import get_resolver, reverse
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.full_workspace import FullWorkspace
from tests.browser.page_checks import PageChecker
from tests.browser.service import Workspace

# The pages of a workspace: the name of the screenshot, the route, and its URL parameters by their key in `ids`.
WORKSPACE_PAGES: dict[str, tuple[str, dict[str, str]]] = {
    "home": ("home", {}),
    "calendar": ("calendar", {}),
    "calendar-feeds": ("calendar-feeds", {}),
    "post-files": ("post-files", {}),
    "posts": ("posts", {}),
    "compose": ("compose", {}),
    "publishing-preference": ("publishing-preference", {}),
    "approvals": ("approvals", {}),
    "post-published": ("post", {"post_group_id": "published"}),
    "post-failed": ("post", {"post_group_id": "failed"}),
    "post-unconfirmed": ("post", {"post_group_id": "unconfirmed"}),
    "post-scheduled": ("post", {"post_group_id": "scheduled"}),
    "post-waiting": ("post", {"post_group_id": "waiting"}),
    "post-draft": ("post", {"post_group_id": "draft"}),
    "post-edit": ("post-edit", {"post_group_id": "waiting"}),
    "missed": ("missed", {}),
    "series": ("series", {}),
    "series-new": ("series-new", {}),
    "series-one": ("series-one", {"series_id": "series_id"}),
    "series-edit": ("series-edit", {"series_id": "series_id"}),
    "accounts": ("accounts", {}),
    "account": ("account", {"account_id": "account_id"}),
    "account-slots": ("account-slots", {"account_id": "account_id"}),
    "account-queue": ("account-queue", {"account_id": "account_id"}),
    "account-connect": ("account-connect", {"platform_name": "bluesky"}),
    "media": ("media", {}),
    "media-asset": ("media-asset", {"media_id": "media_id"}),
    "agents": ("agents", {}),
    "agent-new": ("agent-new", {}),
    "agent": ("agent", {"agent_id": "agent_id"}),
    "api-keys": ("api-keys", {}),
    "api-key-new": ("api-key-new", {}),
    "webhooks": ("webhooks", {}),
    "webhook-test": ("webhook-test", {}),
    "delivery": ("delivery", {"delivery_id": "delivery_id"}),
    "delivery-dead": ("delivery", {"delivery_id": "dead_letter"}),
    "usage": ("usage", {}),
    "audit-log": ("audit-log", {}),
    "settings": ("settings", {}),
    "members": ("members", {}),
    "notices": ("notices", {}),
    "notice-channels": ("notice-channels", {}),
    "snippets": ("snippets", {}),
}
OTHER_PAGES = {
    "workspaces": "/dashboard/?all=1",
    "language": "/dashboard/language",
    "sessions": "/dashboard/sessions",
    "not-connected": "/dashboard/connect/callback",
    "sign-in-link-sent": "/dashboard/sign-in/link",
    "not-found": "/dashboard/nothing",
}
# Routes that other tests open, or that return a file.
CHECKED_ELSEWHERE = {
    "posts-chosen",
    "post-files-export",
    "link-card",
    "media-describe",
    "audit-log-csv",
    "usage-charges",
    "settings-export",
}
READ_WITHOUT_SCRIPTS = [name for name in WORKSPACE_PAGES if not name.startswith(("compose", "post-edit"))]
# Pages that are checked in an empty workspace, too.
CHECKED_WITHOUT_ROWS = (
    "home",
    "calendar",
    "approvals",
    "series",
    "accounts",
    "media",
    "agents",
    "webhooks",
    "usage",
    "audit-log",
    "snippets",
    "notice-channels",
)


def page_path(full_workspace: FullWorkspace, name: str) -> str:
    """Return the path of a page of the table in the full workspace."""
    route, wanted = WORKSPACE_PAGES[name]
    given = {part: full_workspace.ids.get(value, value) for part, value in wanted.items()}
    return reverse(route, kwargs={"workspace_id": full_workspace.workspace.id, **given})


@pytest.mark.parametrize("name", WORKSPACE_PAGES)
def test_a_workspace_page_passes_the_checks(
    open_page: OpenPage, full_workspace: FullWorkspace, checker: PageChecker, name: str
) -> None:
    page = open_page(page_path(full_workspace, name))

    assert page.title().endswith("· Social Publishing Service")
    checker.check(page, name)


def test_every_page_is_in_the_table(open_page: OpenPage, full_workspace: FullWorkspace) -> None:
    """The table names every route that can be opened with the ids of the full workspace."""
    page = open_page()
    checked = {route for route, _ in WORKSPACE_PAGES.values()}
    missing = set()
    for name, parts in _workspace_routes():
        if name in checked or name in CHECKED_ELSEWHERE or not parts <= full_workspace.ids.keys() | {"workspace_id"}:
            continue
        given = {part: full_workspace.ids[part] for part in parts - {"workspace_id"}}
        answer = page.context.request.get(reverse(name, kwargs={"workspace_id": full_workspace.workspace.id, **given}))
        if answer.status != 405:
            missing.add(name)

    assert missing == set()


def test_pages_of_an_empty_workspace_pass_the_checks(open_page: OpenPage, workspace: Workspace, checker: PageChecker) -> None:
    page = open_page()
    for name in CHECKED_WITHOUT_ROWS:
        page.goto(reverse(WORKSPACE_PAGES[name][0], kwargs={"workspace_id": workspace.id}))
        checker.check(page, f"{name}-empty")


def test_pages_show_the_same_text_without_scripts(open_page: OpenPage, full_workspace: FullWorkspace) -> None:
    plain, scripted = open_page(java_script_enabled=False), open_page()
    for name in READ_WITHOUT_SCRIPTS:
        for page in (plain, scripted):
            page.goto(page_path(full_workspace, name))
        only_scripted = Counter(" ".join(scripted.locator("main [data-copy]").all_inner_texts()).split())
        words = [Counter(page.locator("main").inner_text().split()) for page in (scripted, plain)]
        assert not words[0] - words[1] - only_scripted, name


def test_pages_outside_a_workspace_pass_the_checks(open_page: OpenPage, checker: PageChecker) -> None:
    page = open_page()
    for name, path in OTHER_PAGES.items():
        page.goto(path)
        checker.check(page, name)


def test_the_sign_in_page_passes_the_checks(open_page: OpenPage, checker: PageChecker) -> None:
    page = open_page("/dashboard/", signed_in=False)
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    checker.check(page, "sign-in")


def test_the_pages_of_the_oauth_server_pass_the_checks(
    open_page: OpenPage, full_workspace: FullWorkspace, checker: PageChecker
) -> None:
    page = open_page()
    web = _register(page, "https://program.example/callback")
    local = _register(page, "http://127.0.0.1:4000/callback")
    own = f"workspace_id={full_workspace.workspace.id}"
    for name, program, callback in (
        ("consent", web, "https%3A%2F%2Fprogram.example%2Fcallback"),
        ("consent-local", local, "http%3A%2F%2F127.0.0.1%3A4000%2Fcallback"),
        ("consent-refused", web, "https%3A%2F%2Felsewhere.example"),
    ):
        asked = f"client_id={program}&redirect_uri={callback}&code_challenge={'x' * 43}&code_challenge_method=S256"
        page.goto(f"/oauth/authorize?response_type=code&{asked}&{own}")
        checker.check(page, name)

    started = page.context.request.post("/oauth/device", form={"client_id": local}).json()
    page.goto(started["verification_uri_complete"])
    checker.check(page, "device-code")
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Workspace", exact=True).select_option(full_workspace.workspace.id)
    page.get_by_role("button", name="Change").click()
    checker.check(page, "device-consent")
    page.get_by_role("button", name="Allow").click()
    expect(page.get_by_role("heading", name="Allowed")).to_be_visible()
    checker.check(page, "consent-done")
    page.get_by_role("link", name="See the agents").click()
    checker.check(page, "agents-connected")
    page.get_by_role("link", name="Claude Code").first.click()
    checker.check(page, "agent-connected")
    page.get_by_role("button", name="End the connection").click()
    expect(page.get_by_text("The connection has ended.")).to_be_visible()


def _register(page: Page, callback: str) -> str:
    """Register a program by RFC 7591, and return its client_id."""
    grant_types = ["authorization_code", "urn:ietf:params:oauth:grant-type:device_code"]
    metadata = {"client_name": "Claude Code", "redirect_uris": [callback], "grant_types": grant_types}
    return str(page.context.request.post("/oauth/register", data=metadata).json()["client_id"])


def _workspace_routes() -> Iterator[tuple[str, set[str]]]:
    """Yield the name of each route of a workspace's pages, and the names of its URL parameters."""
    for resolver in get_resolver().url_patterns:
        for pattern in getattr(resolver, "url_patterns", [resolver]):
            if str(pattern.pattern).startswith("dashboard/workspaces/") and pattern.name:
                yield pattern.name, set(pattern.pattern.converters)
