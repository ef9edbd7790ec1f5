"""Tests of DELETE /workspaces/{id}."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from django.conf import settings

from agents import tokens
from agents.models import ClaimToken
from auditlog.models import AuditEntry
from config.celery import app
from config.db.ids import new_id
from posts.models import PostGroup
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.in_threads import in_threads
from tests.people import as_user
from tests.plan_hashes import ANY_PLAN_HASH
from webhooks.models import SigningSecret
from workspaces.models import Member, User, Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)


def delete(client: ApiClient, workspace: Workspace, body: Any = None) -> Any:
    return client.delete(f"/workspaces/{workspace.id}", body)


def status_of(workspace: Workspace) -> str:
    workspace.refresh_from_db()
    return workspace.status


@pytest.mark.parametrize("by", ["owner", "key"])
def test_the_owner_and_a_workspace_key_delete_it(api: ApiClient, owner: User, workspace: Workspace, by: str) -> None:
    before = api.get(f"/workspaces/{workspace.id}/export").json()["workspace"]
    with time_machine.travel(NOON, tick=False):
        answer = delete(as_user(owner) if by == "owner" else api, workspace)

    assert answer.status_code == 200
    assert answer.json() == {"workspace": {**before, "status": "deleted", "updated_at": "2027-03-10T12:00:00Z"}}
    assert status_of(workspace) == "deleted"
    entry = AuditEntry.objects.exclude(operation="workspaces.export").get()
    assert (entry.operation, entry.outcome, entry.dry_run) == ("workspaces.delete", "succeeded", False)
    assert (entry.workspace_id, entry.resource_type, entry.resource_id) == (workspace.id, "workspace", workspace.id)


def test_its_keys_agents_and_claim_tokens_stop_at_once(
    owner: User, workspace: Workspace, api: ApiClient, agent_client: Callable[..., ApiClient]
) -> None:
    agent, claim_token = agent_client(), tokens.generate_token(tokens.CLAIM_TOKEN_PREFIX)
    ClaimToken.objects.create(
        agent=factories.AgentFactory(workspace=workspace),
        token_sha256=tokens.token_digest(claim_token),
        expires_at=datetime(2100, 1, 1, tzinfo=UTC),
    )

    delete(as_user(owner), workspace)

    for client in (api, agent):
        assert_envelope(client.get(f"/agents?workspace_id={workspace.id}"), 401, "API_KEY_REVOKED")
        assert_envelope(delete(client, workspace), 401, "API_KEY_REVOKED")
    claim = ApiClient(claim_token).post("/agents/claim", {"claim_token": claim_token})
    assert_envelope(claim, 422, "CLAIM_TOKEN_INVALID")


def test_a_deleted_workspace_is_not_found_by_its_members(owner: User, workspace: Workspace, teammate: User) -> None:
    delete(as_user(owner), workspace)

    assert as_user(owner).get(f"/workspaces?owner_user_id={owner.id}").json()["workspaces"] == []
    for client in (as_user(owner), as_user(teammate)):
        assert_envelope(delete(client, workspace), 404, "NOT_FOUND")
        assert_envelope(client.get(f"/workspaces/{workspace.id}/export"), 404, "NOT_FOUND")
        assert_envelope(client.get(f"/agents?workspace_id={workspace.id}"), 404, "NOT_FOUND")


def test_periodic_tasks_destroy_secrets_and_cancel_posts_within_a_minute(
    owner: User, workspace: Workspace, api: ApiClient
) -> None:
    account = factories.AccountFactory(workspace=workspace, credentials={"password": "x"}, tokens={"access": "y"})
    target = {"platform": account.platform, "connected_account_id": account.id}
    api.post("/posts", {"text": "Hello", "targets": [target], "draft": True})
    api.get(f"/workspaces/{workspace.id}/webhook-signing-secret")
    delete(as_user(owner), workspace)

    app.loader.import_default_modules()
    schedule: Any = settings.CELERY_BEAT_SCHEDULE
    for entry in schedule.values():
        if entry["schedule"] <= 60 and "deleted" in entry["task"]:
            app.tasks[entry["task"]]()

    account.refresh_from_db()
    assert (account.status, account.credentials, account.tokens) == ("disconnected", None, None)
    assert not SigningSecret.objects.exists()
    assert [group.status for group in PostGroup.objects.all()] == ["cancelled"]


@pytest.mark.parametrize("where", ["body", "query"])
def test_a_dry_run_returns_a_preview_and_deletes_nothing(
    api: ApiClient, owner: User, workspace: Workspace, where: str
) -> None:
    before, path = api.get(f"/workspaces/{workspace.id}/export").json()["workspace"], f"/workspaces/{workspace.id}"
    with time_machine.travel(NOON, tick=False):
        client = as_user(owner)
        answer = client.delete(path, {"dry_run": True}) if where == "body" else client.delete(f"{path}?dry_run=true")

    assert answer.status_code == 200
    assert answer.json() == {
        "dry_run": True,
        "plan_hash": ANY_PLAN_HASH,
        "operation": "workspaces.delete",
        "request": {},
        "would_delete": {**before, "status": "deleted", "updated_at": "2027-03-10T12:00:00Z"},
    }
    assert status_of(workspace) == "active"
    assert [(entry.operation, entry.dry_run) for entry in AuditEntry.objects.exclude(operation="workspaces.export")] == [
        ("workspaces.delete", True)
    ]


def test_other_callers_are_refused(
    workspace: Workspace, teammate: User, agent_client: Callable[..., ApiClient], key_with: Callable[..., ApiClient]
) -> None:
    for dry_run in (False, True):
        body = {"dry_run": dry_run}
        for role in ("member", "admin"):
            Member.objects.filter(user=teammate).update(role=role)
            assert_envelope(delete(as_user(teammate), workspace, body), 403, "FORBIDDEN")
        assert_envelope(delete(agent_client(), workspace, body), 403, "FORBIDDEN")
        assert_envelope(delete(key_with("posts.publish"), workspace, body), 403, "SCOPE_MISSING")
    assert status_of(workspace) == "active"


def test_a_foreign_and_a_missing_workspace_get_the_same_response(workspace: Workspace, stranger: User) -> None:
    foreign_key = ApiClient(factories.workspace_key(stranger.owned_workspaces.get()))

    for client in (as_user(stranger), foreign_key):
        bodies = [
            assert_envelope(delete(client, one), 404, "NOT_FOUND") | {"trace_id": ""}
            for one in (workspace, Workspace(id=new_id("wrk")))
        ]
        assert bodies[0] == bodies[1]
    assert status_of(workspace) == "active"


def test_a_paused_workspace_is_not_deleted(api: ApiClient, owner: User, workspace: Workspace) -> None:
    Workspace.objects.update(status="paused")

    for client in (api, as_user(owner)):
        assert_envelope(delete(client, workspace), 403, "WORKSPACE_PAUSED")
    assert status_of(workspace) == "paused"


@pytest.mark.django_db(transaction=True)
def test_only_one_of_several_concurrent_deletions_succeeds(owner: User, workspace: Workspace) -> None:
    answers = in_threads(6, lambda _: delete(as_user(owner), workspace))

    assert sorted(answer.status_code for answer in answers) == [200] + [404] * 5
    assert AuditEntry.objects.filter(operation="workspaces.delete", outcome="succeeded").count() == 1
