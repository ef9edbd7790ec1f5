"""Tests of GET /agents/{agent_id}/logs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agents.models import Agent
from tests import factories
from tests.auditlog.rows import make_entry
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.people import as_user
from workspaces.models import User, Workspace


@pytest.fixture
def agent(workspace: Workspace) -> Agent:
    return factories.AgentFactory.create(workspace=workspace)


def ids(client: ApiClient, agent: Agent, query: str = "") -> list[str]:
    answer = client.get(f"/agents/{agent.id}/logs{query}")
    assert answer.status_code == 200, answer.content
    return [entry["id"] for entry in answer.json()["logs"]]


def test_an_agents_log_contains_only_its_own_writes(api: ApiClient, workspace: Workspace, agent: Agent) -> None:
    made = [make_entry(workspace, actor_type="agent", actor_id=agent.id).id for _ in range(3)]
    make_entry(workspace, actor_type="agent", actor_id="agt_other")
    make_entry(workspace, resource_type="agent", resource_id=agent.id)

    first = api.get(f"/agents/{agent.id}/logs?limit=2").json()
    assert [entry["id"] for entry in first["logs"]] == made[:0:-1]
    assert ids(api, agent, f"?cursor={first['next_cursor']}") == made[:1]


def test_an_agent_can_read_its_own_latest_entry(workspace: Workspace, agent: Agent) -> None:
    client = ApiClient(factories.agent_key(agent))
    client.post("/auth/api-keys", {"workspace_id": workspace.id, "name": "A", "scopes": ["posts.read"]})

    [entry] = client.get(f"/agents/{agent.id}/logs").json()["logs"]
    assert (entry["actor_type"], entry["actor_id"], entry["operation"]) == ("agent", agent.id, "api_keys.create")


def test_filter_by_tier_and_csv_format(api: ApiClient, workspace: Workspace, agent: Agent) -> None:
    make_entry(workspace, actor_id=agent.id)
    pro = make_entry(workspace, actor_id=agent.id, retention_tier="pro")

    assert ids(api, agent, "?retention_tier=pro") == [pro.id]
    file = api.get(f"/agents/{agent.id}/logs?retention_tier=pro&format=csv")
    assert file["content-disposition"] == f'attachment; filename="logs-{agent.id}.csv"'
    assert [line[:30] for line in file.getvalue().decode().splitlines()[1:]] == [pro.id]


def test_a_revoked_agents_log_can_be_read(api: ApiClient, workspace: Workspace, agent: Agent) -> None:
    entry = make_entry(workspace, actor_id=agent.id)
    Agent.objects.update(status="revoked")

    assert ids(api, agent) == [entry.id]


def test_read_access_by_caller(agent: Agent, teammate: User, stranger: User, key_with: Callable[..., ApiClient]) -> None:
    path = f"/agents/{agent.id}/logs"

    assert ids(key_with("logs.read"), agent) == ids(as_user(teammate), agent) == []
    assert_envelope(key_with("posts.read").get(path), 403, "SCOPE_MISSING")
    assert_envelope(as_user(stranger).get(path), 404, "NOT_FOUND")


@pytest.mark.parametrize("query", ["actor_id=agt_1", "actor_type=agent", "workspace_id=wrk_1", "format=xml"])
def test_filters_that_do_not_apply_to_one_agent_are_refused(api: ApiClient, agent: Agent, query: str) -> None:
    body = assert_envelope(api.get(f"/agents/{agent.id}/logs?{query}"), 422, "VALIDATION_FAILED")

    assert [detail["field"] for detail in body["details"]] == [query.partition("=")[0]]
