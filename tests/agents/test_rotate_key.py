"""Tests of POST /agents/{id}/rotate-key."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from agents import tokens
from agents.models import Agent, ApiKey, ClaimToken
from agents.services import issue_key
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
DAY = timedelta(hours=24)


@pytest.fixture
def agent(workspace: Workspace) -> Agent:
    made: Agent = factories.AgentFactory(workspace=workspace, name="Herald", scopes=["posts.read"])
    return made


@pytest.fixture
def key(agent: Agent) -> ApiKey:
    """The agent's current key."""
    return issue(agent).api_key


def issue(agent: Agent, **fields: Any) -> Any:
    with time_machine.travel(NOON, tick=False):
        return issue_key(workspace_id=agent.workspace_id, name=agent.name, scopes=(), agent=agent, **fields)


def key_body(agent: Agent, *, prefix: str) -> dict[str, Any]:
    """The JSON of a key that was issued to the agent at noon, without the id."""
    return {
        "workspace_id": agent.workspace_id,
        "agent_id": agent.id,
        "name": "Herald",
        "prefix": prefix,
        "scopes": ["posts.read"],
        "status": "active",
        "created_at": "2027-03-10T12:00:00Z",
        **dict.fromkeys(("expires_at", "last_used_at", "allowed_networks")),
    }


def claim_token_of(agent: Agent) -> str:
    token = tokens.generate_token(tokens.CLAIM_TOKEN_PREFIX)
    ClaimToken.objects.create(
        agent=agent, token_sha256=tokens.token_digest(token), expires_at=datetime(2100, 1, 1, tzinfo=UTC)
    )
    return token


def rotate(client: ApiClient, agent: Agent, body: Any = None, *, at: datetime = NOON, **headers: str) -> Any:
    with time_machine.travel(at, tick=False):
        return client.post(f"/agents/{agent.id}/rotate-key", body, **headers)


def signed_in(user: User) -> ApiClient:
    """An API client of the user, with a token issued at noon."""
    with time_machine.travel(NOON, tick=False):
        return as_user(user)


def use(token: str | None, at: datetime = NOON) -> Any:
    with time_machine.travel(at, tick=False):
        return ApiClient(token).get("/capabilities")


def statuses(agent: Agent, at: datetime = NOON) -> dict[str, str]:
    with time_machine.travel(at, tick=False):
        return {key.id: key.status for key in ApiKey.objects.filter(agent=agent)}


def test_a_new_key_is_issued_and_the_current_one_retires(api: ApiClient, agent: Agent, key: ApiKey) -> None:
    answer = rotate(api, agent)

    body, made = answer.json(), ApiKey.objects.filter(agent=agent).latest("pk")
    token = body.pop("token")
    assert answer.status_code == 200
    assert body == {
        "api_key": {"id": made.id, **key_body(agent, prefix=token[:12])},
        "retiring_key": {"id": key.id, "prefix": key.prefix, "expires_at": "2027-03-11T12:00:00Z", "overlap_hours": 24},
    }
    assert re.fullmatch("sps_agt_[0-9A-Za-z]{49}", token)
    assert statuses(agent) == {key.id: "retiring", made.id: "active"}
    entry = AuditEntry.objects.get()
    assert (entry.operation, entry.resource_type, entry.resource_id) == ("agents.rotate_key", "agent", agent.id)
    assert (entry.dry_run, entry.metadata) == (False, {"api_key_id": made.id})


def test_the_previous_key_works_for_24_hours(api: ApiClient, agent: Agent) -> None:
    before = issue(agent).token
    after = rotate(api, agent).json()["token"]

    assert use(before, NOON + DAY - timedelta(seconds=1)).status_code == 200
    assert_envelope(use(before, NOON + DAY), 401, "API_KEY_EXPIRED")
    assert use(after, NOON + DAY).status_code == 200


def test_a_second_rotation_during_the_overlap_stops_the_oldest_key(api: ApiClient, agent: Agent) -> None:
    first = issue(agent).token
    second = rotate(api, agent).json()
    third = rotate(api, agent, at=NOON + timedelta(hours=1)).json()

    assert third["retiring_key"]["id"] == second["api_key"]["id"]
    assert third["retiring_key"]["expires_at"] == "2027-03-11T13:00:00Z"
    later = NOON + timedelta(hours=1)
    assert_envelope(use(first, later), 401, "API_KEY_REVOKED")
    assert [use(one["token"], later).status_code for one in (second, third)] == [200, 200]


