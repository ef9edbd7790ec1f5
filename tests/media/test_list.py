"""GET /media: order, paging and permissions."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.media.pictures import jpeg, png
from tests.people import as_user
from workspaces.models import User, Workspace


def ids(answer: Any) -> list[str]:
    return [media["id"] for media in answer.json()["media"]]


def test_the_list_contains_the_assets_newest_first(api: ApiClient, workspace: Workspace) -> None:
    made = [api.upload(content).json()["media"] for content in (jpeg(), png(), jpeg(8, 8))]
    api.delete(f"/media/{made[1]['id']}")
    factories.MediaAssetFactory.create()  # another workspace's
    answer = api.get(f"/media?workspace_id={workspace.id}")

    assert answer.status_code == 200
    assert ids(answer) == [made[2]["id"], made[0]["id"]]
    assert {**answer.json()["media"][1], "url": ""} == {**made[0], "url": ""}
    assert answer.json()["next_cursor"] is None


def test_the_list_is_paged(api: ApiClient, workspace: Workspace) -> None:
    made = [asset.id for asset in factories.MediaAssetFactory.create_batch(5, workspace=workspace)]
    first = api.get(f"/media?workspace_id={workspace.id}&limit=3")
    second = api.get(f"/media?workspace_id={workspace.id}&limit=3&cursor={first.json()['next_cursor']}")

    assert [*ids(first), *ids(second)] == made[::-1]
    assert second.json()["next_cursor"] is None


def test_the_number_of_queries_does_not_depend_on_the_page_length(
    api: ApiClient, workspace: Workspace, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    factories.MediaAssetFactory.create_batch(20, workspace=workspace)
    api.get("/capabilities")  # marks the key as used
    with django_assert_num_queries(2):
        api.get(f"/media?workspace_id={workspace.id}")


@pytest.mark.parametrize(("scope", "status"), [("media.upload", 200), ("posts.read", 200), ("posts.publish", 403)])
def test_the_list_requires_one_of_two_scopes(key_with: Any, workspace: Workspace, scope: str, status: int) -> None:
    assert key_with(scope).get(f"/media?workspace_id={workspace.id}").status_code == status


def test_the_list_requires_a_workspace_id(api: ApiClient) -> None:
    assert assert_envelope(api.get("/media"), 422, "VALIDATION_FAILED")["details"][0]["field"] == "workspace_id"


def test_members_can_list_media_and_strangers_cannot(
    workspace: Workspace, owner: User, teammate: User, stranger: User
) -> None:
    answers = [as_user(user).get(f"/media?workspace_id={workspace.id}") for user in (owner, teammate, stranger)]

    assert [answer.status_code for answer in answers] == [200, 200, 404]
