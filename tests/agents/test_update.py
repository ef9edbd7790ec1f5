"""Tests of PATCH /agents/{id}."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agents.models import Agent
from auditlog.models import AuditEntry
from config.db.ids import new_id
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient, ServeNames
from tests.fakes.name_server import Records
from tests.people import as_user
from tests.plan_hashes import ANY_PLAN_HASH
from workspaces.models import Member, User, Workspace

URL = "https://93.184.215.14/hook"
IDENTITY = {"name": "Herald", "scopes": ["posts.read", "posts.draft"], "default_mode": "draft"}
SETTINGS: dict[str, Any] = {
    "version": "1.2",
    "description": "Reads",
    "account_allowlist": [new_id("acc")],
    "rate_limit_per_minute": 30,
    "posts_per_day_cap": 3,
    "monthly_spend_cap_cents": 100,
    "monthly_social_url_post_cap": 2,
    "webhook_url": URL,
    "showcase_opt_in": True,
}
NEW_IDENTITY = {"name": "Crier", "scopes": ["posts.publish"], "default_mode": "allow_publish"}
NEW_SETTINGS: dict[str, Any] = {
    "version": "2",
    "description": "",
    "account_allowlist": [],
    "rate_limit_per_minute": 1,
    "posts_per_day_cap": 1,
    "monthly_spend_cap_cents": 0,
    "monthly_social_url_post_cap": 0,
    "webhook_url": "https://93.184.215.14/other",
    "showcase_opt_in": False,
}
CLEARED = dict.fromkeys(name for name in SETTINGS if name != "showcase_opt_in")


@pytest.fixture
def agent(workspace: Workspace) -> Agent:
    made: Agent = factories.AgentFactory(workspace=workspace, **IDENTITY, **SETTINGS)
    return made


def update(client: ApiClient, agent: Agent, *, key: str = "", **fields: Any) -> Any:
    headers = {"idempotency_key": key} if key else {}
    return client.request("PATCH", f"/agents/{agent.id}", fields, **headers)


def body_of(agent: Agent, identity: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    fixed = {"id": agent.id, "workspace_id": agent.workspace_id, "status": "active"}
    return {"agent": {**fixed, **identity}, "settings": settings}


def is_unchanged(agent: Agent) -> bool:
    """Return whether the agent is unchanged."""
    now = Agent.objects.filter(pk=agent.pk).values().get()
    return now == {name: getattr(agent, name) for name in now}


@pytest.mark.parametrize(
    ("given", "identity", "rest"),
    [
        ({}, IDENTITY, SETTINGS),
        ({"name": "Crier"}, {**IDENTITY, "name": "Crier"}, SETTINGS),
        ({"posts_per_day_cap": 9}, IDENTITY, {**SETTINGS, "posts_per_day_cap": 9}),
        ({**NEW_IDENTITY, **NEW_SETTINGS}, NEW_IDENTITY, NEW_SETTINGS),
        (CLEARED, IDENTITY, {**CLEARED, "showcase_opt_in": True}),
    ],
    ids=["nothing", "a name", "a setting", "all", "null for every setting"],
)
def test_given_fields_are_changed_and_others_stay(
    api: ApiClient, agent: Agent, given: dict[str, Any], identity: dict[str, Any], rest: dict[str, Any]
) -> None:
    answer = update(api, agent, **given)

    assert (answer.status_code, answer.json()) == (200, body_of(agent, identity, rest))
    assert api.get(f"/agents/{agent.id}").json() == answer.json()
    entry = AuditEntry.objects.get()
    assert (entry.operation, entry.resource_type, entry.resource_id) == ("agents.update", "agent", agent.id)
    assert entry.metadata == {
        "changed": sorted(given),
        "scopes": identity["scopes"],
        "default_mode": identity["default_mode"],
    }


def test_the_agents_key_has_the_new_scopes_at_once(api: ApiClient, agent: Agent) -> None:
    robot, path = ApiClient(factories.agent_key(agent)), f"/accounts?workspace_id={agent.workspace_id}"
    assert_envelope(robot.get(path), 403, "SCOPE_MISSING")

    update(api, agent, scopes=["accounts.read"])

    assert robot.get(path).status_code == 200


def test_a_dry_run_returns_a_preview_and_changes_nothing(api: ApiClient, agent: Agent) -> None:
    given = {**NEW_IDENTITY, "webhook_url": None}
    answer = update(api, agent, key="one", dry_run=True, **given)

    assert (answer.status_code, answer.json()) == (
        200,
        {
            "dry_run": True,
            "plan_hash": ANY_PLAN_HASH,
            "operation": "agents.update",
            "request": given,
            "would_update": body_of(agent, NEW_IDENTITY, SETTINGS)["agent"],
        },
    )
    assert is_unchanged(agent)
    assert [(entry.operation, entry.dry_run) for entry in AuditEntry.objects.all()] == [("agents.update", True)]


def test_the_same_idempotency_key_gives_a_replay(api: ApiClient, agent: Agent) -> None:
    first = update(api, agent, key="one", name="Crier")
    update(api, agent, name="Other")
    again = update(api, agent, key="one", name="Crier")

    assert (again["Idempotency-Replayed"], again.json()) == ("true", first.json())
    assert Agent.objects.get().name == "Other"


def test_only_added_scopes_must_be_held_by_the_caller(agent: Agent, key_with: Callable[..., ApiClient]) -> None:
    narrow = key_with("api_keys.write", "posts.read")

    for dry_run in (False, True):
        for scopes in (["posts.publish"], ["posts.read", "posts.draft", "usage.read"]):
            body = assert_envelope(update(narrow, agent, scopes=scopes, dry_run=dry_run), 403, "SCOPE_MISSING")
            assert scopes[-1] in body["message"]
    assert is_unchanged(agent)
    assert update(narrow, agent, scopes=["posts.draft"]).json()["agent"]["scopes"] == ["posts.draft"]
    assert update(narrow, agent, scopes=["posts.draft", "posts.read"]).status_code == 200
    assert update(narrow, agent, name="Crier").status_code == 200


@pytest.mark.parametrize(
    ("fields", "field", "code"),
    [
        ({"scopes": []}, "scopes", "min_length"),
        ({"scopes": None}, "scopes", "null"),
        ({"scopes": ["posts.all"]}, "scopes[0]", "invalid_choice"),
        ({"name": None}, "name", "null"),
        ({"name": " "}, "name", "blank"),
        ({"default_mode": None}, "default_mode", "null"),
        ({"showcase_opt_in": None}, "showcase_opt_in", "null"),
        ({"posts_per_day_cap": 0}, "posts_per_day_cap", "min_value"),
        ({"rate_limit_per_minute": 601}, "rate_limit_per_minute", "max_value"),
        ({"rate_limit_per_minute": 2**63 - 1}, "rate_limit_per_minute", "max_value"),
        ({"account_allowlist": [None]}, "account_allowlist[0]", "null"),
        ({"workspace_id": new_id("wrk")}, "workspace_id", "unknown_field"),
        ({"owner_user_id": new_id("usr")}, "owner_user_id", "unknown_field"),
        ({"status": "revoked"}, "status", "unknown_field"),
    ],
)
def test_an_invalid_field_is_named_in_the_error(
    api: ApiClient, agent: Agent, fields: dict[str, Any], field: str, code: str
) -> None:
    for dry_run in (False, True):
        body = assert_envelope(update(api, agent, dry_run=dry_run, **fields), 422, "VALIDATION_FAILED")
        assert [(detail["field"], detail["code"]) for detail in body["details"]] == [(field, code)]
    assert is_unchanged(agent)


def test_a_webhook_host_with_a_private_address_is_refused(api: ApiClient, agent: Agent, name_server: ServeNames) -> None:
    name_server(lambda name: Records(["10.1.2.3"]))

    answer = update(api, agent, webhook_url="https://inside.example.com/")

    assert_envelope(answer, 422, "WEBHOOK_URL_NOT_ALLOWED")
    assert is_unchanged(agent)


@pytest.mark.parametrize("url", ["http://example.com/", "https://127.0.0.1/", "https://10.1.2.3/", "nonsense"])
def test_a_webhook_url_with_a_private_address_is_refused(api: ApiClient, agent: Agent, url: str) -> None:
    for dry_run in (False, True):
        assert_envelope(update(api, agent, webhook_url=url, dry_run=dry_run), 422, "WEBHOOK_URL_NOT_ALLOWED")
    assert is_unchanged(agent)


def test_owner_and_admin_are_allowed_and_members_and_agents_are_refused(owner: User, agent: Agent, teammate: User) -> None:
    wide = ApiClient(factories.agent_key(factories.AgentFactory(workspace=agent.workspace)))
    for client in (as_user(teammate), wide):
        assert_envelope(update(client, agent, name="Crier"), 403, "FORBIDDEN")
    assert_envelope(update(ApiClient(factories.agent_key(agent)), agent, name="Crier"), 403, "SCOPE_MISSING")
    assert is_unchanged(agent)

    Member.objects.filter(user=teammate).update(role="admin")
    for client in (as_user(owner), as_user(teammate)):
        assert update(client, agent, name="Crier").status_code == 200


def test_changing_needs_the_scope(agent: Agent, key_with: Callable[..., ApiClient]) -> None:
    assert_envelope(update(key_with("posts.publish"), agent, name="Crier"), 403, "SCOPE_MISSING")
    assert is_unchanged(agent)


def test_foreign_missing_and_malformed_ids_get_the_same_response(agent: Agent, stranger: User) -> None:
    foreign_key = ApiClient(factories.workspace_key(stranger.owned_workspaces.get()))

    for client in (as_user(stranger), foreign_key):
        bodies = [
            assert_envelope(update(client, one, name="Crier"), 404, "NOT_FOUND") | {"trace_id": ""}
            for one in (agent, Agent(id=new_id("agt")), Agent(id="agt_1"))
        ]
        assert all(body == bodies[0] for body in bodies)
    assert is_unchanged(agent)


def test_revoked_agents_and_agents_of_paused_workspaces_cannot_be_changed(api: ApiClient, agent: Agent) -> None:
    Workspace.objects.update(status="paused")
    assert_envelope(update(api, agent, name="Crier"), 403, "WORKSPACE_PAUSED")
    Workspace.objects.update(status="active")
    Agent.objects.update(status="revoked")
    for dry_run in (False, True):
        assert_envelope(update(api, agent, name="Crier", dry_run=dry_run), 409, "INVALID_STATE")
    assert Agent.objects.get().name == "Herald"
