"""Users' access tokens at operations that need a recent sign-in (RFC 9470)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from agents.models import Agent, ApiKey
from auditlog.models import AuditEntry
from tests import factories
from tests.agents.oidc_calls import NOON, later
from tests.conftest import ApiClient
from tests.fakes.openid import FakeOpenIdProvider
from tests.people import as_user
from tests.workspaces.browsers import ALICE, person, use_provider
from workspaces.models import User, Workspace

NEEDED = ["api_keys.create", "api_keys.revoke", "agents.create", "agents.rotate_key", "agents.revoke"]
NEEDED += ["workspaces.delete", "users.delete"]


@pytest.fixture
def provider(db: None, settings: Any) -> Iterator[FakeOpenIdProvider]:
    with FakeOpenIdProvider() as fake, later():
        fake.add_person("alice", **ALICE)
        use_provider(settings, fake)
        yield fake


@pytest.fixture
def owned(provider: FakeOpenIdProvider) -> Workspace:
    """A workspace of alice with a key and an agent."""
    ApiClient(provider.access_token("alice")).get("/capabilities")
    workspace: Workspace = factories.WorkspaceFactory.create(owner_user=person(provider, "alice"))
    factories.workspace_key(workspace)
    factories.AgentFactory.create(workspace=workspace)
    return workspace


def call(client: ApiClient, operation: str, workspace: Workspace, **more: Any) -> Any:
    """Call an operation with arguments that would succeed."""
    key, agent = ApiKey.objects.filter(agent=None).latest("pk"), Agent.objects.latest("pk")
    mine = {"workspace_id": workspace.id}
    new_agent = {**mine, "owner_user_id": workspace.owner_user_id, "name": "Robot", "scopes": ["posts.read"]}
    calls: dict[str, tuple[str, str, dict[str, Any]]] = {
        "api_keys.create": ("POST", "/auth/api-keys", {**mine, "name": "Key", "scopes": ["posts.read"]}),
        "api_keys.revoke": ("DELETE", f"/auth/api-keys/{key.id}", {}),
        "agents.create": ("POST", "/agents", {**new_agent, "default_mode": "draft"}),
        "agents.rotate_key": ("POST", f"/agents/{agent.id}/rotate-key", {}),
        "agents.revoke": ("DELETE", f"/agents/{agent.id}", {}),
        "workspaces.delete": ("DELETE", f"/workspaces/{workspace.id}", {}),
        "users.delete": ("DELETE", f"/users/{workspace.owner_user_id}", {}),
    }
    method, path, body = calls[operation]
    return client.request(method, path, {**body, **more})


def of_alice(provider: FakeOpenIdProvider, minutes_ago: float | None) -> ApiClient:
    auth_time = None if minutes_ago is None else int(NOON.timestamp() - 60 * minutes_ago)
    return ApiClient(provider.access_token("alice", auth_time=auth_time))


def state() -> list[Any]:
    return [list(model._default_manager.order_by("pk").values()) for model in (ApiKey, Agent, Workspace, User)]


@pytest.mark.parametrize("operation", NEEDED)
@pytest.mark.parametrize("dry_run", [True, False])
def test_an_old_sign_in_is_refused_with_a_challenge(
    provider: FakeOpenIdProvider, owned: Workspace, operation: str, dry_run: bool
) -> None:
    before = state()
    answer = call(of_alice(provider, 10.1), operation, owned, dry_run=dry_run)

    assert (answer.status_code, answer.json()["code"]) == (401, "REAUTHENTICATION_REQUIRED")
    assert answer["WWW-Authenticate"] == 'Bearer error="insufficient_user_authentication", max_age="600"'
    assert state() == before
    assert AuditEntry.objects.get(operation=operation).code == "REAUTHENTICATION_REQUIRED"


@pytest.mark.parametrize("operation", NEEDED)
@pytest.mark.parametrize("minutes_ago", [10, None])
def test_a_recent_sign_in_or_no_auth_time_is_accepted(
    provider: FakeOpenIdProvider, owned: Workspace, operation: str, minutes_ago: float | None
) -> None:
    assert call(of_alice(provider, minutes_ago), operation, owned).status_code in (200, 201)


def test_a_setting_refuses_tokens_without_auth_time(provider: FakeOpenIdProvider, owned: Workspace, settings: Any) -> None:
    settings.OIDC_REQUIRE_AUTH_TIME = True

    assert call(of_alice(provider, None), "api_keys.create", owned).status_code == 401
    assert call(of_alice(provider, 1), "api_keys.create", owned).status_code == 201


@pytest.mark.parametrize("auth_time", ["yesterday", True, -5, 1e300, [1]])
def test_an_invalid_auth_time_is_ignored(
    provider: FakeOpenIdProvider, owned: Workspace, settings: Any, auth_time: Any
) -> None:
    client = ApiClient(provider.access_token("alice", auth_time=auth_time))
    assert call(client, "api_keys.create", owned).status_code == 201
    settings.OIDC_REQUIRE_AUTH_TIME = True

    assert call(client, "api_keys.create", owned).status_code == 401


def test_other_operations_need_no_recent_sign_in(provider: FakeOpenIdProvider, owned: Workspace) -> None:
    client = of_alice(provider, 600)
    body = {"workspace_id": owned.id, "text": "Hello", "targets": [], "dry_run": True}

    assert client.get(f"/agents?workspace_id={owned.id}").status_code == 200
    assert client.post("/posts", body).status_code != 401
    assert client.request("PATCH", f"/agents/{Agent.objects.get().id}", {"name": "Other"}).status_code == 200


def test_strangers_get_the_same_response_with_an_old_sign_in(provider: FakeOpenIdProvider, owned: Workspace) -> None:
    """The age of the sign-in must not change what a stranger sees."""
    foreign = factories.WorkspaceFactory.create()

    assert of_alice(provider, 600).delete(f"/workspaces/{foreign.id}").status_code == 404


def test_keys_and_development_tokens_need_no_recent_sign_in(workspace: Workspace, owner: User, api: ApiClient) -> None:
    body = {"workspace_id": workspace.id, "name": "Key", "scopes": ["posts.read"]}

    assert api.post("/auth/api-keys", body).status_code == 201
    assert as_user(owner).post("/auth/api-keys", body).status_code == 201
