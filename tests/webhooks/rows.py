"""Helpers to create events, deliveries and API clients in tests."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from agents.models import Agent
from config.db.ids import new_id
from tests import factories
from tests.conftest import ApiClient
from webhooks import services
from webhooks.event_kinds import EventKind
from webhooks.models import Delivery, Event
from workspaces.models import User, Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)


def emit(workspace: Workspace, url: str | None, **changes: Any) -> Event:
    """Emit one event of a new post group."""
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
    services.store_events_with_deliveries([services.NewEvent(**{**fields, **changes})])
    return Event.objects.order_by("-id")[0]


def make_delivery(workspace: Workspace, url: str) -> Delivery:
    """Emit one event and return its delivery."""
    return emit(workspace, url).deliveries.select_related("event").get()


def with_key(workspace: Workspace, *scopes: str) -> ApiClient:
    """Return an API client with a workspace key that has these scopes."""
    return ApiClient(factories.workspace_key(workspace, scopes))


def with_agent_key(workspace: Workspace, mode: str, *scopes: str) -> ApiClient:
    """Return an API client with an agent's key."""
    agent: Agent = factories.AgentFactory.create(workspace=workspace, default_mode=mode, scopes=list(scopes))
    return ApiClient(factories.agent_key(agent))


def as_user(user: User) -> ApiClient:
    """Return an API client with this signed-in user."""
    return ApiClient(factories.user_token(user))
