"""Tests of GET /auth/api-keys."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import time_machine
from pytest_django import DjangoAssertNumQueries

from agents.models import ApiKey
from agents.services import issue_key
from config.db.ids import new_id
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.people import as_user
from workspaces.models import User, Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)


def test_keys_in_every_status_are_listed_without_their_tokens(owner: User, workspace: Workspace) -> None:
    agent = factories.AgentFactory(workspace=workspace, scopes=["posts.draft"])
    with time_machine.travel(NOON, tick=False):
        plain = issue_key(workspace_id=workspace.id, name="Plain", scopes=["posts.read"])
        own = issue_key(workspace_id=workspace.id, name="Robot", scopes=(), agent=agent)
        gone = issue_key(workspace_id=workspace.id, name="Gone", scopes=["posts.read"], expires_at=NOON)
        stopped = issue_key(workspace_id=workspace.id, name="Stopped", scopes=["posts.read"])
        ApiKey.objects.filter(pk=own.api_key.pk).update(retiring_since=NOON, expires_at=NOON + timedelta(hours=1))
        ApiKey.objects.filter(pk=stopped.api_key.pk).update(revoked_at=NOON)
        factories.workspace_key(factories.WorkspaceFactory())
        answer = as_user(owner).get(f"/auth/api-keys?workspace_id={workspace.id}")

    rows = answer.json()["api_keys"]
    assert (answer.status_code, set(answer.json())) == (200, {"api_keys", "next_cursor"})
    assert [(row["id"], row["status"], row["scopes"]) for row in rows] == [
        (stopped.api_key.id, "revoked", ["posts.read"]),
        (gone.api_key.id, "expired", ["posts.read"]),
        (own.api_key.id, "retiring", ["posts.draft"]),
        (plain.api_key.id, "active", ["posts.read"]),
    ]
    assert rows[2] == {
        "id": own.api_key.id,
        "workspace_id": workspace.id,
        "agent_id": agent.id,
        "name": "Robot",
        "prefix": own.api_key.prefix,
        "scopes": ["posts.draft"],
        "status": "retiring",
        "created_at": "2027-03-10T12:00:00Z",
        "expires_at": "2027-03-10T13:00:00Z",
        "last_used_at": None,
        "allowed_networks": None,
    }
    for issued in (plain, own, gone, stopped):
        assert issued.token
        assert issued.token not in answer.content.decode()
        assert issued.api_key.token_sha256 not in answer.content.decode()


def test_each_page_needs_two_queries(
    api: ApiClient, workspace: Workspace, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(3):
        factories.agent_key(factories.AgentFactory(workspace=workspace))
    api.get("/capabilities")  # so that the key's last use is noted
    path, ids, cursor = f"/auth/api-keys?workspace_id={workspace.id}&limit=3", [], ""
    while cursor is not None:
        with django_assert_num_queries(2):
            body = api.get(path + cursor).json()
        ids += [row["id"] for row in body["api_keys"]]
        cursor = body["next_cursor"] and f"&cursor={body['next_cursor']}"

    assert ids == list(ApiKey.objects.order_by("-pk").values_list("pk", flat=True))


def test_listing_keys_needs_the_scope_and_is_refused_to_agents(
    workspace: Workspace, teammate: User, key_with: Callable[..., ApiClient], agent_client: Callable[..., ApiClient]
) -> None:
    path = f"/auth/api-keys?workspace_id={workspace.id}"

    assert key_with("api_keys.write").get(path).status_code == 200
    assert_envelope(key_with("posts.publish").get(path), 403, "SCOPE_MISSING")
    for client in (agent_client(), as_user(teammate)):
        assert_envelope(client.get(path), 403, "FORBIDDEN")


def test_a_foreign_and_a_missing_workspace_get_the_same_response(workspace: Workspace, stranger: User) -> None:
    foreign_key = ApiClient(factories.workspace_key(stranger.owned_workspaces.get()))

    for client in (as_user(stranger), foreign_key):
        bodies = [
            assert_envelope(client.get(f"/auth/api-keys?workspace_id={one}"), 404, "NOT_FOUND") | {"trace_id": ""}
            for one in (workspace.id, new_id("wrk"))
        ]
        assert bodies[0] == bodies[1]
