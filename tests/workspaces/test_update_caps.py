"""Tests of PATCH /workspaces/{id}."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine

from auditlog.models import AuditEntry
from config.db.ids import new_id
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.people import as_user
from tests.plan_hashes import ANY_PLAN_HASH
from workspaces.models import Member, User, Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
SPEND, URLS = "monthly_spend_cap_cents", "monthly_social_url_post_cap"


def update(client: ApiClient, workspace: Workspace, given: dict[str, Any], **headers: str) -> Any:
    return client.request("PATCH", f"/workspaces/{workspace.id}", given, **headers)


def caps(workspace: Workspace) -> tuple[int, int]:
    workspace.refresh_from_db()
    return workspace.monthly_spend_cap_cents, workspace.monthly_social_url_post_cap


@pytest.fixture
def workspace(owner: User) -> Workspace:
    made: Workspace = factories.WorkspaceFactory(owner_user=owner, monthly_spend_cap_cents=500, monthly_social_url_post_cap=5)
    return made


@pytest.mark.parametrize(
    ("given", "then"),
    [({SPEND: 0}, (0, 5)), ({URLS: 2**63 - 1}, (500, 2**63 - 1)), ({SPEND: 900, URLS: 0}, (900, 0)), ({}, (500, 5))],
    ids=["one", "the other", "both", "none"],
)
def test_given_caps_are_set_and_others_stay(
    api: ApiClient, workspace: Workspace, given: dict[str, int], then: tuple[int, int]
) -> None:
    before = api.get(f"/workspaces/{workspace.id}/export").json()["workspace"]
    with time_machine.travel(NOON, tick=False):
        answer = update(api, workspace, given)

    updated_at = "2027-03-10T12:00:00Z" if given else before["updated_at"]
    assert answer.status_code == 200
    assert answer.json() == {"workspace": {**before, **given, "updated_at": updated_at}}
    assert caps(workspace) == then
    entry = AuditEntry.objects.exclude(operation="workspaces.export").get()
    assert (entry.operation, entry.resource_type, entry.resource_id) == ("workspaces.update_caps", "workspace", workspace.id)
    assert (entry.workspace_id, entry.dry_run, entry.metadata) == (workspace.id, False, given)


def test_a_dry_run_returns_a_preview_and_sets_nothing(api: ApiClient, workspace: Workspace) -> None:
    before = api.get(f"/workspaces/{workspace.id}/export").json()["workspace"]
    with time_machine.travel(NOON, tick=False):
        answer = update(api, workspace, {SPEND: 7, "dry_run": True}, idempotency_key="one")

    assert answer.status_code == 200
    assert answer.json() == {
        "dry_run": True,
        "plan_hash": ANY_PLAN_HASH,
        "operation": "workspaces.update_caps",
        "request": {"workspace_id": workspace.id, SPEND: 7},
        "would_update": {**before, SPEND: 7, "updated_at": "2027-03-10T12:00:00Z"},
    }
    assert caps(workspace) == (500, 5)
    assert [(entry.operation, entry.dry_run) for entry in AuditEntry.objects.exclude(operation="workspaces.export")] == [
        ("workspaces.update_caps", True)
    ]


def test_a_changed_cap_applies_to_later_posts(api: ApiClient, workspace: Workspace) -> None:
    account = factories.AccountFactory(workspace=workspace, sandbox=False)
    Workspace.objects.filter(pk=workspace.pk).update(free_monthly_credit_cents=0)
    body = {
        "text": "Hello",
        "targets": [{"platform": account.platform, "connected_account_id": account.id}],
        "scheduled_at": "2027-03-10T13:00:00Z",
    }
    with time_machine.travel(NOON, tick=False):
        update(api, workspace, {SPEND: 1})
        first = api.post("/posts", body)
        update(api, workspace, {SPEND: 0})
        second = api.post("/posts", body)

    assert first.status_code == 201
    assert_envelope(second, 402, "SPEND_CAP_EXCEEDED")


def test_the_same_idempotency_key_gives_a_replay(api: ApiClient, workspace: Workspace) -> None:
    first = update(api, workspace, {SPEND: 7}, idempotency_key="one")
    update(api, workspace, {SPEND: 8})
    again = update(api, workspace, {SPEND: 7}, idempotency_key="one")

    assert (again["Idempotency-Replayed"], again.json()) == ("true", first.json())
    assert caps(workspace) == (8, 5)


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        (SPEND, -1, "min_value"),
        (URLS, 2**63, "max_value"),
        (SPEND, None, "null"),
        (SPEND, True, "wrong_type"),
        (URLS, 1.0, "wrong_type"),
        ("name", "Renamed", "unknown_field"),
        ("status", "paused", "unknown_field"),
    ],
)
def test_an_invalid_field_is_named_in_the_error(
    api: ApiClient, workspace: Workspace, field: str, value: Any, code: str
) -> None:
    for dry_run in (False, True):
        body = assert_envelope(update(api, workspace, {field: value, "dry_run": dry_run}), 422, "VALIDATION_FAILED")
        assert [(detail["field"], detail["code"]) for detail in body["details"]] == [(field, code)]
    assert caps(workspace) == (500, 5)


def test_owner_and_admin_are_allowed(owner: User, workspace: Workspace, teammate: User) -> None:
    Member.objects.filter(user=teammate).update(role="admin")

    for client, cap in ((as_user(owner), 1), (as_user(teammate), 2)):
        assert update(client, workspace, {SPEND: cap}).status_code == 200
        assert caps(workspace) == (cap, 5)


def test_members_agents_and_keys_without_the_scope_are_refused(
    workspace: Workspace, teammate: User, agent_client: Callable[..., ApiClient], key_with: Callable[..., ApiClient]
) -> None:
    for dry_run in (False, True):
        for client in (as_user(teammate), agent_client()):
            assert_envelope(update(client, workspace, {SPEND: 1, "dry_run": dry_run}), 403, "FORBIDDEN")
        assert_envelope(update(key_with("posts.publish"), workspace, {"dry_run": dry_run}), 403, "SCOPE_MISSING")
    assert caps(workspace) == (500, 5)


def test_a_foreign_and_a_missing_workspace_get_the_same_response(workspace: Workspace, stranger: User) -> None:
    foreign_key = ApiClient(factories.workspace_key(stranger.owned_workspaces.get()))

    for client in (as_user(stranger), foreign_key):
        bodies = [
            assert_envelope(update(client, one, {SPEND: 1}), 404, "NOT_FOUND") | {"trace_id": ""}
            for one in (workspace, Workspace(id=new_id("wrk")))
        ]
        assert bodies[0] == bodies[1]
    assert caps(workspace) == (500, 5)


def test_caps_of_paused_and_deleted_workspaces_cannot_be_changed(api: ApiClient, owner: User, workspace: Workspace) -> None:
    Workspace.objects.update(status="paused")
    assert_envelope(update(api, workspace, {SPEND: 1}), 403, "WORKSPACE_PAUSED")

    Workspace.objects.update(status="deleted")
    assert_envelope(update(as_user(owner), workspace, {SPEND: 1}), 404, "NOT_FOUND")
    assert caps(workspace) == (500, 5)
