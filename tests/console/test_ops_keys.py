"""POST /ops/keys/revoke: a key that has leaked stops at once."""

from __future__ import annotations

from typing import Any

import pytest

from agents.models import ApiKey
from agents.tokens import WORKSPACE_KEY_PREFIX, new_token
from auditlog.models import AuditEntry
from config.db.ids import new_id
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.console.operators import operator_audit_entries
from workspaces.models import Workspace

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


def test_a_dry_run_does_not_revoke_the_key(operator: ApiClient, workspace: Workspace) -> None:
    token = factories.workspace_key(workspace)
    result = revoke(operator, token=token, dry_run=True)

    assert result.json()["would_update"]["status"] == "revoked"
    assert token not in result.content.decode()
    assert ApiClient(token).get(LOGS.format(workspace.id)).status_code == 200


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"token": new_token(WORKSPACE_KEY_PREFIX)}, "token"),
        ({"id": new_id("key")}, "id"),
        ({}, ""),
        ({"token": "x", "id": new_id("key")}, ""),
    ],
)
def test_an_invalid_choice_of_key_is_reported_at_its_field(operator: ApiClient, body: dict[str, Any], field: str) -> None:
    details = assert_envelope(revoke(operator, **body), 422, "VALIDATION_FAILED")["details"]

    assert [each["field"] for each in details] == [field]
