"""Agents: the list, a new key for one, and its end. Making and changing one is in config/home/agent_page.py."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone

from agents import selectors, services
from agents.models import OVERLAP_HOURS, ApiKey
from workspaces.frame import WorkspacePage, once, workspace_page

PER_PAGE = 50


@workspace_page()
def agents(page: WorkspacePage) -> HttpResponse:
    """The workspace's agents, the newest first."""
    found = selectors.agents_with_use(
        caller=page.caller,
        workspace_id=page.workspace.id,
        limit=PER_PAGE,
        cursor=page.request.GET.get("cursor"),
    )
    return page.render("agents/agents.html", agents=found.rows, next_cursor=found.next_cursor, now=timezone.now())


@workspace_page("POST", operation="agents.rotate_key")
def rotate(page: WorkspacePage, agent_id: str) -> HttpResponse:
    """Issue the agent a new key; the answer shows it, which no page shows again."""
    agent = selectors.agent_with_use(caller=page.caller, workspace_id=page.workspace.id, agent_id=agent_id)
    issued: list[services.KeyRotated] = []

    def issue() -> ApiKey:
        issued.append(services.rotate_key(caller=page.caller, agent_id=agent.id))
        return issued[0].api_key

    _, repeated = once(page, "agents.rotate_key", issue)
    if repeated:
        return page.done("That key was made already, and was shown then.", "agent", agent_id=agent.id)
    [rotated] = issued
    return page.render(
        "agents/key_rotated.html",
        agent=agent,
        api_key=rotated.api_key,
        token=rotated.token,
        retiring_key=rotated.retiring_key,
        overlap_hours=OVERLAP_HOURS,
        base_url=settings.BASE_URL,
    )


@workspace_page("POST", operation="agents.revoke")
def revoke(page: WorkspacePage, agent_id: str) -> HttpResponse:
    """End the agent and its keys for good."""
    agent = selectors.agent_with_use(caller=page.caller, workspace_id=page.workspace.id, agent_id=agent_id)
    services.revoke_agent(caller=page.caller, agent_id=agent.id)
    return page.done(f"{agent.name} is revoked: its keys open nothing any more.", "agents")
