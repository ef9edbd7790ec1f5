"""GET /accounts/oauth/callback: a GET that writes; its form, and states that nobody was ever given."""

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
def test_the_attempt_is_entered_as_a_write_without_its_secrets(api: ApiClient, query: str, dry_run: bool) -> None:
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


def test_a_refused_attempt_leaves_its_idempotency_key_free(api: ApiClient) -> None:
    for _ in range(2):
        assert_envelope(api.get(PATH + QUERY, idempotency_key="k"), 422, "OAUTH_STATE_INVALID")
    assert not IdempotencyRecord.objects.exists()


def test_a_key_that_is_none_is_refused(api: ApiClient) -> None:
    body = assert_envelope(api.get(PATH + QUERY, idempotency_key="x" * 256), 422, "VALIDATION_FAILED")

    assert [detail["field"] for detail in body["details"]] == ["Idempotency-Key"]


def test_who_may_complete(key_with: Callable[..., ApiClient], agent_client: Callable[..., ApiClient]) -> None:
    assert_envelope(key_with("accounts.read").get(PATH + QUERY), 403, "SCOPE_MISSING")
    for client in (key_with("accounts.write"), agent_client(["accounts.write"])):
        assert_envelope(client.get(PATH + QUERY), 422, "OAUTH_STATE_INVALID")


def test_an_agent_that_can_only_preview_may_not_say_otherwise(agent_client: Callable[..., ApiClient]) -> None:
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
def test_it_is_taken_as_a_get_only(api: ApiClient, method: str) -> None:
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
def test_a_senseless_query_is_refused(api: ApiClient, query: str, field: str) -> None:
    body = assert_envelope(api.get(PATH + query), 422, "VALIDATION_FAILED")

    assert [detail["field"] for detail in body["details"]] == [field]


def test_the_document_tells_of_dry_run_and_key() -> None:
    told: dict[str, Any] = described()["paths"][PATH]["get"]

    assert {(each["name"], each["in"], each.get("required", False)) for each in told["parameters"]} == {
        ("state", "query", True),
        ("code", "query", True),
        ("choice", "query", False),
        ("dry_run", "query", False),
        ("Idempotency-Key", "header", False),
    }
    assert "WORKSPACE_PAUSED" in told["responses"]["403"]["content"]["application/json"]["examples"]
    assert "requestBody" not in told
