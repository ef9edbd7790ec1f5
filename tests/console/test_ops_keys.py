"""POST /ops/keys/revoke: a key that has leaked stops at once."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings

from agents.models import Agent, ApiKey
from agents.tokens import ACCESS_TOKEN_PREFIX, WORKSPACE_KEY_PREFIX, generate_token
from auditlog.models import AuditEntry
from config.db.ids import new_id
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.console.operators import operator_audit_entries
from tests.oauth_programs import Program, browser_of
from workspaces.models import User, Workspace

LOGS = "/logs?workspace_id={}"


def revoke(operator: ApiClient, **body: Any) -> Any:
    return operator.post("/ops/keys/revoke", body)


def test_a_leaked_token_is_revoked_and_appears_nowhere(operator: ApiClient, workspace: Workspace) -> None:
    token = factories.workspace_key(workspace)
    leaked, key = ApiClient(token), ApiKey.objects.get()
    assert leaked.get(LOGS.format(workspace.id)).status_code == 200
    answer = revoke(operator, token=token)

    assert (answer.json()["api_key"]["id"], answer.json()["api_key"]["status"]) == (key.id, "revoked")
    assert_envelope(leaked.get(LOGS.format(workspace.id)), 401, "API_KEY_REVOKED")
    assert operator_audit_entries("ops.revoke_key") == [(workspace.id, key.id, False, None)]
    assert token not in answer.content.decode() + str(list(AuditEntry.objects.values()))


def test_an_agents_key_is_revoked_by_id_and_a_second_call_succeeds(operator: ApiClient, workspace: Workspace) -> None:
    factories.agent_key(factories.AgentFactory.create(workspace=workspace))
    key = ApiKey.objects.get()
    first = revoke(operator, id=key.id)
    revoked_at = ApiKey.objects.get().revoked_at

    assert (first.status_code, first.json()) == (200, revoke(operator, id=key.id).json())
    assert (ApiKey.objects.get().revoked_at, revoked_at is None) == (revoked_at, False)


@pytest.mark.parametrize("leaked", ["access_token", "refresh_token"])
def test_a_leaked_token_of_a_program_ends_its_connection(
    operator: ApiClient, workspace: Workspace, owner: User, leaked: str
) -> None:
    program = Program()
    issued = program.connect(browser_of(owner), resource=settings.BASE_URL)
    agent = Agent.objects.get()
    client = ApiClient(issued["access_token"])
    preview = revoke(operator, token=issued[leaked], dry_run=True)
    assert (preview.json()["would_update"]["status"], client.get("/capabilities").status_code) == ("revoked", 200)
    first, second = (revoke(operator, token=issued[leaked]).json()["api_key"] for _ in range(2))

    assert first == second
    assert (first["id"], first["agent_id"], first["name"]) == (agent.oauth_grant.id, agent.id, "Robot")
    assert_envelope(client.get("/capabilities"), 401, "API_KEY_REVOKED")
    assert program.refresh(issued["refresh_token"]).json()["error"] == "invalid_grant"
    assert operator_audit_entries("ops.revoke_key") == [
        (workspace.id, agent.id, dry_run, None) for dry_run in (True, False, False)
    ]
    assert AuditEntry.objects.get(operation="oauth.end_grant").metadata["reason"] == "revoked_by_operator"


def test_a_dry_run_does_not_revoke_the_key(operator: ApiClient, workspace: Workspace) -> None:
    token = factories.workspace_key(workspace)
    result = revoke(operator, token=token, dry_run=True)

    assert result.json()["would_update"]["status"] == "revoked"
    assert token not in result.content.decode()
    assert ApiClient(token).get(LOGS.format(workspace.id)).status_code == 200


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"token": generate_token(WORKSPACE_KEY_PREFIX)}, "token"),
        ({"token": generate_token(ACCESS_TOKEN_PREFIX)}, "token"),
        ({"id": new_id("key")}, "id"),
        ({}, ""),
        ({"token": "x", "id": new_id("key")}, ""),
    ],
)
def test_an_invalid_choice_of_key_is_reported_at_its_field(operator: ApiClient, body: dict[str, Any], field: str) -> None:
    details = assert_envelope(revoke(operator, **body), 422, "VALIDATION_FAILED")["details"]

    assert [each["field"] for each in details] == [field]
