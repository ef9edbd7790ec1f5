"""GET /posts/search: combinable filters, newest first."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest
from pytest_django import DjangoAssertNumQueries

from accounts.models import ConnectedAccount
from agents.models import Agent
from config.db.ids import new_id
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.factories import AccountFactory, AgentFactory
from tests.people import as_user
from tests.posts.rows import TOMORROW, create
from workspaces.models import User, Workspace


def search(client: ApiClient, workspace: Workspace, **filters: Any) -> Any:
    return client.get(f"/posts/search?{urlencode({'workspace_id': workspace.id, **filters})}")


def ids(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.content
    return [post["id"] for post in answer.json()["posts"]]


def test_local_times_are_in_the_workspaces_time_zone(
    api: ApiClient, workspace: Workspace, account: ConnectedAccount, clock: Any
) -> None:
    Workspace.objects.update(default_timezone="America/St_Johns")
    group = create(api, account, scheduled_at=TOMORROW)
    without = create(api, account)

    result = search(api, workspace).json()

    item = {"text": "Hello", "sandbox": True}
    target = {"platform": "bluesky", "connected_account_id": account.id, "status": "pending"}
    assert result == {
        "posts": [
            {
                "id": without["id"],
                "status": "publishing",
                "scheduled_at": None,
                "local_time": None,
                **item,
                "targets": [{"id": without["targets"][0]["id"], **target}],
            },
            {
                "id": group["id"],
                "status": "scheduled",
                "scheduled_at": TOMORROW,
                "local_time": "08:30",
                **item,
                "targets": [{"id": group["targets"][0]["id"], **target}],
            },
        ],
        "next_cursor": None,
    }


def test_filters_combine(
    api: ApiClient, agent_client: Any, workspace: Workspace, accounts: list[ConnectedAccount], clock: Any
) -> None:
    draft = create(api, *accounts[:2], draft=True, scheduled_at=TOMORROW)["id"]
    clock.shift(60)
    scheduled = create(agent_client(), accounts[0], scheduled_at=TOMORROW)["id"]
    agent = Agent.objects.get().id
    idle = AgentFactory(workspace=workspace).id
    first, second = "2027-03-10T12:00:00Z", "2027-03-10T12:01:00Z"
    for filters, expected in (
        ({}, [scheduled, draft]),
        ({"status": "draft"}, [draft]),
        ({"status": "failed"}, []),
        ({"platform": "bluesky"}, [scheduled, draft]),
        ({"platform": "mastodon"}, [draft]),
        ({"account_id": accounts[1].id}, [draft]),
        ({"platform": "mastodon", "account_id": accounts[0].id}, []),
        ({"agent_id": agent}, [scheduled]),
        ({"agent_id": idle}, []),
        ({"agent_id": agent, "status": "draft"}, []),
        ({"created_after": first}, [scheduled]),
        ({"created_before": second}, [draft]),
        ({"created_after": first, "created_before": second}, []),
        ({"created_after": "2027-03-10T13:59:59+02:00", "created_before": second}, [draft]),
        ({"created_after": "0001-01-01T00:00:00Z", "created_before": "9999-12-31T23:59:59Z"}, [scheduled, draft]),
    ):
        assert ids(search(api, workspace, **filters)) == expected, filters


def test_pages_continue_from_newest_to_oldest(
    api: ApiClient, workspace: Workspace, account: ConnectedAccount, clock: Any
) -> None:
    made = [create(api, account, draft=True)["id"] for _ in range(5)]

    met: list[str] = []
    cursor: dict[str, str] = {}
    for _ in range(3):
        answer = search(api, workspace, status="draft", limit=2, **cursor)
        met += ids(answer)
        cursor = {"cursor": answer.json()["next_cursor"]}

    assert met == made[::-1]
    assert cursor == {"cursor": None}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("status", "done"),
        ("platform", "myspace"),
        ("account_id", "acc_1"),
        ("agent_id", "acc_1"),
        ("created_after", "2027-03-10"),
        ("created_before", "2027-02-30T00:00:00Z"),
        ("limit", "0"),
        ("cursor", "x"),
        ("text", "Hello"),
    ],
)
def test_an_invalid_parameter_is_refused_by_name(api: ApiClient, workspace: Workspace, field: str, value: str) -> None:
    details = assert_envelope(search(api, workspace, **{field: value}), 422, "VALIDATION_FAILED")["details"]

    assert [detail["field"] for detail in details] == [field]


@pytest.mark.parametrize("field", ["account_id", "agent_id"])
def test_accounts_and_agents_of_another_workspace_are_not_found(api: ApiClient, workspace: Workspace, field: str) -> None:
    foreign = (AccountFactory.create() if field == "account_id" else AgentFactory.create()).id
    errors = [
        {**assert_envelope(search(api, workspace, **{field: each}), 404, "NOT_FOUND"), "trace_id": ""}
        for each in (foreign, new_id(foreign[:3]))
    ]

    assert errors[0] == errors[1]


def test_members_can_read_and_strangers_get_404(
    api: ApiClient, workspace: Workspace, key_with: Any, account: ConnectedAccount, teammate: User, stranger: User
) -> None:
    group = create(api, account, draft=True)

    assert ids(search(as_user(teammate), workspace)) == [group["id"]]
    assert_envelope(search(as_user(stranger), workspace), 404, "NOT_FOUND")
    assert_envelope(search(api, Workspace.objects.get(owner_user=stranger)), 404, "NOT_FOUND")
    assert_envelope(search(key_with("posts.draft"), workspace), 403, "SCOPE_MISSING")


@pytest.mark.parametrize("posts", [1, 5])
def test_a_search_takes_three_queries_for_any_number_of_posts(
    api: ApiClient,
    workspace: Workspace,
    accounts: list[ConnectedAccount],
    clock: Any,
    django_assert_num_queries: DjangoAssertNumQueries,
    posts: int,
) -> None:
    for _ in range(posts):
        create(api, *accounts, scheduled_at=TOMORROW)
    with django_assert_num_queries(3):  # the key, the groups with their targets, the workspace's time zone
        answer = search(api, workspace)
    assert len(ids(answer)) == posts


def test_posts_are_found_by_their_text(api: ApiClient, workspace: Workspace, account: ConnectedAccount) -> None:
    rye, other = create(api, account, text="Rye 100% fresh", draft=True), create(api, account, text="Rolls", draft=True)

    assert ids(search(api, workspace, q="rye 100%")) == [rye["id"]]
    assert ids(search(api, workspace, q="r")) == [other["id"], rye["id"]]
    assert ids(search(api, workspace, q="R_e")) == []
    details = assert_envelope(search(api, workspace, q="x" * 201), 422, "VALIDATION_FAILED")["details"]
    assert [detail["field"] for detail in details] == ["q"]
