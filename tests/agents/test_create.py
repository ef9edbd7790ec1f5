"""Tests of POST /agents."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from agents import tokens
from agents.models import Agent, ApiKey, ClaimToken
from config.api.scopes import SCOPES
from config.db.ids import new_id
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient, ServeNames
from tests.fakes.name_server import Records
from tests.people import as_user
from tests.plan_hashes import ANY_PLAN_HASH
from workspaces.models import Member, User, Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
UNSET = {
    "version": None,
    "description": None,
    "account_allowlist": None,
    "rate_limit_per_minute": None,
    "posts_per_day_cap": None,
    "monthly_spend_cap_cents": None,
    "monthly_social_url_post_cap": None,
    "webhook_url": None,
    "showcase_opt_in": False,
}
OPTIONAL = {
    "version": "1.2",
    "description": "",
    "account_allowlist": [new_id("acc")],
    "rate_limit_per_minute": 600,
    "posts_per_day_cap": 1,
    "monthly_spend_cap_cents": 0,
    "monthly_social_url_post_cap": 0,
    "webhook_url": "https://93.184.215.14/hook",
    "showcase_opt_in": True,
}


def create(client: ApiClient, workspace: Workspace, *, key: str = "", **fields: Any) -> Any:
    body = {
        "workspace_id": workspace.id,
        "owner_user_id": workspace.owner_user_id,
        "name": "Herald",
        "scopes": ["posts.read", "posts.draft"],
        "default_mode": "draft",
        **fields,
    }
    return client.post("/agents", body, **({"idempotency_key": key} if key else {}))


@pytest.mark.parametrize("optional", [{}, OPTIONAL], ids=["required fields", "all fields"])
def test_registering_an_agent_returns_it_with_its_claim_token(
    api: ApiClient, workspace: Workspace, optional: dict[str, Any]
) -> None:
    with time_machine.travel(NOON, tick=False):
        answer = create(api, workspace, **optional)

    body, made = answer.json(), Agent.objects.get()
    claim_token = body.pop("claim_token")
    assert answer.status_code == 201
    assert body == {
        "agent": {
            "id": made.id,
            "workspace_id": workspace.id,
            "name": "Herald",
            "scopes": ["posts.read", "posts.draft"],
            "default_mode": "draft",
            "status": "active",
        },
        "settings": {**UNSET, **optional},
        "claim_expires_at": "2027-03-11T12:00:00Z",
    }
    assert re.fullmatch("sps_clm_[0-9A-Za-z]{49}", claim_token)
    claim = ClaimToken.objects.get()
    assert (claim.agent_id, claim.burned_at, claim.expires_at) == (made.id, None, NOON + timedelta(hours=24))
    assert claim.token_sha256 == tokens.token_digest(claim_token)


def test_an_agent_has_no_key_before_it_claims_one(api: ApiClient, workspace: Workspace) -> None:
    agent = create(api, workspace).json()["agent"]

    assert not ApiKey.objects.filter(agent_id=agent["id"]).exists()


@pytest.mark.parametrize("optional", [{}, OPTIONAL], ids=["required fields", "all fields"])
def test_a_dry_run_returns_a_preview_and_registers_no_agent(
    api: ApiClient, workspace: Workspace, optional: dict[str, Any]
) -> None:
    answer = create(api, workspace, dry_run=True, **optional)

    body = answer.json()
    resolved = {
        "workspace_id": workspace.id,
        "name": "Herald",
        "scopes": ["posts.read", "posts.draft"],
        "default_mode": "draft",
    }
    assert answer.status_code == 200
    assert body == {
        "dry_run": True,
        "plan_hash": ANY_PLAN_HASH,
        "operation": "agents.create",
        "request": {**resolved, "owner_user_id": workspace.owner_user_id, **optional},
        "would_create": {**resolved, "status": "active"},
    }
    assert not Agent.objects.exists()
    assert not ClaimToken.objects.exists()


def test_a_replay_shows_the_claim_token_as_null(api: ApiClient, workspace: Workspace) -> None:
    first = create(api, workspace, key="one").json()

    again = create(api, workspace, key="one")

    assert (again.status_code, again["Idempotency-Replayed"]) == (201, "true")
    assert again.json() == {**first, "claim_token": None}
    assert (Agent.objects.count(), ClaimToken.objects.count()) == (1, 1)


@pytest.mark.parametrize(
    ("fields", "field", "code"),
    [
        ({"scopes": []}, "scopes", "min_length"),
        ({"scopes": ["posts.read", "posts.all"]}, "scopes[1]", "invalid_choice"),
        ({"scopes": "posts.read"}, "scopes", "wrong_type"),
        ({"default_mode": "publish"}, "default_mode", "invalid_choice"),
        ({"name": ""}, "name", "blank"),
        ({"rate_limit_per_minute": 0}, "rate_limit_per_minute", "min_value"),
        ({"rate_limit_per_minute": 601}, "rate_limit_per_minute", "max_value"),
        ({"posts_per_day_cap": 0}, "posts_per_day_cap", "min_value"),
        ({"monthly_spend_cap_cents": -1}, "monthly_spend_cap_cents", "min_value"),
        ({"monthly_social_url_post_cap": 1.0}, "monthly_social_url_post_cap", "wrong_type"),
        ({"account_allowlist": ["usr_1"]}, "account_allowlist[0]", "invalid_id"),
        ({"showcase_opt_in": "yes"}, "showcase_opt_in", "wrong_type"),
        ({"owner_user_id": new_id("usr")}, "owner_user_id", "not_found"),
        ({"workspace_id": new_id("wrk")}, "workspace_id", "not_found"),
        ({"status": "active"}, "status", "unknown_field"),
    ],
)
def test_an_invalid_field_is_named_in_the_error(
    api: ApiClient, workspace: Workspace, fields: dict[str, Any], field: str, code: str
) -> None:
    for dry_run in (False, True):
        body = assert_envelope(create(api, workspace, dry_run=dry_run, **fields), 422, "VALIDATION_FAILED")
        assert [(detail["field"], detail["code"]) for detail in body["details"]] == [(field, code)]
    assert not Agent.objects.exists()


def test_a_webhook_host_with_a_private_address_is_refused(
    api: ApiClient, workspace: Workspace, name_server: ServeNames
) -> None:
    name_server(lambda name: Records(["10.1.2.3"]))

    answer = create(api, workspace, webhook_url="https://inside.example.com/")

    assert_envelope(answer, 422, "WEBHOOK_URL_NOT_ALLOWED")
    assert not Agent.objects.exists()


@pytest.mark.parametrize("url", ["http://example.com/", "https://127.0.0.1/", "https://10.1.2.3/", "nonsense"])
def test_a_webhook_url_with_a_private_address_is_refused(api: ApiClient, workspace: Workspace, url: str) -> None:
    assert_envelope(create(api, workspace, webhook_url=url), 422, "WEBHOOK_URL_NOT_ALLOWED")

    assert not Agent.objects.exists()


def test_owner_user_id_must_be_the_workspaces_owner(
    api: ApiClient, workspace: Workspace, teammate: User, stranger: User
) -> None:
    for user in (teammate, stranger):
        body = assert_envelope(create(api, workspace, owner_user_id=user.id), 422, "VALIDATION_FAILED")
        assert body["details"][0]["field"] == "owner_user_id"
    assert not Agent.objects.exists()


def test_the_owner_and_an_admin_may_register_agents(owner: User, workspace: Workspace, teammate: User) -> None:
    Member.objects.filter(user=teammate).update(role="admin")

    assert create(as_user(owner), workspace).status_code == 201
    assert create(as_user(teammate), workspace).status_code == 201


def test_members_and_agents_are_refused(workspace: Workspace, teammate: User, agent_client: Callable[..., ApiClient]) -> None:
    robot = agent_client()

    for client in (as_user(teammate), robot):
        assert_envelope(create(client, workspace), 403, "FORBIDDEN")
    assert Agent.objects.count() == 1


def test_a_foreign_and_a_missing_workspace_get_the_same_response(workspace: Workspace, stranger: User) -> None:
    foreign_key = ApiClient(factories.workspace_key(stranger.owned_workspaces.get()))
    absent = Workspace(id=new_id("wrk"), owner_user_id=workspace.owner_user_id)

    for client in (as_user(stranger), foreign_key):
        bodies = [
            assert_envelope(create(client, one), 422, "VALIDATION_FAILED") | {"trace_id": ""} for one in (workspace, absent)
        ]
        assert bodies[0] == bodies[1]
        assert bodies[0]["details"][0]["field"] == "workspace_id"
    assert not Agent.objects.exists()


def test_a_caller_cannot_grant_a_scope_that_it_lacks(workspace: Workspace, key_with: Callable[..., ApiClient]) -> None:
    narrow = key_with("api_keys.write", "posts.read")

    body = assert_envelope(create(narrow, workspace, scopes=list(SCOPES)), 403, "SCOPE_MISSING")
    assert "posts.publish" in body["message"]
    assert create(narrow, workspace, scopes=["posts.read"]).status_code == 201
    assert_envelope(create(key_with("posts.read", "posts.draft"), workspace), 403, "SCOPE_MISSING")
    assert Agent.objects.count() == 1


def test_a_paused_workspace_refuses_a_new_agent(api: ApiClient, workspace: Workspace) -> None:
    Workspace.objects.update(status="paused")

    assert_envelope(create(api, workspace), 403, "WORKSPACE_PAUSED")
    assert not Agent.objects.exists()
