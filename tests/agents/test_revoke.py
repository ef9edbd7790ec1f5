"""Tests of DELETE /agents/{id}."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from agents import tokens
from agents.models import Agent, ApiKey, ClaimToken
from auditlog.models import AuditEntry
from config.db.ids import new_id
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.in_threads import in_threads
from tests.people import as_user
from tests.plan_hashes import ANY_PLAN_HASH
from workspaces.models import User, Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)


@pytest.fixture
def agent(workspace: Workspace) -> Agent:
    made: Agent = factories.AgentFactory(workspace=workspace, name="Herald", scopes=["posts.read"])
    return made


def revoke(client: ApiClient, agent: Agent, body: Any = None, **headers: str) -> Any:
    return client.delete(f"/agents/{agent.id}", body, **headers)


def claim_token_of(agent: Agent) -> str:
    token = tokens.generate_token(tokens.CLAIM_TOKEN_PREFIX)
    ClaimToken.objects.create(
        agent=agent, token_sha256=tokens.token_digest(token), expires_at=datetime(2100, 1, 1, tzinfo=UTC)
    )
    return token


def test_a_revoked_agents_keys_and_claim_token_stop_at_once(api: ApiClient, agent: Agent) -> None:
    robot, second, claim_token = factories.agent_key(agent), factories.agent_key(agent), claim_token_of(agent)
    other = ApiClient(factories.agent_key(factories.AgentFactory(workspace=agent.workspace)))

    revoke(api, agent)

    for token in (robot, second):
        assert_envelope(ApiClient(token).get("/capabilities"), 401, "API_KEY_REVOKED")
    for bearer in (claim_token, api.token):
        claim = ApiClient(bearer).post("/agents/claim", {"claim_token": claim_token})
        assert_envelope(claim, 409, "CLAIM_TOKEN_USED")
    keys = api.get(f"/auth/api-keys?workspace_id={agent.workspace_id}").json()["api_keys"]
    assert {key["status"] for key in keys if key["agent_id"] == agent.id} == {"revoked"}
    assert other.get("/capabilities").status_code == 200


def test_revoking_returns_the_agent_and_can_be_repeated(api: ApiClient, agent: Agent) -> None:
    factories.agent_key(agent)
    with time_machine.travel(NOON, tick=False):
        first = revoke(api, agent)
    with time_machine.travel(NOON + timedelta(hours=1), tick=False):
        again = revoke(api, agent)

    for answer in (first, again):
        assert (answer.status_code, answer.json()) == (
            200,
            {
                "agent": {
                    "id": agent.id,
                    "workspace_id": agent.workspace_id,
                    "name": "Herald",
                    "scopes": ["posts.read"],
                    "default_mode": "allow_publish",
                    "status": "revoked",
                }
            },
        )
    assert ApiKey.objects.get(agent=agent).revoked_at == NOON
    entry = AuditEntry.objects.filter(operation="agents.revoke").first()
    assert entry
    assert (entry.resource_type, entry.resource_id, entry.dry_run) == ("agent", agent.id, False)


@pytest.mark.parametrize("where", ["body", "query"])
def test_a_dry_run_returns_a_preview_and_revokes_nothing(api: ApiClient, agent: Agent, where: str) -> None:
    robot, path = ApiClient(factories.agent_key(agent)), f"/agents/{agent.id}"
    claim_token_of(agent)
    answer = api.delete(path, {"dry_run": True}) if where == "body" else api.delete(f"{path}?dry_run=true")

    body = answer.json()
    shown = body.pop("would_update")
    assert (answer.status_code, body) == (
        200,
        {"dry_run": True, "plan_hash": ANY_PLAN_HASH, "operation": "agents.revoke", "request": {}},
    )
    assert (shown["id"], shown["status"]) == (agent.id, "revoked")
    assert robot.get(path).json()["agent"] == {**shown, "status": "active"}
    assert ClaimToken.objects.get().burned_at is None


def test_the_same_idempotency_key_gives_a_replay(api: ApiClient, agent: Agent) -> None:
    first, again = (revoke(api, agent, idempotency_key="one") for _ in range(2))

    assert (again.status_code, again["Idempotency-Replayed"], again.json()) == (200, "true", first.json())


def test_the_owner_is_allowed_and_members_and_agents_are_refused(
    owner: User, agent: Agent, teammate: User, agent_client: Callable[..., ApiClient], key_with: Callable[..., ApiClient]
) -> None:
    for client in (as_user(teammate), agent_client()):
        assert_envelope(revoke(client, agent), 403, "FORBIDDEN")
    for client in (key_with("posts.publish"), ApiClient(factories.agent_key(agent))):
        assert_envelope(revoke(client, agent), 403, "SCOPE_MISSING")
    agent.refresh_from_db()
    assert agent.status == "active"

    assert revoke(as_user(owner), agent).status_code == 200


def test_foreign_missing_and_malformed_ids_get_the_same_response(agent: Agent, stranger: User) -> None:
    foreign_key = ApiClient(factories.workspace_key(stranger.owned_workspaces.get()))

    for client in (as_user(stranger), foreign_key):
        bodies = [
            assert_envelope(revoke(client, one), 404, "NOT_FOUND") | {"trace_id": ""}
            for one in (agent, Agent(id=new_id("agt")), Agent(id="agt_1"))
        ]
        assert all(body == bodies[0] for body in bodies)
    assert Agent.objects.get().status == "active"


def test_an_agent_of_a_paused_workspace_cannot_be_revoked(api: ApiClient, agent: Agent) -> None:
    Workspace.objects.update(status="paused")

    assert_envelope(revoke(api, agent), 403, "WORKSPACE_PAUSED")
    assert Agent.objects.get().status == "active"


@pytest.mark.django_db(transaction=True)
def test_a_concurrent_claim_leaves_no_working_key(api: ApiClient, workspace: Workspace) -> None:
    for _ in range(4):
        agent = factories.AgentFactory(workspace=workspace)
        claim_token = claim_token_of(agent)

        def work(n: int, agent: Agent = agent, claim_token: str = claim_token) -> Any:
            if n == 0:
                return revoke(api, agent)
            return ApiClient(claim_token).post("/agents/claim", {"claim_token": claim_token})

        revoked, claimed = in_threads(2, work)
        assert revoked.status_code == 200
        assert claimed.status_code in (200, 409)
        assert not ApiKey.objects.filter(agent=agent, revoked_at=None).exists()
