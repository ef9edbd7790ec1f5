"""GET /accounts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from accounts.models import ConnectedAccount
from config.db.ids import new_id
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.people import as_user
from workspaces.models import User, Workspace

FIELDS = {
    "id",
    "workspace_id",
    "platform",
    "method",
    "sandbox",
    "external_id",
    "handle",
    "display_name",
    "avatar_url",
    "profile_url",
    "status",
    "scopes",
    "token_expires_at",
    "last_checked_at",
    "created_at",
    "updated_at",
}


def test_the_list_is_newest_first_without_disconnected_accounts(
    api: ApiClient, workspace: Workspace, account: ConnectedAccount
) -> None:
    stale = factories.AccountFactory(workspace=workspace, status="needs_reauth")
    factories.AccountFactory(workspace=workspace, status="disconnected")
    factories.AccountFactory()

    body = api.get(f"/accounts?workspace_id={workspace.id}").json()

    assert set(body) == {"accounts", "next_cursor"}
    assert body["next_cursor"] is None
    assert [(row["id"], row["status"]) for row in body["accounts"]] == [(stale.id, "needs_reauth"), (account.id, "active")]
    assert [set(row) for row in body["accounts"]] == [FIELDS, FIELDS]


def test_the_list_is_paginated(api: ApiClient, workspace: Workspace) -> None:
    made = [factories.AccountFactory(workspace=workspace).id for _ in range(3)]

    first = api.get(f"/accounts?workspace_id={workspace.id}&limit=2").json()
    second = api.get(f"/accounts?workspace_id={workspace.id}&limit=2&cursor={first['next_cursor']}").json()

    assert [row["id"] for row in first["accounts"]] == [made[2], made[1]]
    assert [row["id"] for row in second["accounts"]] == [made[0]]
    assert second["next_cursor"] is None


def test_every_member_may_read_even_in_a_paused_workspace(
    owner: User,
    teammate: User,
    account: ConnectedAccount,
    key_with: Callable[..., ApiClient],
    agent_client: Callable[..., ApiClient],
) -> None:
    clients = [as_user(owner), as_user(teammate), key_with("accounts.read"), agent_client(["accounts.read"])]
    Workspace.objects.update(status="paused")

    for client in clients:
        body = client.get(f"/accounts?workspace_id={account.workspace_id}").json()
        assert [row["id"] for row in body["accounts"]] == [account.id]


def test_reading_needs_the_scope(workspace: Workspace, key_with: Callable[..., ApiClient]) -> None:
    answer = key_with("accounts.write", "posts.read").get(f"/accounts?workspace_id={workspace.id}")

    assert_envelope(answer, 403, "SCOPE_MISSING")


def test_a_foreign_and_a_missing_workspace_get_the_same_answer(account: ConnectedAccount, stranger: User) -> None:
    foreign_key = ApiClient(factories.workspace_key(stranger.owned_workspaces.get()))

    for client in (as_user(stranger), foreign_key):
        bodies = [
            assert_envelope(client.get(f"/accounts?workspace_id={one}"), 404, "NOT_FOUND") | {"trace_id": ""}
            for one in (account.workspace_id, new_id("wrk"))
        ]
        assert bodies[0] == bodies[1]
    assert_envelope(ApiClient().get(f"/accounts?workspace_id={account.workspace_id}"), 401, "UNAUTHENTICATED")


@pytest.mark.parametrize(
    ("query", "field"),
    [("", "workspace_id"), ("workspace_id=acc_1", "workspace_id"), ("limit=0", "limit"), ("cursor=xx", "cursor")],
)
def test_an_invalid_parameter_is_named(api: ApiClient, workspace: Workspace, query: str, field: str) -> None:
    whose = "" if field == "workspace_id" else f"workspace_id={workspace.id}&"
    details = assert_envelope(api.get(f"/accounts?{whose}{query}"), 422, "VALIDATION_FAILED")["details"]

    assert [detail["field"] for detail in details] == [field]