def test_the_expiry_of_a_retiring_key_is_not_extended(api: ApiClient, agent: Agent, key: ApiKey) -> None:
    second = rotate(api, agent).json()["api_key"]
    api.delete(f"/auth/api-keys/{second['id']}")
    later = NOON + timedelta(hours=5)

    third = rotate(api, agent, at=later).json()

    assert third["retiring_key"] == {
        "id": key.id,
        "prefix": key.prefix,
        "expires_at": "2027-03-11T12:00:00Z",
        "overlap_hours": 24,
    }
    assert statuses(agent, later) == {key.id: "retiring", second["id"]: "revoked", third["api_key"]["id"]: "active"}


def test_an_earlier_expiry_is_not_extended(api: ApiClient, agent: Agent) -> None:
    issue(agent, expires_at=NOON + timedelta(hours=2))

    assert rotate(api, agent).json()["retiring_key"]["expires_at"] == "2027-03-10T14:00:00Z"


def test_rotation_gives_an_unclaimed_agent_its_first_key_and_ends_its_claim_token(api: ApiClient, agent: Agent) -> None:
    claim_token = claim_token_of(agent)
    claim_token_of(factories.AgentFactory(workspace=agent.workspace))

    body = rotate(api, agent).json()

    assert body["retiring_key"] is None
    assert use(body["token"]).status_code == 200
    for bearer in (claim_token, api.token):
        claim = ApiClient(bearer).post("/agents/claim", {"claim_token": claim_token})
        assert_envelope(claim, 409, "CLAIM_TOKEN_USED")
    assert ClaimToken.objects.filter(burned_at=None).count() == 1


def test_an_agent_can_rotate_only_its_own_key_and_needs_no_scope(agent: Agent, workspace: Workspace) -> None:
    robot = ApiClient(issue(agent).token)
    wide = ApiClient(factories.agent_key(factories.AgentFactory(workspace=workspace)))
    assert agent.scopes == ["posts.read"]

    assert rotate(robot, agent).status_code == 200
    assert_envelope(rotate(wide, agent), 403, "FORBIDDEN")
    for dry_run in (False, True):
        assert_envelope(rotate(robot, Agent.objects.latest("pk"), {"dry_run": dry_run}), 403, "SCOPE_MISSING")
    assert ApiKey.objects.filter(agent=agent).count() == 2


def test_rotation_needs_all_scopes_of_the_agent(
    owner: User, agent: Agent, key: ApiKey, key_with: Callable[..., ApiClient], teammate: User
) -> None:
    for dry_run in (False, True):
        body = assert_envelope(rotate(key_with("api_keys.write"), agent, {"dry_run": dry_run}), 403, "SCOPE_MISSING")
        assert "posts.read" in body["message"]
        assert_envelope(rotate(key_with("posts.read"), agent, {"dry_run": dry_run}), 403, "SCOPE_MISSING")
        assert_envelope(rotate(signed_in(teammate), agent, {"dry_run": dry_run}), 403, "FORBIDDEN")
    assert statuses(agent) == {key.id: "active"}

    assert rotate(key_with("api_keys.write", "posts.read"), agent).status_code == 200
    assert rotate(signed_in(owner), agent).status_code == 200


@pytest.mark.parametrize("where", ["body", "query"])
def test_a_dry_run_returns_a_preview_and_issues_no_key(api: ApiClient, agent: Agent, key: ApiKey, where: str) -> None:
    claim_token_of(agent)
    path = f"/agents/{agent.id}/rotate-key"
    with time_machine.travel(NOON, tick=False):
        answer = api.post(path, {"dry_run": True}) if where == "body" else api.post(f"{path}?dry_run=true")

    assert answer.status_code == 200
    assert answer.json() == {
        "dry_run": True,
        "plan_hash": ANY_PLAN_HASH,
        "operation": "agents.rotate_key",
        "request": {},
        "would_create": key_body(agent, prefix=""),
    }
    assert statuses(agent) == {key.id: "active"}
    assert ClaimToken.objects.get().burned_at is None
    assert [(entry.operation, entry.dry_run) for entry in AuditEntry.objects.all()] == [("agents.rotate_key", True)]


