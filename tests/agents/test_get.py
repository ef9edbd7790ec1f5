"""Tests of GET /agents/{id}."""

from __future__ import annotations

from collections.abc import Callable

from agents.models import Agent
from config.db.ids import new_id
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.people import as_user
from workspaces.models import User, Workspace


def make_agent(workspace: Workspace) -> Agent:
    agent: Agent = factories.AgentFactory(
        workspace=workspace,
        name="Herald",
        scopes=["posts.read"],
        default_mode="requires_confirmation",
        posts_per_day_cap=3,
        webhook_url="https://example.com/hook",
    )
    return agent


def test_an_agent_is_returned_with_its_settings(api: ApiClient, workspace: Workspace) -> None:
    agent = make_agent(workspace)

    answer = api.get(f"/agents/{agent.id}")

    assert answer.status_code == 200
    assert answer.json() == {
        "agent": {
            "id": agent.id,
            "workspace_id": workspace.id,
            "name": "Herald",
            "scopes": ["posts.read"],
            "default_mode": "requires_confirmation",
            "status": "active",
        },
        "settings": {
            "version": None,
            "description": None,
            "account_allowlist": None,
            "rate_limit_per_minute": None,
            "posts_per_day_cap": 3,
            "monthly_spend_cap_cents": None,
            "monthly_social_url_post_cap": None,
            "webhook_url": "https://example.com/hook",
            "showcase_opt_in": False,
        },
    }


def test_any_key_and_any_member_of_the_workspace_may_read(
    owner: User,
    workspace: Workspace,
    teammate: User,
    key_with: Callable[..., ApiClient],
    agent_client: Callable[..., ApiClient],
) -> None:
    agent = make_agent(workspace)

    for client in (key_with("posts.draft"), agent_client(["media.upload"]), as_user(owner), as_user(teammate)):
        assert client.get(f"/agents/{agent.id}").json()["agent"]["id"] == agent.id


def test_revoked_agents_and_agents_of_paused_workspaces_can_be_read(api: ApiClient, workspace: Workspace) -> None:
    agent = make_agent(workspace)
    Agent.objects.update(status="revoked")
    Workspace.objects.update(status="paused")

    assert api.get(f"/agents/{agent.id}").json()["agent"]["status"] == "revoked"


def test_foreign_missing_and_malformed_ids_get_the_same_response(workspace: Workspace, stranger: User) -> None:
    agent = make_agent(workspace)
    foreign_key = ApiClient(factories.workspace_key(stranger.owned_workspaces.get()))

    for client in (as_user(stranger), foreign_key):
        bodies = [
            assert_envelope(client.get(f"/agents/{one}"), 404, "NOT_FOUND") | {"trace_id": ""}
            for one in (agent.id, new_id("agt"), "agt_1", "%F0%9F%A4%96", workspace.id)
        ]
        assert all(body == bodies[0] for body in bodies)


def test_an_agent_of_a_deleted_workspace_does_not_exist(owner: User, workspace: Workspace) -> None:
    agent = make_agent(workspace)
    Workspace.objects.update(status="deleted")

    assert_envelope(as_user(owner).get(f"/agents/{agent.id}"), 404, "NOT_FOUND")


def test_reading_an_agent_needs_a_token(workspace: Workspace) -> None:
    assert_envelope(ApiClient().get(f"/agents/{make_agent(workspace).id}"), 401, "UNAUTHENTICATED")
