"""Tests of POST /agents/claim."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from agents import tokens
from agents.models import Agent, ApiKey, ClaimToken
from auditlog.models import AuditEntry
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.in_threads import in_threads
from workspaces.models import User, Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)


@pytest.fixture
def agent(workspace: Workspace) -> Agent:
    made: Agent = factories.AgentFactory(workspace=workspace, name="Herald", scopes=["posts.read"])
    return made


@pytest.fixture
def claim_token(agent: Agent) -> str:
    token = tokens.generate_token(tokens.CLAIM_TOKEN_PREFIX)
    ClaimToken.objects.create(
        agent=agent, token_sha256=tokens.token_digest(token), created_at=NOON, expires_at=NOON + timedelta(hours=24)
    )
    return token


def claim(token: str, *, bearer: str | None = None, at: datetime = NOON, **headers: str) -> Any:
    with time_machine.travel(at, tick=False):
        return ApiClient(bearer or token).post("/agents/claim", {"claim_token": token}, **headers)


def test_a_claim_token_alone_is_exchanged_for_the_agents_key(agent: Agent, claim_token: str) -> None:
    answer = claim(claim_token)

    body, key = answer.json(), ApiKey.objects.get(agent=agent)
    token = body.pop("token")
    assert answer.status_code == 200
    assert body == {
        "agent": {
            "id": agent.id,
            "workspace_id": agent.workspace_id,
            "name": "Herald",
            "scopes": ["posts.read"],
            "default_mode": "allow_publish",
            "status": "active",
        },
        "api_key": {
            "id": key.id,
            "workspace_id": agent.workspace_id,
            "agent_id": agent.id,
            "name": "Herald",
            "prefix": token[:12],
            "scopes": ["posts.read"],
            "status": "active",
            "created_at": "2027-03-10T12:00:00Z",
            "expires_at": None,
            "last_used_at": None,
            "allowed_networks": None,
        },
    }
    assert re.fullmatch("sps_agt_[0-9A-Za-z]{49}", token)
    assert ApiClient(token).get(f"/agents/{agent.id}").status_code == 200


def test_the_issued_key_has_the_default_expiry(agent: Agent, claim_token: str, settings: Any) -> None:
    settings.API_KEY_DEFAULT_DAYS = 90

    assert claim(claim_token).json()["api_key"]["expires_at"] == "2027-06-08T12:00:00Z"


@pytest.mark.parametrize("who", ["a key", "an agent", "the owner", "a teammate"])
def test_a_caller_of_the_workspace_may_send_a_claim_token(
    claim_token: str, agent: Agent, owner: User, teammate: User, who: str
) -> None:
    with time_machine.travel(NOON, tick=False):
        bearers = {
            "a key": factories.workspace_key(agent.workspace, ["posts.read"]),
            "an agent": factories.agent_key(factories.AgentFactory.create(workspace=agent.workspace)),
            "the owner": factories.user_token(owner),
            "a teammate": factories.user_token(teammate),
        }

    assert claim(claim_token, bearer=bearers[who]).json()["agent"]["id"] == agent.id


def test_a_key_of_another_workspace_cannot_use_a_claim_token(claim_token: str, agent: Agent, stranger: User) -> None:
    elsewhere = stranger.owned_workspaces.get()
    own = tokens.generate_token(tokens.CLAIM_TOKEN_PREFIX)
    ClaimToken.objects.create(
        agent=factories.AgentFactory.create(workspace=elsewhere),
        token_sha256=tokens.token_digest(own),
        expires_at=NOON + timedelta(hours=24),
    )
    foreign_agent = factories.agent_key(factories.AgentFactory.create(workspace=elsewhere))

    for bearer in (factories.workspace_key(elsewhere), foreign_agent, own):
        refused = assert_envelope(claim(claim_token, bearer=bearer), 422, "CLAIM_TOKEN_INVALID")
        unknown = assert_envelope(
            claim(tokens.generate_token(tokens.CLAIM_TOKEN_PREFIX), bearer=bearer), 422, "CLAIM_TOKEN_INVALID"
        )
        assert refused | {"trace_id": ""} == unknown | {"trace_id": ""}
    assert not ClaimToken.objects.exclude(burned_at=None).exists()
    assert not ApiKey.objects.filter(agent=agent).exists()
    assert claim(claim_token).status_code == 200


def test_a_key_of_another_workspace_gets_no_replay_of_a_claim(claim_token: str, stranger: User) -> None:
    foreign = factories.workspace_key(stranger.owned_workspaces.get())
    assert claim(claim_token, idempotency_key="one").status_code == 200

    assert_envelope(claim(claim_token, bearer=foreign, idempotency_key="one"), 422, "CLAIM_TOKEN_INVALID")


def test_a_claim_needs_a_bearer_token(claim_token: str) -> None:
    assert_envelope(ApiClient().post("/agents/claim", {"claim_token": claim_token}), 401, "UNAUTHENTICATED")
    assert not ApiKey.objects.exists()


def test_a_claim_token_is_valid_for_24_hours(claim_token: str) -> None:
    assert_envelope(claim(claim_token, at=NOON + timedelta(hours=24)), 410, "CLAIM_TOKEN_EXPIRED")
    assert not ApiKey.objects.exists()

    assert claim(claim_token, at=NOON + timedelta(hours=24, seconds=-1)).status_code == 200


def test_a_claim_token_works_only_once(claim_token: str, api: ApiClient) -> None:
    claim(claim_token)

    for bearer in (None, api.token):
        assert_envelope(claim(claim_token, bearer=bearer), 409, "CLAIM_TOKEN_USED")
    assert_envelope(claim(claim_token, at=NOON + timedelta(days=2)), 409, "CLAIM_TOKEN_USED")
    assert ApiKey.objects.exclude(agent=None).count() == 1


def test_an_unknown_token_is_invalid(api: ApiClient, claim_token: str) -> None:
    mistyped = claim_token[:-1] + ("a" if claim_token[-1] != "a" else "b")

    for token in (tokens.generate_token(tokens.CLAIM_TOKEN_PREFIX), mistyped, api.token or "", "sps_clm_", "é", "x" * 200):
        assert_envelope(claim(token, bearer=api.token), 422, "CLAIM_TOKEN_INVALID")
    assert_envelope(claim(tokens.generate_token(tokens.CLAIM_TOKEN_PREFIX)), 401, "UNAUTHENTICATED")
    assert not ApiKey.objects.exclude(agent=None).exists()


@pytest.mark.parametrize("body", [{}, {"claim_token": 1}, {"claim_token": ""}, {"claim_token": "x" * 201}])
def test_a_body_without_a_token_is_refused(api: ApiClient, body: dict[str, Any]) -> None:
    details = assert_envelope(api.post("/agents/claim", body), 422, "VALIDATION_FAILED")["details"]

    assert [detail["field"] for detail in details] == ["claim_token"]


def test_a_claim_has_no_dry_run(claim_token: str) -> None:
    for answer in (
        ApiClient(claim_token).post("/agents/claim", {"claim_token": claim_token, "dry_run": True}),
        ApiClient(claim_token).post("/agents/claim?dry_run=true", {"claim_token": claim_token}),
    ):
        details = assert_envelope(answer, 422, "VALIDATION_FAILED")["details"]
        assert [(detail["field"], detail["code"]) for detail in details] == [("dry_run", "unknown_field")]
    assert not ApiKey.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_only_one_of_fifty_concurrent_claims_succeeds(agent: Agent, claim_token: str) -> None:
    with time_machine.travel(NOON):
        answers = in_threads(50, lambda _: ApiClient(claim_token).post("/agents/claim", {"claim_token": claim_token}))

    outcomes = sorted((answer.status_code, answer.json().get("code")) for answer in answers)
    assert outcomes == [(200, None)] + [(409, "CLAIM_TOKEN_USED")] * 49
    assert ApiKey.objects.filter(agent=agent).count() == 1
    assert AuditEntry.objects.filter(operation="agents.claim", outcome="succeeded").count() == 1
    assert AuditEntry.objects.filter(operation="agents.claim", outcome="refused").count() == 49


def test_a_replay_of_a_claim_has_no_token(claim_token: str, api: ApiClient) -> None:
    first = claim(claim_token, idempotency_key="one").json()

    for bearer in (None, api.token):
        again = claim(claim_token, bearer=bearer, idempotency_key="one")
        assert (again.status_code, again["Idempotency-Replayed"]) == (200, "true")
        assert again.json() == {**first, "token": None}
    assert ApiKey.objects.filter(agent_id=first["agent"]["id"]).count() == 1


def test_the_same_idempotency_key_with_another_claim_is_another_claim(claim_token: str, workspace: Workspace) -> None:
    other = tokens.generate_token(tokens.CLAIM_TOKEN_PREFIX)
    ClaimToken.objects.create(
        agent=factories.AgentFactory(workspace=workspace),
        token_sha256=tokens.token_digest(other),
        expires_at=NOON + timedelta(hours=24),
    )

    answers = [claim(token, idempotency_key="one") for token in (claim_token, other)]

    assert [answer.status_code for answer in answers] == [200, 200]
    assert len({answer.json()["token"] for answer in answers}) == 2


def test_a_claim_token_as_bearer_only_allows_the_claim(workspace: Workspace, agent: Agent, claim_token: str) -> None:
    client = ApiClient(claim_token)
    with time_machine.travel(NOON):
        for method, path in (
            ("GET", f"/agents/{agent.id}"),
            ("GET", f"/workspaces?owner_user_id={workspace.owner_user_id}"),
            ("GET", f"/accounts?workspace_id={workspace.id}"),
            ("GET", "/capabilities"),
            ("POST", "/agents"),
            ("POST", "/auth/api-keys"),
            ("POST", "/workspaces"),
            ("POST", "/accounts/connect"),
            ("POST", "/posts"),
            ("DELETE", "/accounts/acc_1"),
        ):
            assert_envelope(client.request(method, path, {}), 401, "UNAUTHENTICATED")
    assert not ClaimToken.objects.exclude(burned_at=None).exists()


def test_no_key_is_issued_to_a_revoked_agent(agent: Agent, claim_token: str, api: ApiClient) -> None:
    Agent.objects.update(status="revoked")

    for bearer in (None, api.token):
        assert_envelope(claim(claim_token, bearer=bearer), 409, "CLAIM_TOKEN_USED")
    assert not ApiKey.objects.filter(agent=agent).exists()
    assert not ClaimToken.objects.exclude(burned_at=None).exists()


def test_no_key_is_issued_in_a_deleted_workspace(agent: Agent, claim_token: str, stranger: User) -> None:
    Workspace.objects.filter(pk=agent.workspace_id).update(status="deleted")
    foreign = factories.workspace_key(stranger.owned_workspaces.get())

    assert_envelope(claim(claim_token, bearer=foreign), 422, "CLAIM_TOKEN_INVALID")
    assert not ApiKey.objects.filter(agent=agent).exists()


def test_a_paused_workspace_issues_no_key_until_it_resumes(agent: Agent, claim_token: str) -> None:
    Workspace.objects.update(status="paused")
    assert_envelope(claim(claim_token), 403, "WORKSPACE_PAUSED")
    assert not ApiKey.objects.exists()

    Workspace.objects.update(status="active")
    assert claim(claim_token).status_code == 200
