"""GET /webhooks/deliveries: filters, paging and permissions."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest
from pytest_django import DjangoAssertNumQueries

from tests.conftest import ApiClient
from tests.factories import WorkspaceFactory
from tests.webhooks.rows import as_user, make_delivery, with_key
from webhooks.models import Delivery, DeliveryStatus
from workspaces.models import User, Workspace

URL = "http://127.0.0.1:9/hook"


@pytest.fixture
def reader(workspace: Workspace) -> ApiClient:
    return with_key(workspace, "posts.read")


def get_list(client: ApiClient, **query: Any) -> Any:
    return client.get(f"/webhooks/deliveries?{urlencode(query)}")


def ids(client: ApiClient, **query: Any) -> list[str]:
    response = get_list(client, **query)
    assert response.status_code == 200
    return [row["id"] for row in response.json()["deliveries"]]


def test_deliveries_are_listed_newest_first_page_by_page(workspace: Workspace, reader: ApiClient) -> None:
    made = [make_delivery(workspace, URL).id for _ in range(3)]

    first = get_list(reader, workspace_id=workspace.id, limit=2).json()
    second = get_list(reader, workspace_id=workspace.id, limit=2, cursor=first["next_cursor"]).json()

    assert [row["id"] for row in first["deliveries"] + second["deliveries"]] == made[::-1]
    assert second["next_cursor"] is None


def test_filters_combine(workspace: Workspace, reader: ApiClient) -> None:
    mine = make_delivery(workspace, URL)
    dead = make_delivery(workspace, URL)
    Delivery.objects.filter(pk=dead.pk).update(status=DeliveryStatus.DEAD_LETTER, due_at=None)

    assert ids(reader, workspace_id=workspace.id, status="dead_letter") == [dead.id]
    assert ids(reader, workspace_id=workspace.id, post_group_id=mine.event.post_group_id) == [mine.id]
    assert ids(reader, workspace_id=workspace.id, status="pending", post_group_id=dead.event.post_group_id) == []


def test_deliveries_of_other_workspaces_are_not_returned(workspace: Workspace, reader: ApiClient, stranger: User) -> None:
    other = WorkspaceFactory.create()
    make_delivery(other, URL)

    assert ids(reader, workspace_id=workspace.id) == []
    response = get_list(reader, workspace_id=other.id)
    assert (response.status_code, response.json()["code"]) == (404, "NOT_FOUND")
    assert get_list(as_user(stranger), workspace_id=workspace.id).status_code == 404


def test_a_member_may_read(workspace: Workspace, teammate: User) -> None:
    delivery = make_delivery(workspace, URL)

    assert ids(as_user(teammate), workspace_id=workspace.id) == [delivery.id]


def test_listing_needs_the_scope(workspace: Workspace) -> None:
    response = get_list(with_key(workspace, "posts.publish"), workspace_id=workspace.id)

    assert (response.status_code, response.json()["code"]) == (403, "SCOPE_MISSING")


@pytest.mark.parametrize("query", [{"status": "lost"}, {"post_group_id": "x"}, {"limit": "0"}, {"event": "post.failed"}])
def test_an_invalid_query_is_refused(workspace: Workspace, reader: ApiClient, query: dict[str, str]) -> None:
    response = get_list(reader, workspace_id=workspace.id, **query)

    assert (response.status_code, response.json()["code"]) == (422, "VALIDATION_FAILED")
    assert [detail["field"] for detail in response.json()["details"]] == list(query)


def test_the_number_of_queries_does_not_depend_on_the_page_length(
    workspace: Workspace, reader: ApiClient, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    ids(reader, workspace_id=workspace.id)  # the key's last_used_at is written once a minute
    for _ in range(5):
        make_delivery(workspace, URL)

    with django_assert_num_queries(2):  # the key, the page
        assert len(ids(reader, workspace_id=workspace.id)) == 5
