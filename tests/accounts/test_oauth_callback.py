"""GET /accounts/oauth/callback: input, permissions, and states that were never issued."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from auditlog.models import AuditEntry
from config.api.models import IdempotencyRecord
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.contract.routes import described
from tests.people import as_user
from workspaces.models import User, Workspace

PATH = "/accounts/oauth/callback"
QUERY = "?state=a-state&code=a-code"


def test_an_unknown_state_is_refused_and_nothing_connected(api: ApiClient, owner: User) -> None:
    for client in (api, as_user(owner)):
        body = assert_envelope(client.get(PATH + QUERY), 422, "OAUTH_STATE_INVALID")
        assert "POST /accounts/connect" in body["suggested_action"]
    assert not ConnectedAccount.objects.exists()


@pytest.mark.parametrize(("query", "dry_run"), [("", False), ("&dry_run=true", True), ("&dry_run=false", False)])
def test_the_audit_entry_is_a_write_without_secrets(api: ApiClient, query: str, dry_run: bool) -> None:
    assert_envelope(api.get(PATH + QUERY + query), 422, "OAUTH_STATE_INVALID")

    entry = AuditEntry.objects.get()
    assert (entry.operation, entry.outcome, entry.code, entry.dry_run) == (
        "accounts.complete_connection",
        "refused",
        "OAUTH_STATE_INVALID",
        dry_run,
    )
    assert "a-state" not in str(vars(entry))
    assert "a-code" not in str(vars(entry))


def test_a_refused_call_does_not_use_its_idempotency_key(api: ApiClient) -> None:
    for _ in range(2):
        assert_envelope(api.get(PATH + QUERY, idempotency_key="k"), 422, "OAUTH_STATE_INVALID")
    assert not IdempotencyRecord.objects.exists()


def test_an_invalid_idempotency_key_is_refused(api: ApiClient) -> None:
    body = assert_envelope(api.get(PATH + QUERY, idempotency_key="x" * 256), 422, "VALIDATION_FAILED")

    assert [detail["field"] for detail in body["details"]] == ["Idempotency-Key"]


def test_completing_needs_the_scope(key_with: Callable[..., ApiClient], agent_client: Callable[..., ApiClient]) -> None:
    assert_envelope(key_with("accounts.read").get(PATH + QUERY), 403, "SCOPE_MISSING")
    for client in (key_with("accounts.write"), agent_client(["accounts.write"])):
        assert_envelope(client.get(PATH + QUERY), 422, "OAUTH_STATE_INVALID")


def test_an_agent_limited_to_dry_runs_cannot_complete_for_real(agent_client: Callable[..., ApiClient]) -> None:
    client = agent_client(default_mode="dry_run")

    assert_envelope(client.get(f"{PATH}{QUERY}&dry_run=false"), 403, "AGENT_MODE_FORBIDS")
    assert_envelope(client.get(PATH + QUERY), 422, "OAUTH_STATE_INVALID")
    assert list(AuditEntry.objects.order_by("id").values_list("code", "dry_run")) == [
        ("AGENT_MODE_FORBIDS", False),
        ("OAUTH_STATE_INVALID", True),
    ]


def test_a_paused_workspace_connects_nothing(api: ApiClient, workspace: Workspace) -> None:
    Workspace.objects.update(status="paused")

    assert_envelope(api.get(PATH + QUERY), 403, "WORKSPACE_PAUSED")


@pytest.mark.parametrize("method", ["HEAD", "POST", "DELETE"])
def test_only_get_is_allowed(api: ApiClient, method: str) -> None:
    answer = api.request(method, PATH + QUERY)

    assert (answer.status_code, answer["allow"]) == (405, "GET")
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("?state=a", "code"),
        ("?code=a", "state"),
        ("?state=&code=a", "state"),
        ("?state=a&code=b&error=c", "error"),
        ("?state=a&state=b&code=c", "state"),
        ("?state=a&code=b&choice=", "choice"),
        ("?state=%00&code=a", "state"),
        ("?state=a&code=b&dry_run=1", "dry_run"),
    ],
)
def test_an_invalid_query_is_refused(api: ApiClient, query: str, field: str) -> None:
    body = assert_envelope(api.get(PATH + query), 422, "VALIDATION_FAILED")

    assert [detail["field"] for detail in body["details"]] == [field]


def test_the_openapi_document_has_dry_run_and_idempotency_key() -> None:
    described_operation: dict[str, Any] = described()["paths"][PATH]["get"]

    assert {(each["name"], each["in"], each.get("required", False)) for each in described_operation["parameters"]} == {
        ("state", "query", True),
        ("code", "query", True),
        ("choice", "query", False),
        ("dry_run", "query", False),
        ("Idempotency-Key", "header", False),
        ("Plan-Hash", "header", False),
    }
    assert "WORKSPACE_PAUSED" in described_operation["responses"]["403"]["content"]["application/json"]["examples"]
    assert "requestBody" not in described_operation
