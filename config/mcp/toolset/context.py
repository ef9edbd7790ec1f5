"""The MCP tool `context`: tells the caller its workspace, what it may do there, what is left of its caps, and accounts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from zoneinfo import ZoneInfo

from django.utils import timezone

from accounts.models import ConnectedAccount
from accounts.platforms.registry import get_adapter
from accounts.platforms.types import Capabilities, MediaRules
from accounts.selectors import page_of_accounts
from agents.models import Agent
from config.api.caller import AgentMode, Caller, require_access
from config.mcp.answers import OUTSIDE_TEXT_NOTE, format_local_time
from config.mcp.declaration import Tool, only_workspace_id_of_caller
from config.mcp.toolset.usage import caps_left
from workspaces.models import Workspace

SHOWN_ACCOUNTS = 50
MODE_SENTENCES = {
    AgentMode.DRY_RUN: "You may plan; commit_plan changes nothing.",
    AgentMode.DRAFT: "You may only make drafts: plan_post with draft: true. A person releases them.",
    AgentMode.REQUIRES_CONFIRMATION: "You may plan and commit. A person approves each post at approval_url first.",
    AgentMode.ALLOW_PUBLISH: "You may publish within your caps. Posts go out without further approval.",
}
MEDIA_KINDS = ("images", "gifs", "videos", "documents")


def context(caller: Caller) -> dict[str, Any]:
    """Run the MCP tool `context`: return what the caller must know to plan; `missing_scopes` says what it may not know."""
    workspace_id, now = only_workspace_id_of_caller(caller), timezone.now()
    require_access(caller, workspace_id, None, write=False)
    workspace = Workspace.objects.get(pk=workspace_id)
    zone = ZoneInfo(workspace.default_timezone)
    missing = [scope for scope in ("accounts.read", "usage.read") if not caller.has_scope(scope)]
    accounts = _accounts(caller, workspace_id) if "accounts.read" not in missing else {}
    return {
        "note": OUTSIDE_TEXT_NOTE,
        "now": {"utc": now.isoformat(timespec="seconds"), "local": format_local_time(now, zone)},
        "workspace": {
            "id": workspace.id,
            "name": workspace.name,
            "timezone": zone.key,
            "status": workspace.status,
        },
        "you": _caller_json(caller),
        "caps": caps_left(caller, workspace_id, now) if "usage.read" not in missing else None,
        **accounts,
        "missing_scopes": missing,
        "next": "Plan with plan_post, read the plan, then commit_plan.",
    }


def _caller_json(caller: Caller) -> dict[str, Any]:
    shown: dict[str, Any] = {"kind": caller.kind, "mode": caller.mode, "mode_means": MODE_SENTENCES[AgentMode(caller.mode)]}
    if caller.agent_id:
        name = Agent.objects.values_list("name", flat=True).get(pk=caller.agent_id)
        shown = {"agent_id": caller.agent_id, "name": name, **shown}
    return {**shown, "scopes": sorted(caller.scopes)}


def _accounts(caller: Caller, workspace_id: str) -> dict[str, Any]:
    """Return, for the MCP tool `context`, the accounts to which the caller may post, and the options of their platforms."""
    allowed: dict[str, Any] = {} if caller.account_allowlist is None else {"pk__in": caller.account_allowlist}
    page = page_of_accounts(caller=caller, workspace_id=workspace_id, limit=SHOWN_ACCOUNTS, **allowed)
    capabilities = {
        account: get_adapter(account.platform).capabilities_for(account.id_limits_and_scopes()) for account in page.rows
    }
    options = {account.platform: _options(taken.options) for account, taken in capabilities.items()}
    return {
        "accounts": [_account_json(account, taken) for account, taken in capabilities.items()],
        "more_accounts": page.next_cursor is not None,
        "options": options,
    }


def _account_json(account: ConnectedAccount, taken: Capabilities) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "account_id": account.id,
        "platform": account.platform,
        "handle": account.handle,
        "name": account.display_name,
        "status": account.status,
        "sandbox": account.sandbox,
        "takes": {
            "text": f"up to {taken.text.max_length} {taken.text.counted_as}",
            "media": _media(taken.media),
            "features": list(taken.features),
        },
    }
    if taken.thread:
        shown["takes"]["thread"] = f"up to {taken.thread.max_segments} posts"
    if taken.withheld_options:
        shown["takes"]["not_for_this_account"] = sorted(taken.withheld_options)
    return shown


def _media(rules: MediaRules) -> str:
    if not rules.max_count:
        return "none"
    kinds = [f"{each.max_count} {name}" for name in MEDIA_KINDS if (each := getattr(rules, name))]
    return f"{'required: ' if rules.required else ''}up to {' or '.join(kinds)}"


def _options(schema: Mapping[str, Any]) -> Any:
    """Shorten the JSON Schema of a platform's options for the MCP tool `context`: each option's values, or its type."""
    if properties := schema.get("properties"):
        return {name: _options(each) for name, each in properties.items()}
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if schema.get("type") == "array":
        return [_options(schema.get("items", {}))]
    return schema.get("type", "see the error of a wrong value")


_OBJECT = {"type": "object"}
CONTEXT = Tool(
    name="context",
    title="Workspace, limits and accounts",
    description="Read this first: the workspace and its time zone, what you may do, what is left of your caps, and the "
    "accounts to post to, each with its id and with what it takes.",
    output={
        "workspace": _OBJECT,
        "you": {"type": "object", "properties": {"mode": {"type": "string"}, "mode_means": {"type": "string"}}},
        "caps": {"type": ["object", "null"]},
        "accounts": {"type": "array", "items": {"type": "object", "properties": {"account_id": {"type": "string"}}}},
        "options": {"type": "object", "description": "The options of targets, by platform."},
        "next": {"type": "string"},
    },
    run=context,
)
