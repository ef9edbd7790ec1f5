"""Tests of DELETE /auth/api-keys/{id}."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from agents.models import ApiKey
from agents.services import issue_key
from config.db.ids import new_id
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.people import as_user
from workspaces.models import User, Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)


@pytest.fixture
def leaked(workspace: Workspace) -> ApiKey:
    """The key to revoke."""
    with time_machine.travel(NOON, tick=False):
        return issue_key(workspace_id=workspace.id, name="Leaked", scopes=["posts.read"]).api_key


def revoke(client: ApiClient, key: ApiKey, body: Any = None, **headers: str) -> Any:
    return client.delete(f"/auth/api-keys/{key.id}", body, **headers)


def still_works(key: ApiKey) -> bool:
    key.refresh_from_db()
    return key.revoked_at is None


def test_a_revoked_key_stops_at_once(api: ApiClient, workspace: Workspace) -> None:
    issued = issue_key(workspace_id=workspace.id, name="Leaked", scopes=["accounts.read"])
    client, path = ApiClient(issued.token), f"/accounts?workspace_id={workspace.id}"
    assert client.get(path).status_code == 200

    revoke(api, issued.api_key)

    assert_envelope(client.get(path), 401, "API_KEY_REVOKED")


def test_revoking_returns_the_key_and_can_be_repeated(api: ApiClient, leaked: ApiKey) -> None:
    with time_machine.travel(NOON, tick=False):
        first = revoke(api, leaked)
    with time_machine.travel(NOON + timedelta(hours=1), tick=False):
        again = revoke(api, leaked)

    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json() == again.json()
    assert first.json() == {
        "api_key": {
            "id": leaked.id,
            "workspace_id": leaked.workspace_id,
            "agent_id": None,
            "name": "Leaked",
            "prefix": leaked.prefix,
            "scopes": ["posts.read"],
            "status": "revoked",
            "created_at": "2027-03-10T12:00:00Z",
            "expires_at": None,
            "last_used_at": None,
            "allowed_networks": None,
        }
    }
    leaked.refresh_from_db()
    assert leaked.revoked_at == NOON


def test_an_agents_key_is_revoked_by_the_owners_key(api: ApiClient, workspace: Workspace) -> None:
    agent = factories.AgentFactory(workspace=workspace)
    issued = issue_key(workspace_id=workspace.id, name="Robot", scopes=(), agent=agent)

    body = revoke(api, issued.api_key).json()["api_key"]

    assert (body["agent_id"], body["status"]) == (agent.id, "revoked")
    assert_envelope(ApiClient(issued.token).get(f"/agents/{agent.id}"), 401, "API_KEY_REVOKED")


def test_a_key_may_revoke_itself(workspace: Workspace) -> None:
    issued = issue_key(workspace_id=workspace.id, name="Own", scopes=["api_keys.write"])
    client = ApiClient(issued.token)

    assert revoke(client, issued.api_key).status_code == 200
    assert_envelope(revoke(client, issued.api_key), 401, "API_KEY_REVOKED")


@pytest.mark.parametrize("where", ["body", "query"])
def test_a_dry_run_returns_a_preview_and_revokes_nothing(api: ApiClient, leaked: ApiKey, where: str) -> None:
    path = f"/auth/api-keys/{leaked.id}"
    with time_machine.travel(NOON, tick=False):
        answer = api.delete(path, {"dry_run": True}) if where == "body" else api.delete(f"{path}?dry_run=true")

    body = answer.json()
    assert (answer.status_code, set(body)) == (200, {"dry_run", "operation", "request", "plan_hash", "would_update"})
    assert (body["dry_run"], body["operation"], body["request"]) == (True, "api_keys.revoke", {})
    assert (body["would_update"]["id"], body["would_update"]["status"]) == (leaked.id, "revoked")
    assert still_works(leaked)


def test_contradicting_body_and_query_revoke_nothing(api: ApiClient, leaked: ApiKey) -> None:
    answer = api.delete(f"/auth/api-keys/{leaked.id}?dry_run=false", {"dry_run": True})

    assert assert_envelope(answer, 422, "VALIDATION_FAILED")["details"][0]["field"] == "dry_run"
    assert still_works(leaked)


def test_the_same_idempotency_key_gives_a_replay(api: ApiClient, leaked: ApiKey) -> None:
    first = revoke(api, leaked, idempotency_key="one")
    again = revoke(api, leaked, idempotency_key="one")

    assert (again.status_code, again["Idempotency-Replayed"], again.json()) == (200, "true", first.json())


def test_the_owner_may_revoke_and_members_and_agents_may_not(
    owner: User, leaked: ApiKey, teammate: User, agent_client: Callable[..., ApiClient]
) -> None:
    for client in (as_user(teammate), agent_client()):
        assert_envelope(revoke(client, leaked), 403, "FORBIDDEN")
    assert still_works(leaked)

    assert revoke(as_user(owner), leaked).status_code == 200
    assert not still_works(leaked)


def test_revoking_needs_the_scope(leaked: ApiKey, key_with: Callable[..., ApiClient]) -> None:
    assert_envelope(revoke(key_with("posts.publish"), leaked), 403, "SCOPE_MISSING")
    assert still_works(leaked)


def test_foreign_missing_and_malformed_ids_get_the_same_response(leaked: ApiKey, stranger: User) -> None:
    foreign_key = ApiClient(factories.workspace_key(stranger.owned_workspaces.get()))
    absent = [leaked, *(ApiKey(id=one) for one in (new_id("key"), "key_1", "%F0%9F%94%91"))]

    for client in (as_user(stranger), foreign_key):
        bodies = [assert_envelope(revoke(client, key), 404, "NOT_FOUND") | {"trace_id": ""} for key in absent]
        assert all(body == bodies[0] for body in bodies)
    assert still_works(leaked)


def test_a_key_of_a_paused_workspace_cannot_be_revoked(api: ApiClient, leaked: ApiKey) -> None:
    Workspace.objects.update(status="paused")

    assert_envelope(revoke(api, leaked), 403, "WORKSPACE_PAUSED")
    assert still_works(leaked)
