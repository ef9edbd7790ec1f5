"""The MCP tool `usage`, and the caps of the calling agent and its workspace, which the tool `context` shows too."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.utils import timezone

from agents.selectors import get_accessible_agent
from billing.caps import SpendCapStatus
from billing.selectors import agent_spend_cap_status, day_and_month_post_counts_of_agent, workspace_spend_cap_status
from billing.serializers import AgentUsageSerializer, SpendCapSerializer, UsageSerializer
from billing.usage_selectors import agent_month_usage, workspace_month_usage
from config.api.caller import Caller
from config.api.serializers import shared_serializer_instance
from config.mcp.answers import price_in_words
from config.mcp.declaration import Tool, only_workspace_id_of_caller


def _spend_cap_json(cap: SpendCapStatus) -> dict[str, Any]:
    """Return what is left of a spend cap this month, in cents and in words, for the MCP tool `usage`."""
    shown = dict(shared_serializer_instance(SpendCapSerializer).to_representation(cap))
    left = cap.remaining_cents
    return {**shown, "remaining": "no limit" if left is None else price_in_words(left)}


def caps_left(caller: Caller, workspace_id: str, at: datetime) -> dict[str, Any]:
    """Return what is left of the caps of the workspace and of a calling agent, for the MCP tools `usage` and `context`."""
    caps = {"workspace": _spend_cap_json(workspace_spend_cap_status(workspace_id=workspace_id, at=at))}
    if caller.agent_id is None:
        return caps
    own = agent_spend_cap_status(workspace_id=workspace_id, agent_id=caller.agent_id, at=at)
    agent, used = (
        get_accessible_agent(caller=caller, agent_id=caller.agent_id),
        day_and_month_post_counts_of_agent(agent_id=caller.agent_id, at=at),
    )
    return {
        **caps,
        "agent": _spend_cap_json(own),
        "posts_left_today": _left(agent.posts_per_day_cap, used.targets_of_day),
        "posts_with_url_left_this_month": _left(agent.monthly_social_url_post_cap, used.url_posts_of_month),
    }


def _left(cap: int | None, used: int) -> int | None:
    """Return what is left of a cap, for the MCP tool `usage`; None if there is no cap."""
    return None if cap is None else max(0, cap - used)


def usage(caller: Caller) -> dict[str, Any]:
    """Run the MCP tool `usage`: return this month's usage of the calling agent, or of the workspace for other callers."""
    workspace_id, now = only_workspace_id_of_caller(caller), timezone.now()
    if caller.agent_id:
        used = agent_month_usage(caller=caller, agent_id=caller.agent_id, at=now)
    else:
        cap_cents = workspace_spend_cap_status(workspace_id=workspace_id, at=now).cap_cents
        used = workspace_month_usage(caller=caller, workspace_id=workspace_id, at=now, cap_cents=cap_cents)
    serializer: type[UsageSerializer] = AgentUsageSerializer if caller.agent_id else UsageSerializer
    shown = dict(shared_serializer_instance(serializer).to_representation(used))
    spent = price_in_words(shown["totals"]["spend_cents"])
    return {**shown, "spent": spent, "caps_left": caps_left(caller, workspace_id, now)}


_OBJECT = {"type": "object"}
USAGE = Tool(
    name="usage",
    title="Usage and spend cap",
    description="Read what this UTC month has cost, for an agent its own share, and what is left of the caps.",
    output={
        "period_start": {"type": "string"},
        "period_end": {"type": "string"},
        "totals": _OBJECT,
        "spend_cap": {"type": "object", "description": "In US cents; cap_cents null: no cap."},
        "spent": {"type": "string"},
        "caps_left": _OBJECT,
    },
    run=usage,
    scope="usage.read",
)
