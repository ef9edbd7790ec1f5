"""Tests of POST /auth/api-keys."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from agents import tokens
from agents.models import ApiKey
from auditlog.models import AuditEntry
from config.api.scopes import SCOPES
from config.db.ids import new_id
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.people import as_user
from tests.plan_hashes import ANY_PLAN_HASH
from workspaces.models import Member, User, Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)


def create(client: ApiClient, workspace: Workspace, *, key: str = "", **fields: Any) -> Any:
    body = {"workspace_id": workspace.id, "name": "CI", "scopes": ["posts.read"], **fields}
    return client.post("/auth/api-keys", body, **({"idempotency_key": key} if key else {}))


def made_keys() -> int:
    return ApiKey.objects.filter(name="CI").count()


@pytest.mark.parametrize(
    ("expires_at", "shown"),
    [({}, None), ({"expires_at": "2027-03-10T14:00:00+01:00"}, "2027-03-10T13:00:00Z")],
    ids=["for ever", "for an hour"],
)
def test_a_key_is_created_and_its_token_returned(
    api: ApiClient, workspace: Workspace, expires_at: dict[str, str], shown: str | None
) -> None:
    with time_machine.travel(NOON, tick=False):
        answer = create(api, workspace, **expires_at)

    body, made = answer.json(), ApiKey.objects.get(name="CI")
    token = body.pop("token")
    assert answer.status_code == 201
    assert body == {
        "api_key": {
            "id": made.id,
            "workspace_id": workspace.id,
            "agent_id": None,
            "name": "CI",
            "prefix": token[:12],
            "scopes": ["posts.read"],
            "status": "active",
            "created_at": "2027-03-10T12:00:00Z",
            "expires_at": shown,
            "last_used_at": None,
            "allowed_networks": None,
        }
    }
    assert re.fullmatch("sps_key_[0-9A-Za-z]{49}", token)
    assert made.token_sha256 == tokens.token_digest(token)


def test_a_key_can_be_limited_to_networks(api: ApiClient, workspace: Workspace) -> None:
    networks = ["203.0.113.0/24", "203.0.113.0/24", "2001:DB8::/32", "198.51.100.7"]
    networks = ["203.0.113.0/24", "2001:db8::/32", "198.51.100.7/32"]
    answers = [create(api, workspace, allowed_networks=networks, dry_run=dry_run).json() for dry_run in (True, False)]

    assert answers[0]["would_create"]["allowed_networks"] == networks
    assert answers[1]["api_key"]["allowed_networks"] == networks
    [made] = ApiKey.objects.filter(name="CI")
    assert made.allowed_networks == networks
    assert AuditEntry.objects.filter(dry_run=False).get().metadata["allowed_networks"] == networks
    refused = ApiClient(answers[1]["token"]).get("/capabilities")  # from 127.0.0.1
    assert "127.0.0.1" in assert_envelope(refused, 403, "FORBIDDEN")["message"]


@pytest.mark.parametrize("days", [1, 90])
@pytest.mark.parametrize("dry_run", [False, True])
def test_a_key_without_expiry_gets_the_default_expiry(
    api: ApiClient, workspace: Workspace, settings: Any, days: int, dry_run: bool
) -> None:
    settings.API_KEY_DEFAULT_DAYS = days
    with time_machine.travel(NOON, tick=False):
        made = create(api, workspace, dry_run=dry_run).json()["would_create" if dry_run else "api_key"]
        own = create(api, workspace, dry_run=dry_run, expires_at="2037-01-01T00:00:00Z").json()

    assert datetime.fromisoformat(made["expires_at"]) == NOON + timedelta(days=days)
    assert own["would_create" if dry_run else "api_key"]["expires_at"] == "2037-01-01T00:00:00Z"


def test_the_new_key_works_within_its_scopes(api: ApiClient, workspace: Workspace) -> None:
    made = ApiClient(create(api, workspace, scopes=["accounts.read"]).json()["token"])

    assert made.get(f"/accounts?workspace_id={workspace.id}").status_code == 200
    assert_envelope(create(made, workspace), 403, "SCOPE_MISSING")


def test_a_dry_run_returns_a_preview_and_creates_no_key(api: ApiClient, workspace: Workspace) -> None:
    with time_machine.travel(NOON, tick=False):
        answer = create(api, workspace, dry_run=True, expires_at="2027-03-11T12:00:00Z")

    body = answer.json()
    shared = {"workspace_id": workspace.id, "name": "CI", "scopes": ["posts.read"], "expires_at": "2027-03-11T12:00:00Z"}
    assert answer.status_code == 200
    assert body == {
        "dry_run": True,
        "plan_hash": ANY_PLAN_HASH,
        "operation": "api_keys.create",
        "request": shared,
        "would_create": {
            **shared,
            "agent_id": None,
            "prefix": "",
            "status": "active",
            "created_at": "2027-03-10T12:00:00Z",
            "last_used_at": None,
            "allowed_networks": None,
        },
    }
    assert made_keys() == 0


def test_a_replay_returns_200_with_a_null_token(api: ApiClient, workspace: Workspace) -> None:
    first = create(api, workspace, key="one").json()

    again = create(api, workspace, key="one", name="Another")

    assert (again.status_code, again.json()) == (200, {**first, "token": None})
    assert (again["Idempotency-Replayed"], again["Idempotency-Request-Differs"]) == ("true", "true")
    assert made_keys() == 1


def test_two_callers_with_the_same_idempotency_key_are_independent(
    workspace: Workspace, owner: User, key_with: Callable[..., ApiClient]
) -> None:
    first, second = key_with(*SCOPES), key_with(*SCOPES)

    made = [create(client, workspace, key="1").json()["token"] for client in (first, second, as_user(owner))]

    assert len(set(made)) == 3
    assert None not in made


@pytest.mark.parametrize(
    ("fields", "field", "code"),
    [
        ({"scopes": []}, "scopes", "min_length"),
        ({"scopes": ["everything"]}, "scopes[0]", "invalid_choice"),
        ({"name": ""}, "name", "blank"),
        ({"name": "a" * 201}, "name", "max_length"),
        ({"expires_at": "2027-03-11T12:00:00"}, "expires_at", "invalid"),
        ({"expires_at": "2020-01-01T00:00:00Z"}, "expires_at", "invalid"),
        ({"allowed_networks": []}, "allowed_networks", "min_length"),
        ({"allowed_networks": None}, "allowed_networks", "null"),
        ({"allowed_networks": "203.0.113.0/24"}, "allowed_networks", "wrong_type"),
        ({"allowed_networks": ["203.0.113.7/24"]}, "allowed_networks[0]", "invalid"),
        ({"allowed_networks": ["0.0.0.0/0", "here"]}, "allowed_networks[1]", "invalid"),
        ({"allowed_networks": [7]}, "allowed_networks[0]", "wrong_type"),
        ({"allowed_networks": [f"10.0.{number}.0/24" for number in range(21)]}, "allowed_networks", "max_length"),
        ({"workspace_id": "wrk_1"}, "workspace_id", "invalid_id"),
        ({"agent_id": None}, "agent_id", "unknown_field"),
    ],
)
def test_an_invalid_field_is_named_in_the_error(
    api: ApiClient, workspace: Workspace, fields: dict[str, Any], field: str, code: str
) -> None:
    for dry_run in (False, True):
        body = assert_envelope(create(api, workspace, dry_run=dry_run, **fields), 422, "VALIDATION_FAILED")
        assert [(detail["field"], detail["code"]) for detail in body["details"]] == [(field, code)]
    assert made_keys() == 0


@pytest.mark.parametrize("sent", ["", "x" * 256, "é", "a\tb"])
def test_an_idempotency_key_is_1_to_255_printable_characters(api: ApiClient, workspace: Workspace, sent: str) -> None:
    body = {"workspace_id": workspace.id, "name": "CI", "scopes": ["posts.read"]}
    details = assert_envelope(api.post("/auth/api-keys", body, idempotency_key=sent), 422, "VALIDATION_FAILED")["details"]

    assert [detail["field"] for detail in details] == ["Idempotency-Key"]
    assert made_keys() == 0


def test_owner_and_admin_may_create_keys(owner: User, workspace: Workspace, teammate: User) -> None:
    Member.objects.filter(user=teammate).update(role="admin")

    for user in (owner, teammate):
        assert create(as_user(user), workspace, scopes=list(SCOPES)).status_code == 201


def test_members_and_agents_are_refused(workspace: Workspace, teammate: User, agent_client: Callable[..., ApiClient]) -> None:
    for client in (as_user(teammate), agent_client()):
        assert_envelope(create(client, workspace), 403, "FORBIDDEN")
    assert made_keys() == 0


def test_a_foreign_and_a_missing_workspace_get_the_same_response(workspace: Workspace, stranger: User) -> None:
    foreign_key = ApiClient(factories.workspace_key(stranger.owned_workspaces.get()))

    for client in (as_user(stranger), foreign_key):
        bodies = [
            assert_envelope(create(client, one), 422, "VALIDATION_FAILED") | {"trace_id": ""}
            for one in (workspace, Workspace(id=new_id("wrk")))
        ]
        assert bodies[0] == bodies[1]
    assert made_keys() == 0


def test_a_caller_cannot_grant_a_scope_that_it_lacks(workspace: Workspace, key_with: Callable[..., ApiClient]) -> None:
    narrow = key_with("api_keys.write", "posts.read")

    assert_envelope(create(narrow, workspace, scopes=["posts.read", "posts.publish"]), 403, "SCOPE_MISSING")
    assert made_keys() == 0
    assert create(narrow, workspace, scopes=["posts.read", "api_keys.write"]).status_code == 201


def test_a_paused_workspace_refuses_a_new_key(api: ApiClient, workspace: Workspace) -> None:
    Workspace.objects.update(status="paused")

    assert_envelope(create(api, workspace), 403, "WORKSPACE_PAUSED")
    assert made_keys() == 0
