"""Every write that an authenticated caller tries creates one audit entry, without personal text."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import ConnectedAccount
from agents import tokens
from agents.models import Agent, ClaimToken
from agents.services import issue_key
from auditlog.models import AuditEntry
from config.db.ids import new_id
from tests import factories
from tests.conftest import ApiClient
from tests.fakes.bluesky import FakeBluesky
from tests.people import as_user
from workspaces.models import User, Workspace

Write = tuple[str, str, dict[str, Any]]


@pytest.fixture
def writes(workspace: Workspace, account: ConnectedAccount, settings: Any) -> Any:
    """Return every writing operation with method, path and body, while the fake platform runs."""
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    key = issue_key(workspace_id=workspace.id, name="Spare", scopes=["posts.read"]).api_key
    agent_body = {
        "workspace_id": workspace.id,
        "owner_user_id": workspace.owner_user_id,
        "name": "canary-name",
        "description": "canary-description",
        "scopes": ["posts.read"],
        "default_mode": "draft",
    }
    with FakeBluesky() as platform:
        platform.add_account("canary-handle.test", "canary-password")
        connect_body = {
            "workspace_id": workspace.id,
            "platform": "bluesky",
            "credentials": {
                "identifier": "canary-handle.test@example.com",
                "app_password": "canary-password",
                "service": platform.url,
            },
        }
        yield {
            "workspaces.create": ("POST", "/workspaces", {"owner_user_id": workspace.owner_user_id, "name": "canary-name"}),
            "agents.create": ("POST", "/agents", agent_body),
            "api_keys.create": (
                "POST",
                "/auth/api-keys",
                {"workspace_id": workspace.id, "name": "canary-name", "scopes": ["posts.read"]},
            ),
            "api_keys.revoke": ("DELETE", f"/auth/api-keys/{key.id}", {}),
            "accounts.connect": ("POST", "/accounts/connect", connect_body),
            "accounts.disconnect": ("DELETE", f"/accounts/{account.id}", {}),
        }


def new_claim(workspace: Workspace) -> str:
    """Register an agent and return its claim token."""
    token = tokens.generate_token(tokens.CLAIM_TOKEN_PREFIX)
    ClaimToken.objects.create(
        agent=factories.AgentFactory(workspace=workspace),
        token_sha256=tokens.token_digest(token),
        expires_at=timezone.now() + timedelta(hours=1),
    )
    return token


@pytest.mark.parametrize(
    ("operation", "noun", "member"),
    [
        ("workspaces.create", "workspace", "workspace"),
        ("agents.create", "agent", "agent"),
        ("api_keys.create", "api_key", "api_key"),
        ("api_keys.revoke", "api_key", "api_key"),
        ("accounts.connect", "account", "account"),
        ("accounts.disconnect", "account", "account"),
    ],
)
def test_a_write_creates_one_entry(
    workspace: Workspace, writes: dict[str, Write], operation: str, noun: str, member: str
) -> None:
    issued = issue_key(workspace_id=workspace.id, name="A", scopes=["api_keys.write", "accounts.write", "posts.read"])
    answer = ApiClient(issued.token).request(*writes[operation])

    made = answer.json()[member]
    entry = AuditEntry.objects.get()
    assert (entry.operation, entry.outcome, entry.code, entry.dry_run) == (operation, "succeeded", None, False)
    assert (entry.resource_type, entry.resource_id) == (noun, made["id"])
    assert (entry.actor_type, entry.actor_id, entry.via) == ("api_key", issued.api_key.id, None)
    assert entry.workspace_id == (made["id"] if noun == "workspace" else workspace.id)
    assert (entry.ip, entry.trace_id, entry.retention_tier) == ("127.0.0.1", answer["x-trace-id"], "free")


@pytest.mark.parametrize(
    "operation",
    ["workspaces.create", "agents.create", "api_keys.create", "api_keys.revoke", "accounts.connect", "accounts.disconnect"],
)
def test_a_dry_run_creates_one_entry_marked_as_dry_run(api: ApiClient, writes: dict[str, Write], operation: str) -> None:
    method, path, body = writes[operation]
    answer = api.request(method, path, {**body, "dry_run": True})

    entry = AuditEntry.objects.get()
    assert (answer.status_code, answer.json()["operation"]) == (200, operation)
    assert (entry.operation, entry.outcome, entry.dry_run) == (operation, "succeeded", True)
    assert entry.resource_id in ("", path.rsplit("/", 1)[-1])


def test_a_claim_is_recorded_with_the_agent_as_actor(workspace: Workspace) -> None:
    token = new_claim(workspace)
    client, agent = ApiClient(token), Agent.objects.get()

    for _ in range(2):
        client.post("/agents/claim", {"claim_token": token})

    assert list(
        AuditEntry.objects.order_by("id").values_list("actor_type", "actor_id", "workspace_id", "outcome", "code")
    ) == [
        ("agent", agent.id, workspace.id, "succeeded", None),
        ("agent", agent.id, workspace.id, "refused", "CLAIM_TOKEN_USED"),
    ]


@pytest.mark.parametrize(
    ("operation", "path", "content", "code"),
    [
        ("agents.create", "/agents", b"{", "MALFORMED_REQUEST"),
        ("agents.create", "/agents", b"[]", "VALIDATION_FAILED"),
        ("api_keys.create", "/auth/api-keys", b"{}", "VALIDATION_FAILED"),
        ("workspaces.create", "/workspaces?colour=red", b"{}", "VALIDATION_FAILED"),
        ("agents.claim", "/agents/claim", b'{"claim_token": "x"}', "CLAIM_TOKEN_INVALID"),
    ],
)
def test_an_invalid_request_is_recorded_with_its_code(
    api: ApiClient, workspace: Workspace, operation: str, path: str, content: bytes, code: str
) -> None:
    answer = api.post(path, content)

    entry = AuditEntry.objects.get()
    assert answer.json()["code"] == code
    assert (entry.operation, entry.outcome, entry.code) == (operation, "refused", code)
    assert (entry.workspace_id, entry.trace_id) == (workspace.id, answer["x-trace-id"])


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_forbidden_request_is_recorded_with_its_code(
    key_with: Callable[..., ApiClient], writes: dict[str, Write], dry_run: bool
) -> None:
    client = key_with("posts.read")
    for method, path, body in writes.values():
        client.request(method, path, {**body, "dry_run": dry_run})

    entries = AuditEntry.objects.order_by("id").values_list("operation", "outcome", "code", "dry_run")
    assert list(entries) == [(operation, "refused", "SCOPE_MISSING", dry_run) for operation in writes]


def test_refusals_of_users_are_in_the_log_of_their_workspace(
    workspace: Workspace, teammate: User, stranger: User, account: ConnectedAccount
) -> None:
    for user in (teammate, stranger):
        as_user(user).delete(f"/accounts/{account.id}")

    assert list(AuditEntry.objects.order_by("id").values_list("actor_id", "workspace_id", "code")) == [
        (teammate.id, workspace.id, "FORBIDDEN"),
        (stranger.id, "", "NOT_FOUND"),
    ]


def test_an_internal_error_rolls_back_and_is_recorded(api: ApiClient, workspace: Workspace, settings: Any) -> None:
    settings.WORKSPACE_PROVISIONERS = ["no.such.Provisioner"]
    api.post("/workspaces", {"owner_user_id": workspace.owner_user_id, "name": "A"})

    assert list(AuditEntry.objects.values_list("operation", "outcome", "code")) == [
        ("workspaces.create", "refused", "INTERNAL_ERROR")
    ]


def test_reads_and_anonymous_requests_are_not_recorded(api: ApiClient, workspace: Workspace) -> None:
    api.get(f"/accounts?workspace_id={workspace.id}")
    api.get(f"/agents/{new_id('agt')}")
    ApiClient().post("/auth/api-keys", {})
    ApiClient(tokens.generate_token(tokens.WORKSPACE_KEY_PREFIX)).post("/auth/api-keys", {})

    assert not AuditEntry.objects.exists()


def test_an_entry_keeps_its_retention_tier(workspace: Workspace, owner: User, api: ApiClient) -> None:
    Workspace.objects.update(retention_tier="scale")
    for client in (api, as_user(owner)):
        client.post("/auth/api-keys", {"workspace_id": workspace.id, "name": "A", "scopes": ["posts.read"]})
    Workspace.objects.update(retention_tier="free")

    assert list(AuditEntry.objects.values_list("retention_tier", flat=True)) == ["scale", "scale"]


def test_the_table_contains_no_e_mail_text_or_token(
    api: ApiClient, workspace: Workspace, account: ConnectedAccount, writes: dict[str, Write]
) -> None:
    claim_token = new_claim(workspace)
    target = {"platform": account.platform, "connected_account_id": account.id}
    shown = [api.post("/posts", {"text": "canary-text", "targets": [target]})]
    api.post("/posts", {"text": "canary-text", "targets": [target, target]})
    shown += [api.request(*write) for write in writes.values()]
    shown.append(ApiClient(claim_token).post("/agents/claim", {"claim_token": claim_token}))
    api.request(*writes["accounts.connect"][:2], {"credentials": {"app_password": "canary-password"}})

    secrets = [answer.json()[name] for answer in shown for name in ("token", "claim_token") if name in answer.json()]
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM auditlog_auditentry")
        table = str(cursor.fetchall())
    assert {answer.status_code for answer in shown} == {200, 201}
    assert AuditEntry.objects.count() == 10
    assert len(secrets) == 3
    assert not [canary for canary in ("canary", "@", api.token, claim_token, *secrets) if str(canary) in table]
