"""Lists of a day, with targets at different times: a group is listed on each day on which one of its targets lies."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from accounts.models import ConnectedAccount
from tests.conftest import ApiClient
from tests.people import as_user
from tests.posts.calls import group_in, patch
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, body_for, create
from workspaces.models import User, Workspace

EVENING, NEXT_DAY, LATE = "2027-03-11T18:00:00Z", "2027-03-12T08:00:00Z", "2027-03-12T20:00:00Z"


@pytest.fixture
def staggered(api: ApiClient, accounts: list[ConnectedAccount], clock: Any) -> dict[str, Any]:
    """A post for one account tomorrow evening, and for two on the day after, the later one first."""
    body = body_for(*accounts)
    for target, at in zip(body["targets"], (EVENING, LATE, NEXT_DAY), strict=True):
        target["scheduled_at"] = at
    return dict(api.post("/posts", body).json()["post_group"])


def on_day(api: ApiClient, workspace: Workspace, day: str, **filters: str) -> list[tuple[str, str, str]]:
    query = {"workspace_id": workspace.id, "date": day, "timezone": "Europe/Berlin", **filters}
    posts = api.get(f"/posts?{urlencode(query)}").json()["posts"]
    return [(post["id"], post["scheduled_at"], post["local_time"]) for post in posts]


def test_a_group_is_listed_once_on_each_day_with_its_first_time_there(
    api: ApiClient, workspace: Workspace, staggered: dict[str, Any], account: ConnectedAccount
) -> None:
    between = create(api, account, scheduled_at="2027-03-12T10:00:00Z")["id"]
    pk = staggered["id"]

    assert on_day(api, workspace, "2027-03-10") == on_day(api, workspace, "2027-03-13") == []
    assert on_day(api, workspace, "2027-03-11") == [(pk, EVENING, "19:00")]
    assert on_day(api, workspace, "2027-03-12") == [
        (pk, NEXT_DAY, "09:00"),
        (between, "2027-03-12T10:00:00Z", "11:00"),
    ]
    pages = [on_day(api, workspace, "2027-03-12", limit="1")]
    first = api.get(f"/posts?workspace_id={workspace.id}&date=2027-03-12&timezone=UTC&limit=1").json()
    pages.append(on_day(api, workspace, "2027-03-12", limit="1", cursor=first["next_cursor"]))
    assert [page[0][0] for page in pages] == [pk, between]


def test_a_filter_lists_a_group_on_the_days_of_the_matching_target(
    api: ApiClient, workspace: Workspace, staggered: dict[str, Any], accounts: list[ConnectedAccount]
) -> None:
    late = accounts[1]

    assert on_day(api, workspace, "2027-03-11", account_id=late.id) == []
    assert on_day(api, workspace, "2027-03-12", account_id=late.id) == [(staggered["id"], LATE, "21:00")]
    assert on_day(api, workspace, "2027-03-12", platform="mastodon") == [(staggered["id"], LATE, "21:00")]


def test_a_cancelled_target_is_on_no_day(api: ApiClient, workspace: Workspace, staggered: dict[str, Any], clock: Any) -> None:
    clock.move_to(EVENING)
    run_until_idle()
    assert group_in(api.delete(f"/posts/{staggered['id']}"))["status"] == "published"

    assert on_day(api, workspace, "2027-03-12") == []
    assert on_day(api, workspace, "2027-03-11") == [(staggered["id"], EVENING, "19:00")]


def test_the_search_shows_the_earliest_time_that_is_still_to_come(
    api: ApiClient, workspace: Workspace, staggered: dict[str, Any], clock: Any
) -> None:
    def found() -> list[str]:
        return [post["scheduled_at"] for post in api.get(f"/posts/search?workspace_id={workspace.id}").json()["posts"]]

    assert found() == [EVENING]
    clock.move_to(EVENING)
    run_until_idle()
    assert found() == [NEXT_DAY]


def test_moving_the_group_moves_it_in_the_list(
    api: ApiClient, workspace: Workspace, account: ConnectedAccount, clock: Any
) -> None:
    group = create(api, account, scheduled_at=TOMORROW)
    patch(api, group, scheduled_at=NEXT_DAY)

    assert on_day(api, workspace, "2027-03-11") == []
    assert on_day(api, workspace, "2027-03-12") == [(group["id"], NEXT_DAY, "09:00")]


def test_a_stranger_sees_no_day_of_it(staggered: dict[str, Any], stranger: User, workspace: Workspace) -> None:
    own = Workspace.objects.get(owner_user=stranger)
    assert on_day(as_user(stranger), own, "2027-03-11") == []
