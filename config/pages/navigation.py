"""The registry of the dashboard's pages (settings.NAVIGATION): the menu, and pages that lower apps link to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject
from django.utils.module_loading import import_string

MOST = 99  # more is shown as 99+


@dataclass(frozen=True)
class Entry:
    """A page that templates may link to by `{% page_link %}`. A page with a label is also in the menu.

    `waiting` takes a workspace id, and counts to MOST + 1 what waits there for a person. `also_for`: first parts of
    paths that lie below no entry's own, such as members, which belongs to the settings.
    """

    route: str
    label: str = ""
    waiting: Callable[[str], int] | None = None
    also_for: tuple[str, ...] = ()


@dataclass(frozen=True)
class Link:
    label: str
    address: str
    open: bool
    waiting: str = ""  # how many things there wait for a person


class _Page(Protocol):
    """A page of a workspace (workspaces.workspace_page.WorkspacePage)."""

    request: HttpRequest
    workspace: Any

    def path(self, name: str) -> str: ...


def navigation(request: HttpRequest) -> dict[str, Any]:
    """Context processor: `navigation` in a template of a workspace's page; its counts are read only where it is shown."""
    page: _Page | None = getattr(request, "workspace_page", None)
    return {"navigation": SimpleLazyObject(lambda: links(page))} if page else {}


def entries() -> list[Entry]:
    """All registered pages, in the menu's order."""
    return [import_string(path) for path in settings.NAVIGATION]


def links(page: _Page) -> list[Link]:
    """The menu's links. The open one has the first part of the path as its route's name."""
    first = page.request.path.removeprefix(page.path("home")).strip("/").partition("/")[0]
    return [
        Link(
            entry.label,
            page.path(entry.route),
            (first or "home") in (entry.route, *entry.also_for),
            _shown(entry.waiting(page.workspace.id)) if entry.waiting else "",
        )
        for entry in entries()
        if entry.label
    ]


def _shown(count: int) -> str:
    if not count:
        return ""
    return str(count) if count <= MOST else f"{MOST}+"
