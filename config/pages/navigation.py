"""Builds the navigation on the dashboard's pages from settings.NAVIGATION: the menu, and the links in templates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import Promise, SimpleLazyObject
from django.utils.module_loading import import_string

MAX_SHOWN_COUNT = 99  # higher counts are shown as 99+


@dataclass(frozen=True)
class DashboardPage:
    """A dashboard page to which templates may link by `{% link_if_page_exists %}`; a page with a label is also in the menu.

    `icon` is the name of a heroicon. Neighbours with the same `section` are under that heading. On phones, the pages
    `in_bottom_bar` are always visible, the others in a menu.

    `key` is the key that opens the page from anywhere in the workspace, see shortcuts.js.

    `count_waiting` takes a workspace id and returns how many items of the page wait for a person, up to MAX_SHOWN_COUNT + 1.
    `also_for`: first path segments of pages without a menu entry that belong to this one, such as members to settings.
    `for_writers`: the menu has it only for people who may write posts.
    """

    route: str
    label: str | Promise = ""
    icon: str = "document"
    section: str | Promise = ""
    in_bottom_bar: bool = False
    key: str = ""
    count_waiting: Callable[[str], int] | None = None
    also_for: tuple[str, ...] = ()
    for_writers: bool = False


@dataclass(frozen=True)
class MenuLink:
    """A link of the dashboard's menu: its label, its URL, and whether its page is open."""

    label: str
    icon: str
    section: str
    in_bottom_bar: bool
    key: str
    address: str
    open: bool
    waiting: str = ""  # number of items on the page that wait for a person


class _Page(Protocol):
    """The protocol of the open dashboard page, from which the navigation builds the menu; WorkspacePage implements it."""

    request: HttpRequest
    workspace: Any

    @property
    def may_write_posts(self) -> bool: ...
    def url_of_page(self, name: str) -> str: ...


def navigation_context(request: HttpRequest) -> dict[str, Any]:
    """Context processor: adds the dashboard's menu as `navigation` to the templates of a workspace's pages."""
    page: _Page | None = getattr(request, "workspace_page", None)
    return {"navigation": SimpleLazyObject(lambda: menu_links(page))} if page else {}


def all_dashboard_pages() -> list[DashboardPage]:
    """Import the dashboard pages in settings.NAVIGATION and return them, in the order of the menu."""
    return [import_string(path) for path in settings.NAVIGATION]


def menu_links(page: _Page) -> list[MenuLink]:
    """Return the links of the dashboard's menu; the link of the open page is marked."""
    first = page.request.path.removeprefix(page.url_of_page("home")).strip("/").partition("/")[0]
    return [
        MenuLink(
            str(entry.label),
            entry.icon,
            str(entry.section),
            entry.in_bottom_bar,
            entry.key,
            page.url_of_page(entry.route),
            (first or "home") in (entry.route, *entry.also_for),
            _shown(entry.count_waiting(page.workspace.id)) if entry.count_waiting else "",
        )
        for entry in all_dashboard_pages()
        if entry.label and (page.may_write_posts or not entry.for_writers)
    ]


def _shown(count: int) -> str:
    if not count:
        return ""
    return str(count) if count <= MAX_SHOWN_COUNT else f"{MAX_SHOWN_COUNT}+"
