"""GET /posts: the posts of a local calendar day, which may have 23 or 25 hours."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

import pytest
from pytest_django import DjangoAssertNumQueries

from accounts.models import ConnectedAccount
from config.api.fields import TIMEZONES
from config.db.ids import new_id
from posts.local_time import local_day_window
from posts.models import PostGroup
from posts.states import GroupStatus
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.factories import AccountFactory
from tests.people import as_user
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, create, group_with_target
from workspaces.models import User, Workspace

MINUTE = timedelta(minutes=1)


def on_day(client: ApiClient, workspace: Workspace, day: str, timezone: str = "UTC", **filters: Any) -> Any:
    query = {"workspace_id": workspace.id, "date": day, "timezone": timezone, **filters}
    return client.get(f"/posts?{urlencode(query)}")


def ids(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.content
    return [post["id"] for post in answer.json()["posts"]]


def group_at(workspace: Workspace, at: datetime | None, status: str = "scheduled") -> PostGroup:
    return group_with_target(workspace, at, status)


def first_minute_of(day: date, zone: ZoneInfo) -> datetime:
    """The first UTC minute of the local date, found by trying each minute."""
    at = datetime.combine(day, time(), UTC) - timedelta(hours=30)
    while at.astimezone(zone).date() < day:
        at += MINUTE
    return at


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("UTC", "2027-03-10", 24),
        ("Asia/Kolkata", "2027-03-10", 24),
        ("Asia/Kathmandu", "2027-03-10", 24),
        ("Europe/Berlin", "2027-03-28", 23),
        ("Europe/Berlin", "2027-10-31", 25),
        ("America/New_York", "2027-03-14", 23),
        ("America/New_York", "2027-11-07", 25),
        ("Australia/Lord_Howe", "2027-10-03", 23.5),
        ("Australia/Lord_Howe", "2027-04-04", 24.5),
        ("America/Havana", "2026-11-01", 25),  # 01:00 becomes 00:00: midnight comes twice
        ("America/Sao_Paulo", "2018-11-03", 24),
        ("America/Sao_Paulo", "2018-11-04", 23),  # there is no midnight
        ("America/Sao_Paulo", "2018-02-17", 25),  # midnight becomes 23:00 of the same day
        ("Africa/Cairo", "2024-04-26", 23),
        ("America/Toronto", "1919-03-30", 23.5),  # 23:30 becomes 00:30 of the next day
        ("America/Toronto", "1919-03-31", 23.5),
        ("Pacific/Apia", "2011-12-29", 24),
        ("Pacific/Apia", "2011-12-30", 0),  # the day that Samoa left out
        ("Pacific/Apia", "2011-12-31", 24),
        ("America/St_Johns", "2010-11-06", 24),  # 00:01 becomes 23:01 of the day before: the first midnight counts
        ("America/St_Johns", "2010-11-07", 25),
    ],
)
def test_the_window_runs_from_midnight_to_midnight(
    api: ApiClient, workspace: Workspace, zone: str, day: str, hours: float
) -> None:
    local = date.fromisoformat(day)
    start = first_minute_of(local, ZoneInfo(zone))
    end = first_minute_of(local + timedelta(days=1), ZoneInfo(zone))
    inside = [group_at(workspace, at) for at in (start, end - MINUTE) if start < end]
    group_at(workspace, start - timedelta(microseconds=1))
    group_at(workspace, end)

    answer = on_day(api, workspace, day, zone)

    body = answer.json()
    assert ids(answer) == [group.id for group in inside]
    assert (body["date"], body["timezone"], body["next_cursor"]) == (day, zone, None)
    assert body["window"] == {
        "start": start.isoformat().replace("+00:00", "Z"),
        "end": end.isoformat().replace("+00:00", "Z"),
    }
    assert (end - start).total_seconds() == hours * 3600


@pytest.mark.parametrize("day", [date(1919, 3, 31), date(2011, 12, 30), date(2027, 3, 28), date(9999, 12, 30)])
def test_in_every_time_zone_a_day_begins_when_the_previous_one_ends(day: date) -> None:
    for name in TIMEZONES:
        zone = ZoneInfo(name)
        start, end = local_day_window(day, name)

        assert local_day_window(day - timedelta(days=1), name)[1] == start <= end
        assert start.astimezone(zone).date() >= day > (start - timedelta(seconds=1)).astimezone(zone).date()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("timezone", zone) for zone in ("Asia", "localtime", "posixrules", "right/UTC", "posix/UTC", "europe/berlin")),
        *(("timezone", zone) for zone in ("", "../../etc/passwd", "/etc/localtime", "UTC\0", "+02:00", "é", "x" * 10_000)),
        *(("date", day) for day in ("2027-02-30", "2027-13-01", "0000-01-01", "9999-12-31", "10000-01-01", "20270310")),
        *(("date", day) for day in ("", "today", "2027-3-1", "2027-03-10T00:00:00Z", "2027-03-10\n", "２０２７-03-10", "\0")),
        ("platform", "myspace"),
        ("account_id", "acc_1"),
        ("limit", "201"),
        ("cursor", "x"),
    ],
)
def test_an_invalid_parameter_is_refused_by_name(api: ApiClient, workspace: Workspace, field: str, value: str) -> None:
    query = {"workspace_id": workspace.id, "date": "2027-03-10", "timezone": "UTC", field: value}

    details = assert_envelope(api.get(f"/posts?{urlencode(query)}"), 422, "VALIDATION_FAILED")["details"]

    assert [detail["field"] for detail in details] == [field]


@pytest.mark.parametrize(("zone", "status"), [("Asia/Tokyo", 422), ("UTC", 200), ("America/New_York", 200)])
def test_the_first_day_of_the_calendar(api: ApiClient, workspace: Workspace, zone: str, status: int) -> None:
    assert on_day(api, workspace, "0001-01-01", zone).status_code == status


def test_workspace_date_and_timezone_are_required(api: ApiClient) -> None:
    details = assert_envelope(api.get("/posts"), 422, "VALIDATION_FAILED")["details"]

    assert {(row["field"], row["code"]) for row in details} == {
        (name, "required") for name in ("workspace_id", "date", "timezone")
    }


def test_each_post_has_its_local_time(api: ApiClient, workspace: Workspace, account: ConnectedAccount, clock: Any) -> None:
    group = create(api, account, text="Good morning", scheduled_at="2027-03-10T20:05:59Z")
    target = {"id": group["targets"][0]["id"], "platform": "bluesky", "connected_account_id": account.id}

    answer = on_day(api, workspace, "2027-03-11", "Asia/Kolkata")

    assert answer.json()["posts"] == [
        {
            "id": group["id"],
            "status": "scheduled",
            "scheduled_at": "2027-03-10T20:05:59Z",
            "local_time": "01:35",
            "text": "Good morning",
            "sandbox": True,
            "targets": [{**target, "status": "pending"}],
        }
    ]


def test_drafts_and_rejected_and_cancelled_posts_are_omitted(api: ApiClient, workspace: Workspace) -> None:
    noon = datetime(2027, 3, 10, 12, tzinfo=UTC)
    made = {status: group_at(workspace, noon, status).id for status in GroupStatus.values}

    shown_ids = set(ids(on_day(api, workspace, "2027-03-10")))

    omitted = {status for status, group_id in made.items() if group_id not in shown_ids}
    assert omitted == {"draft", "rejected", "cancelled"}


def test_published_posts_stay_on_their_day_and_posts_without_a_time_are_omitted(
    api: ApiClient, workspace: Workspace, account: ConnectedAccount, clock: Any
) -> None:
    create(api, account)
    group = create(api, account, scheduled_at=TOMORROW)
    clock.move_to(TOMORROW)
    run_until_idle()

    [item] = on_day(api, workspace, "2027-03-11").json()["posts"]

    assert (item["id"], item["status"], item["targets"][0]["status"]) == (group["id"], "published", "published")


def test_pagination_continues_across_equal_times(api: ApiClient, workspace: Workspace) -> None:
    noon = datetime(2027, 3, 10, 12, tzinfo=UTC)
    same = sorted(group_at(workspace, noon).id for _ in range(5))
    late = group_at(workspace, noon + timedelta(microseconds=1)).id
    early = group_at(workspace, noon - timedelta(microseconds=1)).id

    met: list[str] = []
    cursor: dict[str, str] = {}
    for _ in range(4):
        answer = on_day(api, workspace, "2027-03-10", limit=2, **cursor)
        met += ids(answer)
        cursor = {"cursor": answer.json()["next_cursor"]}

    assert met == [early, *same, late]
    assert cursor == {"cursor": None}


@pytest.mark.parametrize(
    "position",
    [
        "2027-02-30T00:00:00+00:00|{id}",
        "2027-03-10T25:00:00+00:00|{id}",
        "2027-03-10T12:00:00|{id}",
        "2027-03-10T12:00:00+00:00|",
        "2027-03-10T12:00:00+00:00|wrk_1",
        "{id}",
        "",
    ],
)
def test_an_invalid_cursor_is_refused(api: ApiClient, workspace: Workspace, position: str) -> None:
    text = "1:" + position.format(id=new_id("pgr"))
    cursor = urlsafe_b64encode(text.encode()).decode().rstrip("=")

    details = assert_envelope(on_day(api, workspace, "2027-03-10", cursor=cursor), 422, "VALIDATION_FAILED")["details"]

    assert details[0]["code"] == "invalid_cursor"


def test_platform_and_account_filters_apply_to_the_same_target(
    api: ApiClient, workspace: Workspace, accounts: list[ConnectedAccount], clock: Any
) -> None:
    both = create(api, *accounts[:2], scheduled_at=TOMORROW)["id"]
    one = create(api, accounts[0], scheduled_at=TOMORROW)["id"]
    idle = AccountFactory(workspace=workspace, platform="bluesky")

    def filtered(**filters: str) -> list[str]:
        return ids(on_day(api, workspace, "2027-03-11", **filters))

    assert filtered() == filtered(platform="bluesky") == filtered(account_id=accounts[0].id) == [both, one]
    assert filtered(platform="mastodon") == filtered(account_id=accounts[1].id) == [both]
    assert filtered(platform="mastodon", account_id=accounts[1].id) == [both]
    assert filtered(platform="mastodon", account_id=accounts[0].id) == []
    assert filtered(account_id=idle.id) == filtered(platform="x") == []


def test_an_account_of_another_workspace_is_not_found(api: ApiClient, workspace: Workspace) -> None:
    foreign, absent = AccountFactory().id, new_id("acc")

    errors = [
        {**assert_envelope(on_day(api, workspace, "2027-03-10", account_id=each), 404, "NOT_FOUND"), "trace_id": ""}
        for each in (foreign, absent)
    ]

    assert errors[0] == errors[1]


def test_members_can_read_and_strangers_get_404(workspace: Workspace, key_with: Any, teammate: User, stranger: User) -> None:
    group = group_at(workspace, datetime(2027, 3, 10, 12, tzinfo=UTC))

    assert ids(on_day(as_user(teammate), workspace, "2027-03-10")) == [group.id]
    assert ids(on_day(key_with("posts.read"), workspace, "2027-03-10")) == [group.id]
    assert_envelope(on_day(as_user(stranger), workspace, "2027-03-10"), 404, "NOT_FOUND")
    assert_envelope(on_day(key_with("posts.publish"), workspace, "2027-03-10"), 403, "SCOPE_MISSING")


def test_a_key_cannot_read_another_workspace(api: ApiClient, stranger: User) -> None:
    other = Workspace.objects.get(owner_user=stranger)
    group_at(other, datetime(2027, 3, 10, 12, tzinfo=UTC))

    assert_envelope(on_day(api, other, "2027-03-10"), 404, "NOT_FOUND")


@pytest.mark.parametrize("posts", [1, 5])
def test_a_day_takes_two_queries_for_any_number_of_posts(
    api: ApiClient,
    workspace: Workspace,
    accounts: list[ConnectedAccount],
    clock: Any,
    django_assert_num_queries: DjangoAssertNumQueries,
    posts: int,
) -> None:
    for _ in range(posts):
        create(api, *accounts, scheduled_at=TOMORROW)
    with django_assert_num_queries(2):  # the key, the groups with their targets
        answer = on_day(api, workspace, "2027-03-11")
    assert len(ids(answer)) == posts
