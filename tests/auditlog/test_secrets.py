"""Every secret that is given out or refused is recorded in the audit log, without the secret itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agents.models import Agent
from auditlog.models import AuditEntry
from tests import factories
from tests.conftest import ApiClient
from tests.contract.routes import routes
from tests.pages import Pages
from tests.people import as_user
from workspaces.models import User, Workspace

# The calls whose answer holds a secret, and how one is made about this workspace and agent.
CALLS: dict[str, Callable[[ApiClient, Workspace, Agent], Any]] = {
    "agents.create": lambda client, workspace, agent: client.post(
        "/agents",
        {
            "workspace_id": workspace.id,
            "owner_user_id": workspace.owner_user_id,
            "name": "A",
            "scopes": ["posts.read"],
            "default_mode": "draft",
        },
    ),
    "agents.rotate_key": lambda client, workspace, agent: client.post(f"/agents/{agent.id}/rotate-key"),
    "api_keys.create": lambda client, workspace, agent: client.post(
        "/auth/api-keys", {"workspace_id": workspace.id, "name": "K", "scopes": ["posts.read"]}
    ),
    "workspaces.rotate_signing_secret": lambda client, workspace, agent: client.post(
        f"/workspaces/{workspace.id}/webhook-signing-secret/rotate"
    ),
}
CLAIM = "agents.claim"


def recorded(operation: str) -> list[tuple[str, str | None]]:
    entries = AuditEntry.objects.filter(operation=operation).order_by("pk")
    return list(entries.values_list("outcome", "code"))


def test_the_list_of_secret_operations_is_complete() -> None:
    assert {route.operation.name for route in routes() if route.operation.idempotency.secrets} == {*CALLS, CLAIM}


@pytest.mark.parametrize("operation", CALLS)
def test_each_secret_given_or_refused_is_recorded(
    workspace: Workspace, owner: User, teammate: User, stranger: User, operation: str
) -> None:
    agent = factories.AgentFactory(workspace=workspace)
    narrow = ApiClient(factories.workspace_key(workspace, ["posts.read"]))
    call = CALLS[operation]
    answers = [call(client, workspace, agent) for client in (narrow, as_user(teammate), as_user(stranger))]
    assert [answer.status_code // 100 for answer in answers] == [4, 4, 4]
    assert [outcome for outcome, _ in recorded(operation)] == ["refused"] * 3
    assert all(code for _, code in recorded(operation))

    given = call(as_user(owner), workspace, agent)
    assert recorded(operation)[3:] == [("succeeded", None)]
    held = str(list(AuditEntry.objects.values()))
    secrets = [value for value in given.json().values() if isinstance(value, str) and len(value) > 30]
    assert secrets
    assert not [secret for secret in secrets if secret in held]


def test_a_claim_is_recorded(workspace: Workspace, owner: User) -> None:
    agent = CALLS["agents.create"](as_user(owner), workspace, factories.AgentFactory(workspace=workspace)).json()
    first, second = (as_user(owner).post("/agents/claim", {"claim_token": agent["claim_token"]}) for _ in range(2))

    assert (first.status_code, second.status_code) == (200, 409)
    assert recorded(CLAIM) == [("succeeded", None), ("refused", "CLAIM_TOKEN_USED")]
    assert first.json()["token"] not in str(list(AuditEntry.objects.values()))


@pytest.mark.parametrize(("page", "operation"), [("api-key-new", "api_keys.create")])
@pytest.mark.parametrize(("who", "code"), [("teammate", "FORBIDDEN"), ("stranger", "NOT_FOUND")])
def test_refusals_by_the_dashboard_are_recorded(
    workspace: Workspace, teammate: User, stranger: User, page: str, operation: str, who: str, code: str
) -> None:
    person = {"teammate": teammate, "stranger": stranger}[who]
    Pages(workspace, person).post(page, {"key": "k", "name": "Mine", "scopes": ["posts.read"]})

    assert recorded(operation) == [("refused", code)]


@pytest.mark.parametrize(("who", "code"), [("teammate", "FORBIDDEN"), ("stranger", "NOT_FOUND"), ("owner", None)])
def test_exports_by_the_dashboard_are_recorded(
    workspace: Workspace, owner: User, teammate: User, stranger: User, who: str, code: str | None
) -> None:
    person = {"owner": owner, "teammate": teammate, "stranger": stranger}[who]
    Pages(workspace, person).get("settings-export")

    assert recorded("workspaces.export") == [("refused" if code else "succeeded", code)]
