"""Account and agent filters of the dashboard's lists of posts."""

from __future__ import annotations

from typing import Any

from accounts.models import ConnectedAccount
from accounts.platforms.registry import platform
from agents.selectors import agents_of
from posts import selectors
from workspaces.workspace_page import WorkspacePage

MAX_AGENTS = 200


def chosen_filters(page: WorkspacePage) -> dict[str, Any]:
    """Return the account and agent filters in the page's query string."""
    asked = page.request.GET
    return {"account_id": asked.get("account") or None, "agent_id": asked.get("agent") or None}


def filter_choices(page: WorkspacePage) -> dict[str, Any]:
    """Return the choices of the filter form: the workspace's accounts with their labels, and its agents."""
    accounts = selectors.selectable_accounts(caller=page.caller, workspace_id=page.workspace.id)
    agents = agents_of(caller=page.caller, workspace_id=page.workspace.id, limit=MAX_AGENTS).rows
    return {"accounts": [(account, _named(account)) for account in accounts], "agents": agents}


def _named(account: ConnectedAccount) -> str:
    sandbox = " (sandbox)" if account.sandbox else ""
    return f"{platform(account.platform).label}: {account.handle or account.external_id}{sandbox}"