@pytest.mark.parametrize("by", ["owner's key", "itself"])
def test_a_replay_shows_no_token_and_issues_nothing(api: ApiClient, agent: Agent, by: str) -> None:
    client = api if by == "owner's key" else ApiClient(issue(agent).token)
    first = rotate(client, agent, idempotency_key="one").json()
    again = rotate(client, agent, idempotency_key="one")
    count = ApiKey.objects.filter(agent=agent).count()

    assert (again.status_code, again["Idempotency-Replayed"], again.json()) == (200, "true", {**first, "token": None})
    if by == "itself":  # with its new key, too: it is the same actor
        renewed = rotate(ApiClient(first["token"]), agent, idempotency_key="one")
        assert renewed.json() == {**first, "token": None}
    assert ApiKey.objects.filter(agent=agent).count() == count


def test_a_revoked_agent_gets_no_key(api: ApiClient, agent: Agent, key: ApiKey) -> None:
    Agent.objects.update(status="revoked")

    for dry_run in (False, True):
        assert_envelope(rotate(api, agent, {"dry_run": dry_run}), 409, "INVALID_STATE")
    assert ApiKey.objects.filter(agent=agent).count() == 1


def test_a_key_in_a_paused_workspace_cannot_be_rotated(api: ApiClient, agent: Agent) -> None:
    itself = ApiClient(issue(agent).token)
    Workspace.objects.update(status="paused")

    for client in (api, itself):
        assert_envelope(rotate(client, agent), 403, "WORKSPACE_PAUSED")
    assert ApiKey.objects.filter(agent=agent).count() == 1


def test_foreign_missing_and_malformed_ids_get_the_same_response(agent: Agent, key: ApiKey, stranger: User) -> None:
    foreign = stranger.owned_workspaces.get()
    wide, narrow = (ApiClient(factories.workspace_key(foreign, scopes)) for scopes in (["api_keys.write"], ["posts.read"]))
    robot = ApiClient(factories.agent_key(factories.AgentFactory(workspace=foreign, scopes=["posts.read"])))

    for client, status in ((signed_in(stranger), 404), (wide, 404), (narrow, 403), (robot, 403)):
        answers = [rotate(client, one) for one in (agent, Agent(id=new_id("agt")), Agent(id="agt_1"))]
        bodies = [answer.json() | {"trace_id": ""} for answer in answers]
        assert [answer.status_code for answer in answers] == [status] * 3
        assert all(body == bodies[0] for body in bodies)
    assert statuses(agent) == {key.id: "active"}


@pytest.mark.django_db(transaction=True)
def test_concurrent_rotations_leave_two_keys(api: ApiClient, agent: Agent, key: ApiKey) -> None:
    path = f"/agents/{agent.id}/rotate-key"
    answers = in_threads(8, lambda _: api.post(path))

    assert [answer.status_code for answer in answers] == [200] * 8
    living = [status for status in statuses(agent, datetime.now(UTC)).values() if status != "revoked"]
    assert sorted(living) == ["active", "retiring"]
    works = [ApiClient(answer.json()["token"]).get("/capabilities").status_code for answer in answers]
    assert sorted(works) == [200, 200] + [401] * 6


@pytest.mark.django_db(transaction=True)
def test_a_concurrent_claim_leaves_one_current_key(api: ApiClient, workspace: Workspace) -> None:
    for _ in range(4):
        agent = factories.AgentFactory(workspace=workspace)
        claim_token = claim_token_of(agent)

        def work(n: int, agent: Agent = agent, claim_token: str = claim_token) -> Any:
            if n == 0:
                return api.post(f"/agents/{agent.id}/rotate-key")
            return ApiClient(claim_token).post("/agents/claim", {"claim_token": claim_token})

        rotated, claimed = in_threads(2, work)
        assert rotated.status_code == 200
        expected = ["active", "retiring"] if claimed.status_code == 200 else ["active"]
        assert claimed.status_code in (200, 409)
        assert sorted(statuses(agent, datetime.now(UTC)).values()) == expected


@pytest.mark.parametrize("dry_run", [False, True])
def test_the_new_key_has_the_default_expiry(agent: Agent, key: ApiKey, owner: User, settings: Any, dry_run: bool) -> None:
    settings.API_KEY_DEFAULT_DAYS = 90
    answer = rotate(signed_in(owner), agent, {"dry_run": dry_run}).json()

    assert answer["would_create" if dry_run else "api_key"]["expires_at"] == "2027-06-08T12:00:00Z"
    if not dry_run:
        assert answer["retiring_key"]["expires_at"] == "2027-03-11T12:00:00Z"
