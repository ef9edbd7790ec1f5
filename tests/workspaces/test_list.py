"""Tests of GET /workspaces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from config.db.ids import new_id
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.people import as_user
from workspaces.models import User, Workspace

FIELDS = {
    "id",
    "name",
    "slug",
    "owner_user_id",
    "processor_customer_id",
    "default_timezone",
    "free_monthly_credit_cents",
    "monthly_spend_cap_cents",
    "monthly_social_url_post_cap",
    "status",
    "created_at",
    "updated_at",
}


def list_workspaces(client: ApiClient, owner_user_id: str) -> list[str]:
    answer = client.get(f"/workspaces?owner_user_id={owner_user_id}")
    assert answer.status_code == 200, answer.content
    return [workspace["id"] for workspace in answer.json()["workspaces"]]


def test_an_owner_lists_their_workspaces_newest_first_without_deleted_ones(owner: User, workspace: Workspace) -> None:
    paused = factories.WorkspaceFactory(owner_user=owner, status="paused", commit_pack_id="pack")
    factories.WorkspaceFactory(owner_user=owner, status="deleted")
    factories.WorkspaceFactory()

    body = as_user(owner).get(f"/workspaces?owner_user_id={owner.id}").json()

    assert set(body) == {"workspaces", "next_cursor"}
    assert body["next_cursor"] is None
    assert [(row["id"], row["status"]) for row in body["workspaces"]] == [(paused.id, "paused"), (workspace.id, "active")]
    assert [set(row) for row in body["workspaces"]] == [FIELDS | {"commit_pack_id"}, FIELDS]


def test_pagination_returns_every_row_once(owner: User) -> None:
    made = [factories.WorkspaceFactory(owner_user=owner).id for _ in range(5)]
    client, cursor, pages = as_user(owner), "", []

    while cursor is not None:
        body = client.get(f"/workspaces?owner_user_id={owner.id}&limit=2{cursor}").json()
        pages.append([row["id"] for row in body["workspaces"]])
        cursor = body["next_cursor"] and f"&cursor={body['next_cursor']}"

    assert pages == [[made[4], made[3]], [made[2], made[1]], [made[0]]]


def test_nobody_sees_workspaces_that_another_user_owns(owner: User, teammate: User, stranger: User) -> None:
    for user in (teammate, stranger):
        assert list_workspaces(as_user(user), owner.id) == []
    assert list_workspaces(as_user(owner), new_id("usr")) == []


def test_a_key_sees_only_its_own_workspace(
    owner: User,
    workspace: Workspace,
    stranger: User,
    key_with: Callable[..., ApiClient],
    agent_client: Callable[..., ApiClient],
) -> None:
    factories.WorkspaceFactory(owner_user=owner)

    for client in (key_with("posts.read"), agent_client(["posts.draft"])):
        assert list_workspaces(client, owner.id) == [workspace.id]
        assert list_workspaces(client, stranger.id) == []


def test_listing_needs_a_token(owner: User) -> None:
    assert_envelope(ApiClient().get(f"/workspaces?owner_user_id={owner.id}"), 401, "UNAUTHENTICATED")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("", "owner_user_id"),
        ("owner_user_id=usr_1", "owner_user_id"),
        ("limit=0", "limit"),
        ("limit=201", "limit"),
        ("limit=many", "limit"),
        ("cursor=bm9uc2Vuc2U", "cursor"),
        ("status=active", "status"),
    ],
)
def test_an_invalid_parameter_is_named_in_the_error(owner: User, query: str, field: str) -> None:
    whose = "" if "owner" in field else f"owner_user_id={owner.id}&"
    body = assert_envelope(as_user(owner).get(f"/workspaces?{whose}{query}"), 422, "VALIDATION_FAILED")

    details: list[dict[str, Any]] = body["details"]
    assert [detail["field"] for detail in details] == [field]
