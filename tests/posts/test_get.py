"""GET /posts/{id}: who can read a group; groups of other workspaces are not found."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from config.db.ids import new_id
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.factories import WorkspaceFactory, workspace_key
from tests.people import as_user
from tests.posts.rows import create
from workspaces.models import User

CALLS = [("GET", ""), ("DELETE", ""), ("POST", "/retry")]


def test_a_read_returns_the_created_group(api: ApiClient, account: ConnectedAccount) -> None:
    group = create(api, account, draft=True)

    answer = api.get(f"/posts/{group['id']}")

    assert (answer.status_code, answer.json()) == (200, {"post_group": group})


def test_members_can_read_a_group_and_strangers_get_404(
    api: ApiClient, account: ConnectedAccount, teammate: User, stranger: User
) -> None:
    path = f"/posts/{create(api, account)['id']}"

    assert as_user(teammate).get(path).status_code == 200
    assert_envelope(as_user(stranger).get(path), 404, "NOT_FOUND")


@pytest.mark.parametrize(("method", "verb"), CALLS)
def test_a_group_of_another_workspace_is_not_found(
    api: ApiClient, account: ConnectedAccount, stranger: User, method: str, verb: str
) -> None:
    group = create(api, account)

    for client in (ApiClient(workspace_key(WorkspaceFactory())), as_user(stranger)):
        foreign = assert_envelope(client.request(method, f"/posts/{group['id']}{verb}", {}), 404, "NOT_FOUND")
        absent = assert_envelope(client.request(method, f"/posts/{new_id('pgr')}{verb}", {}), 404, "NOT_FOUND")
        assert {**foreign, "trace_id": ""} == {**absent, "trace_id": ""}


@pytest.mark.parametrize(("method", "verb"), CALLS)
@pytest.mark.parametrize("post_group_id", ["pgr_1", "%00", "%F0%9F%98%80", "x" * 5000])
def test_an_invalid_id_is_not_found(api: ApiClient, post_group_id: str, method: str, verb: str) -> None:
    assert_envelope(api.request(method, f"/posts/{post_group_id}{verb}", {}), 404, "NOT_FOUND")


def test_reading_needs_its_scope(api: ApiClient, key_with: Any, account: ConnectedAccount) -> None:
    path = f"/posts/{create(api, account)['id']}"

    assert key_with("posts.read").get(path).status_code == 200
    assert_envelope(key_with("posts.publish", "posts.schedule", "posts.draft").get(path), 403, "SCOPE_MISSING")
