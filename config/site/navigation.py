"""The dashboard's navigation: its pages in order, the one that is open, and how much waits for a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from accounts.models import ConnectedAccount
from posts.models import PostGroup
from posts.states import GroupStatus
from workspaces.frame import WorkspacePage

MOST = 99  # more is shown as 99+

# Name of the page's route, and its label.
PAGES = (
    ("home", "Home"),
    ("calendar", "Calendar"),
    ("compose", "New post"),
    ("approvals", "Approvals"),
    ("accounts", "Accounts"),
    ("media", "Media"),
    ("agents", "Agents"),
    ("api-keys", "API keys"),
    ("webhooks", "Webhooks"),
    ("usage", "Usage"),
    ("audit-log", "Audit log"),
    ("settings", "Settings"),
)


# Pages that stand under an address of their own, and where the navigation shows them.
SHOWN_AT = {"posts": "calendar", "members": "settings"}


@dataclass(frozen=True)
class Link:
    label: str
    address: str
    open: bool
    waiting: str = ""  # how many things there wait for a person


def navigation(request: HttpRequest) -> dict[str, Any]:
    """Context processor: `navigation` in a template of a workspace's page; two queries, only where it is shown."""
    page: WorkspacePage | None = getattr(request, "workspace_page", None)
    return {"navigation": SimpleLazyObject(lambda: links(page))} if page else {}


def links(page: WorkspacePage) -> list[Link]:
    """The frame's links; the open one is told by the first part of the path, which is its name."""
    counts = {"approvals": _approvals(page.workspace.id), "accounts": _to_reconnect(page.workspace.id)}
    first = page.request.path.removeprefix(page.path("home")).strip("/").partition("/")[0]
    current = SHOWN_AT.get(first, first or "home")
    return [Link(label, page.path(name), name == current, _shown(counts.get(name, 0))) for name, label in PAGES]


def _approvals(workspace_id: str) -> int:
    waiting = PostGroup.objects.filter(workspace_id=workspace_id, status=GroupStatus.PENDING_CONFIRMATION)
    return waiting[: MOST + 1].count()


def _to_reconnect(workspace_id: str) -> int:
    lost = ConnectedAccount.objects.filter(workspace_id=workspace_id, status=ConnectedAccount.Status.NEEDS_REAUTH)
    return lost[: MOST + 1].count()


def _shown(count: int) -> str:
    if not count:
        return ""
    return str(count) if count <= MOST else f"{MOST}+"
