"""Rows and callers that the tests of webhooks start from."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from rest_framework.test import APIClient

from agents import tokens
from agents.models import Agent
from agents.services import issue_key
from config.api.caller import Mode
from config.db.ids import new_id
from webhooks import services
from webhooks.events import EventKind
from webhooks.models import Delivery, Event
from workspaces.models import Member, User, Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)


def make_workspace() -> Workspace:
    """A workspace with its owner as a member."""
    owner = make_user()
    workspace = Workspace.objects.create(name="Acme", slug=owner.id.replace("_", "-"), owner_user=owner)
    Member.objects.create(workspace=workspace, user=owner, role=Member.Role.OWNER)
    return workspace


def make_user() -> User:
    return User.objects.create_user(new_id("usr"))


def make_agent(workspace: Workspace, mode: Mode, *scopes: str) -> Agent:
    return Agent.objects.create(
        workspace=workspace,
        owner_user=workspace.owner_user,
        name="Herald",
        scopes=list(scopes),
        default_mode=mode,
    )


def emit(workspace: Workspace, url: str | None, **changes: Any) -> Event:
    """One event of a new post group."""
    fields = {
        "workspace_id": workspace.id,
        "kind": EventKind.PUBLISHED,
        "post_group_id": new_id("pgr"),
        "sequence": 1,
        "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736",
        "sandbox": False,
        "url": url,
        "data": {"post_group": {"text": "Grüße 🎈"}},
    }
    return services.emit(**{**fields, **changes})


def make_delivery(workspace: Workspace, url: str, **changes: Any) -> Delivery:
    """The delivery of one event."""
    return emit(workspace, url, **changes).deliveries.select_related("event").get()


def with_key(workspace: Workspace, *scopes: str) -> APIClient:
    """The API as a workspace key with these scopes sees it."""
    return _bearing(issue_key(workspace_id=workspace.id, name="ci", scopes=scopes).token)


def with_agent_key(agent: Agent) -> APIClient:
    """The API as this agent's key sees it."""
    return _bearing(issue_key(workspace_id=agent.workspace_id, name="agent", scopes=(), agent=agent).token)


def as_user(user: User) -> APIClient:
    """The API as this signed-in person sees it."""
    return _bearing(tokens.new_user_token(user.id))


def _bearing(token: str | None) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    return client
