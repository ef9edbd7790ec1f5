"""Tests of GET /agents."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pytest_django import DjangoAssertNumQueries

from config.db.ids import new_id
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.people import as_user
from workspaces.models import User, Workspace


def test_agents_are_listed_newest_first_including_revoked_ones(api: ApiClient, workspace: Workspace) -> None:
    first = factories.AgentFactory(workspace=workspace, name="First", scopes=["posts.read"], default_mode="draft")
    second = factories.AgentFactory(workspace=workspace, name="Second", scopes=["posts.read"], status="revoked")
    factories.AgentFactory()

    answer = api.get(f"/agents?workspace_id={workspace.id}")

    shared = {"workspace_id": workspace.id, "scopes": ["posts.read"]}
    assert (answer.status_code, answer.json()) == (
        200,
        {
            "agents": [
                {"id": second.id, "name": "Second", "default_mode": "allow_publish", "status": "revoked", **shared},
                {"id": first.id, "name": "First", "default_mode": "draft", "status": "active", **shared},
            ],
            "next_cursor": None,
        },
    )


def test_pagination_returns_every_row_once(
    api: ApiClient, workspace: Workspace, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    made = [factories.AgentFactory(workspace=workspace).id for _ in range(3)]
    api.get("/capabilities")  # so that the key's last use is noted
    with django_assert_num_queries(2):
        first = api.get(f"/agents?workspace_id={workspace.id}&limit=2").json()
    second = api.get(f"/agents?workspace_id={workspace.id}&limit=2&cursor={first['next_cursor']}").json()

    assert [[agent["id"] for agent in page["agents"]] for page in (first, second)] == [[made[2], made[1]], [made[0]]]
    assert second["next_cursor"] is None


def test_any_key_and_any_member_of_the_workspace_may_read(
    owner: User,
    workspace: Workspace,
    teammate: User,
    key_with: Callable[..., ApiClient],
    agent_client: Callable[..., ApiClient],
) -> None:
    robot = agent_client(["media.upload"])
    Workspace.objects.update(status="paused")

    for client in (key_with("posts.draft"), robot, as_user(owner), as_user(teammate)):
        assert len(client.get(f"/agents?workspace_id={workspace.id}").json()["agents"]) == 1


def test_a_foreign_and_a_missing_workspace_get_the_same_response(workspace: Workspace, stranger: User) -> None:
    foreign_key = ApiClient(factories.workspace_key(stranger.owned_workspaces.get()))

    for client in (as_user(stranger), foreign_key):
        bodies = [
            assert_envelope(client.get(f"/agents?workspace_id={one}"), 404, "NOT_FOUND") | {"trace_id": ""}
            for one in (workspace.id, new_id("wrk"))
        ]
        assert bodies[0] == bodies[1]


@pytest.mark.parametrize(
    ("query", "field"),
    [("", "workspace_id"), ("workspace_id=nonsense", "workspace_id"), ("limit=0", "limit"), ("cursor=x", "cursor")],
)
def test_an_invalid_parameter_is_named_in_the_error(api: ApiClient, workspace: Workspace, query: str, field: str) -> None:
    which = "" if field == "workspace_id" else f"workspace_id={workspace.id}&"
    body = assert_envelope(api.get(f"/agents?{which}{query}"), 422, "VALIDATION_FAILED")

    assert [detail["field"] for detail in body["details"]] == [field]
