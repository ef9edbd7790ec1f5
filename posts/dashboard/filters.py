"""What lists of posts can be narrowed by."""

from __future__ import annotations

from typing import Any

from accounts.models import ConnectedAccount
from accounts.platforms.registry import platform
from agents.selectors import agents_of
from posts import selectors
from workspaces.workspace_page import WorkspacePage

MAX_AGENTS = 200


def chosen_filters(page: WorkspacePage) -> dict[str, Any]:
    """The account and the agent that the address names."""
    asked = page.request.GET
    return {"account_id": asked.get("account") or None, "agent_id": asked.get("agent") or None}


def filter_choices(page: WorkspacePage) -> dict[str, Any]:
    """The workspace's accounts, each with its name, and its agents: two queries."""
    accounts = selectors.selectable_accounts(caller=page.caller, workspace_id=page.workspace.id)
    agents = agents_of(caller=page.caller, workspace_id=page.workspace.id, limit=MAX_AGENTS).rows
    return {"accounts": [(account, _named(account)) for account in accounts], "agents": agents}


def _named(account: ConnectedAccount) -> str:
    sandbox = " (sandbox)" if account.sandbox else ""
    return f"{platform(account.platform).label}: {account.handle or account.external_id}{sandbox}"
