"""Tests of GET /logs, as JSON."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import pytest
from pytest_django import DjangoAssertNumQueries

from auditlog.models import AuditEntry
from config.db.ids import new_id
from tests import factories
from tests.auditlog.rows import make_entry
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.people import as_user
from workspaces.models import User, Workspace


def list_entries(client: ApiClient, workspace: Workspace, **query: Any) -> Any:
    return client.get(f"/logs?{urlencode({'workspace_id': workspace.id, **query})}")


def ids(client: ApiClient, workspace: Workspace, **query: Any) -> list[str]:
    answer = list_entries(client, workspace, **query)
    assert answer.status_code == 200, answer.content
    return [entry["id"] for entry in answer.json()["logs"]]


def test_an_entry_has_all_fields_in_order(api: ApiClient, workspace: Workspace) -> None:
    entry = make_entry(
        workspace,
        actor_type="mcp",
        via="mcp",
        operation="posts.cancel",
        resource_type="post_group",
        resource_id="pgr_1",
        outcome="refused",
        code="INVALID_STATE",
        dry_run=True,
        ip="2001:db8::1",
        retention_tier="pro",
        metadata={"platform": "bluesky"},
        created_at=datetime(2027, 3, 10, 12, tzinfo=UTC),
    )

    body = list_entries(api, workspace).json()
    assert body == {
        "logs": [
            {
                "id": entry.id,
                "workspace_id": workspace.id,
                "actor_type": "mcp",
                "actor_id": "key_1",
                "via": "mcp",
                "operation": "posts.cancel",
                "resource_type": "post_group",
                "resource_id": "pgr_1",
                "outcome": "refused",
                "code": "INVALID_STATE",
                "dry_run": True,
                "ip": "2001:db8::1",
                "trace_id": "0" * 32,
                "retention_tier": "pro",
                "metadata": {"platform": "bluesky"},
                "created_at": "2027-03-10T12:00:00Z",
            }
        ],
        "next_cursor": None,
    }
    assert list(body["logs"][0])[-3:] == ["retention_tier", "metadata", "created_at"]


def test_a_callers_own_writes_can_be_read(api: ApiClient, workspace: Workspace) -> None:
    made = api.post("/auth/api-keys", {"workspace_id": workspace.id, "name": "A", "scopes": ["posts.read"]})

    [entry] = list_entries(api, workspace).json()["logs"]
    assert (entry["operation"], entry["resource_id"]) == ("api_keys.create", made.json()["api_key"]["id"])
    assert entry["trace_id"] == made["x-trace-id"]


def test_entries_come_newest_first_page_by_page(api: ApiClient, workspace: Workspace) -> None:
    made = [make_entry(workspace).id for _ in range(3)]

    first = list_entries(api, workspace, limit=2).json()
    second = list_entries(api, workspace, limit=2, cursor=first["next_cursor"]).json()

    assert [entry["id"] for entry in first["logs"] + second["logs"]] == made[::-1]
    assert second["next_cursor"] is None


def test_filters_combine(api: ApiClient, workspace: Workspace) -> None:
    user = make_entry(workspace, actor_type="user", actor_id="usr_1")
    old = make_entry(workspace, actor_type="user", actor_id="usr_1", retention_tier="pro")
    agent = make_entry(workspace, actor_type="agent", actor_id="agt_1")

    assert ids(api, workspace, actor_type="user") == [old.id, user.id]
    assert ids(api, workspace, actor_id="agt_1") == [agent.id]
    assert ids(api, workspace, actor_type="user", actor_id="usr_1", retention_tier="pro") == [old.id]
    assert ids(api, workspace, actor_type="agent", actor_id="usr_1") == []


@pytest.mark.parametrize("actor_type", ["user", "agent", "api_key", "cli", "mcp", "agent_runtime", "system"])
def test_every_actor_type_can_be_filtered(api: ApiClient, workspace: Workspace, actor_type: str) -> None:
    entry = make_entry(workspace, actor_type=actor_type)
    make_entry(workspace, actor_type="another")

    assert ids(api, workspace, actor_type=actor_type) == [entry.id]


def test_read_access_by_caller(
    workspace: Workspace, owner: User, teammate: User, stranger: User, key_with: Callable[..., ApiClient]
) -> None:
    entry = make_entry(workspace)
    make_entry(stranger.owned_workspaces.get())

    for client in (as_user(owner), as_user(teammate), key_with("logs.read")):
        assert ids(client, workspace) == [entry.id]
    assert_envelope(list_entries(key_with("posts.read", "usage.read"), workspace), 403, "SCOPE_MISSING")
    foreign = assert_envelope(list_entries(as_user(stranger), workspace), 404, "NOT_FOUND")
    absent = assert_envelope(list_entries(as_user(stranger), Workspace(id=new_id("wrk"))), 404, "NOT_FOUND")
    assert foreign | {"trace_id": ""} == absent | {"trace_id": ""}


def test_a_paused_workspaces_log_can_be_read_and_a_deleted_ones_cannot(owner: User, workspace: Workspace) -> None:
    entry = make_entry(workspace)

    Workspace.objects.update(status="paused")
    assert ids(as_user(owner), workspace) == [entry.id]
    Workspace.objects.update(status="deleted")
    assert_envelope(list_entries(as_user(owner), workspace), 404, "NOT_FOUND")


def test_reading_creates_no_entry(api: ApiClient, workspace: Workspace) -> None:
    list_entries(api, workspace)
    list_entries(api, workspace, format="csv").getvalue()
    list_entries(api, workspace, actor_type="nobody")

    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize(
    "query",
    [
        {"actor_type": "robot"},
        {"retention_tier": "gold"},
        {"format": "xml"},
        {"format": "CSV"},
        {"actor_id": "x" * 65},
        {"limit": "0"},
        {"cursor": "nonsense"},
        {"operation": "posts.create"},
        {"workspace_id": "wrk_1"},
    ],
    ids=lambda query: next(iter(query)),
)
def test_an_invalid_query_is_refused(api: ApiClient, workspace: Workspace, query: dict[str, str]) -> None:
    body = assert_envelope(list_entries(api, workspace, **query), 422, "VALIDATION_FAILED")

    assert [detail["field"] for detail in body["details"]] == list(query)


def test_the_workspace_must_be_named(api: ApiClient) -> None:
    body = assert_envelope(api.get("/logs"), 422, "VALIDATION_FAILED")

    assert [detail["field"] for detail in body["details"]] == ["workspace_id"]


def test_the_number_of_queries_does_not_depend_on_the_page_size(
    api: ApiClient, workspace: Workspace, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    factories.AgentFactory.create(workspace=workspace)
    ids(api, workspace)  # the key's last_used_at is written once a minute
    for _ in range(5):
        make_entry(workspace)

    with django_assert_num_queries(2):  # the key, the page
        assert len(ids(api, workspace)) == 5
