"""Every page of the dashboard, full: no page is broken, wider than the screen, or closed to people who use it differently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from django.urls import get_resolver, reverse
from playwright.sync_api import expect

from tests.browser.conftest import Open
from tests.browser.filling import Filled
from tests.browser.service import Workspace
from tests.browser.watch import Inspection

# What is looked at: a name for the screenshot, the route, and the ids that it takes.
WORKSPACE_PAGES: dict[str, tuple[str, dict[str, str]]] = {
    "home": ("home", {}),
    "calendar": ("calendar", {}),
    "posts": ("posts", {}),
    "compose": ("compose", {}),
    "approvals": ("approvals", {}),
    "post-published": ("post", {"post_group_id": "published"}),
    "post-failed": ("post", {"post_group_id": "failed"}),
    "post-unconfirmed": ("post", {"post_group_id": "unconfirmed"}),
    "post-scheduled": ("post", {"post_group_id": "scheduled"}),
    "post-waiting": ("post", {"post_group_id": "waiting"}),
    "post-draft": ("post", {"post_group_id": "draft"}),
    "post-edit": ("post-edit", {"post_group_id": "waiting"}),
    "accounts": ("accounts", {}),
    "account": ("account", {"account_id": "account_id"}),
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
}
OUTSIDE = {
    "workspaces": "/dashboard/?all=1",
    "sessions": "/dashboard/sessions",
    "not-connected": "/dashboard/connect/callback",
    "not-found": "/dashboard/nothing",
}
# What these answer to is looked at where it belongs: a journey, or a file.
ELSEWHERE = {"media-describe", "audit-log-csv", "usage-charges", "settings-export"}
READ_WITHOUT_SCRIPTS = [name for name in WORKSPACE_PAGES if not name.startswith(("compose", "post-edit"))]
# Pages that are looked at also in a workspace where nothing has happened yet.
EMPTY = ("home", "calendar", "approvals", "accounts", "media", "agents", "webhooks", "usage", "audit-log")


def address(filled: Filled, name: str) -> str:
    """Where a page of the table stands in the full workspace."""
    route, wanted = WORKSPACE_PAGES[name]
    given = {part: filled.ids.get(value, value) for part, value in wanted.items()}
    return reverse(route, kwargs={"workspace_id": filled.workspace.id, **given})


@pytest.mark.parametrize("name", WORKSPACE_PAGES)
def test_a_page_of_a_workspace(open_page: Open, filled: Filled, inspection: Inspection, name: str) -> None:
    page = open_page(address(filled, name))

    assert page.title().endswith("· Social Publishing Service")
    inspection.look(page, name)


def test_every_page_is_looked_at(open_page: Open, filled: Filled) -> None:
    """A route that a browser can open by the ids of the full workspace stands in the table."""
    page = open_page()
    looked_at = {route for route, _ in WORKSPACE_PAGES.values()}
    left_out = set()
    for name, parts in _workspace_routes():
        if name in looked_at or name in ELSEWHERE or not parts <= filled.ids.keys() | {"workspace_id"}:
            continue
        given = {part: filled.ids[part] for part in parts - {"workspace_id"}}
        answer = page.context.request.get(reverse(name, kwargs={"workspace_id": filled.workspace.id, **given}))
        if answer.status != 405:
            left_out.add(name)

    assert left_out == set()


def test_pages_without_anything_on_them(open_page: Open, workspace: Workspace, inspection: Inspection) -> None:
    page = open_page()
    for name in EMPTY:
        page.goto(reverse(WORKSPACE_PAGES[name][0], kwargs={"workspace_id": workspace.id}))
        inspection.look(page, f"{name}-empty")


def test_pages_read_without_scripts(open_page: Open, filled: Filled) -> None:
    plain, scripted = open_page(java_script_enabled=False), open_page()
    for name in READ_WITHOUT_SCRIPTS:
        for page in (plain, scripted):
            page.goto(address(filled, name))
        words = [Counter(page.locator("main").inner_text().split()) for page in (scripted, plain)]
        assert not words[0] - words[1], name


def test_pages_outside_a_workspace(open_page: Open, inspection: Inspection) -> None:
    page = open_page()
    for name, path in OUTSIDE.items():
        page.goto(path)
        inspection.look(page, name)


def test_pages_of_who_is_not_signed_in(open_page: Open, inspection: Inspection) -> None:
    page = open_page("/dashboard/", signed_in=False)
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    inspection.look(page, "sign-in")


def _workspace_routes() -> Iterator[tuple[str, set[str]]]:
    """Every named route under a workspace's pages, and the parts of its address."""
    for resolver in get_resolver().url_patterns:
        for pattern in getattr(resolver, "url_patterns", [resolver]):
            if str(pattern.pattern).startswith("dashboard/workspaces/") and pattern.name:
                yield pattern.name, set(pattern.pattern.converters)
