"""The calendar page: months, weeks and days in the workspace's time zone."""

from __future__ import annotations

import gzip
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from accounts.models import ConnectedAccount
from posts import day_lists
from posts.models import PostGroup, PostTarget
from tests.conftest import ApiClient
from tests.factories import AgentFactory
from tests.posts.dashboard.dashboard import Dashboard, words
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, create, group_with_target
from workspaces.models import Workspace


def group_at(workspace: Workspace, at: str | None, status: str = "scheduled", **fields: Any) -> PostGroup:
    when = datetime.fromisoformat(at) if at else None
    return group_with_target(workspace, when, status, text=at or "", **fields)


def days(page: Any) -> dict[str, list[str]]:
    """The posts shown on each day that has any, by date."""
    cells = re.findall(r'<h2><a href="[^"]*date=([0-9-]+)[^"]*">.*?</h2>(.*?)(?=<h2>|</ol>)', page.content.decode(), re.S)
    return {day: re.findall(r"/posts/(pgr_\w+)", posts) for day, posts in cells if "pgr_" in posts}


@pytest.mark.parametrize(
    ("zone", "instant", "day"),
    [
        ("UTC", "2027-03-31T23:30:00+00:00", "2027-03-31"),
        ("Europe/Berlin", "2027-03-28T21:30:00+00:00", "2027-03-28"),  # 23:30 of a day of 23 hours
        ("Europe/Berlin", "2027-03-28T22:30:00+00:00", "2027-03-29"),
        ("America/Los_Angeles", "2027-03-01T07:30:00+00:00", "2027-02-28"),
        ("Pacific/Kiritimati", "2027-02-28T10:30:00+00:00", "2027-03-01"),
    ],
)
def test_a_post_is_shown_on_its_local_day(dashboard: Dashboard, zone: str, instant: str, day: str) -> None:
    Workspace.objects.update(default_timezone=zone)
    group = group_at(dashboard.workspace, instant)

    for view in ("month", "week"):
        assert days(dashboard.get("calendar", view=view, date=day)) == {day: [group.id]}
    for beside in (-1, 0, 1):
        date = (datetime.fromisoformat(day) + timedelta(days=beside)).date().isoformat()
        page = dashboard.get("calendar", view="day", date=date).content.decode()
        assert (group.id in page) == (beside == 0)


@pytest.mark.parametrize(
    ("view", "date", "title", "earlier", "later"),
    [
        ("month", "2027-03-10", "March 2027", "2027-02-01", "2027-04-01"),
        ("month", "2027-12-31", "December 2027", "2027-11-01", "2028-01-01"),
        ("week", "2027-03-10", "8 – 14 March 2027", "2027-03-01", "2027-03-15"),
        ("week", "2028-01-01", "27 December 2027 – 2 January 2028", "2027-12-20", "2028-01-03"),
        ("day", "2027-03-01", "Monday, 1 March 2027", "2027-02-28", "2027-03-02"),
        ("month", "nonsense", "March 2027", "2027-02-01", "2027-04-01"),
        ("year", "9999-12-31", "March 2027", "2027-02-01", "2027-04-01"),
    ],
)
def test_links_lead_to_the_next_and_previous_period(
    dashboard: Dashboard, view: str, date: str, title: str, earlier: str, later: str
) -> None:
    page = dashboard.get("calendar", view=view, date=date)

    assert page.status_code == 200
    assert f"<h1>{title}</h1>" in page.content.decode()
    assert re.search(rf'date={earlier}[^"]*" rel="prev"', page.content.decode())
    assert re.search(rf'date={later}[^"]*" rel="next"', page.content.decode())


def test_today_is_in_the_workspaces_time_zone(dashboard: Dashboard, clock: Any) -> None:
    Workspace.objects.update(default_timezone="Pacific/Kiritimati")  # 02:00 of the next day
    page = dashboard.get("calendar").content.decode()

    assert "date=2027-03-11" in page.partition('aria-current="date"')[2].partition("</h2>")[0]


def test_the_calendar_shows_published_and_scheduled_posts_only(
    dashboard: Dashboard, api: ApiClient, account: ConnectedAccount, workspace: Workspace
) -> None:
    now, later = create(api, account), create(api, account, scheduled_at=TOMORROW)
    run_until_idle()
    for status in ("draft", "rejected", "cancelled"):
        group_at(workspace, TOMORROW, status)
    group_at(workspace, None, "pending_confirmation")
    group_at(Workspace.objects.create(name="X", slug="x", owner_user=workspace.owner_user), TOMORROW)

    assert days(dashboard.get("calendar")) == {"2027-03-10": [now["id"]], "2027-03-11": [later["id"]]}


def test_filters_by_account_and_agent(dashboard: Dashboard, accounts: list[ConnectedAccount], workspace: Workspace) -> None:
    robot, other = AgentFactory(workspace=workspace), AgentFactory(workspace=workspace, name="Other")
    groups = [group_at(workspace, TOMORROW, agent_id=agent.id) for agent in (robot, other)]
    for group, account in zip(groups, accounts, strict=False):
        group.targets.update(account=account)

    assert days(dashboard.get("calendar", account=accounts[0].id)) == {"2027-03-11": [groups[0].id]}
    page = dashboard.get("calendar", agent=other.id, view="week")
    assert days(page) == {"2027-03-11": [groups[1].id]}
    assert f"agent={other.id}" in page.content.decode().partition('rel="next"')[0].rpartition("href")[2]
    assert dashboard.get("calendar", account="acc_of_another").status_code == 404


@pytest.mark.parametrize("view", ["month", "week", "day", "list"])
def test_days_of_200_posts_stay_small(
    dashboard: Dashboard, accounts: list[ConnectedAccount], django_assert_max_num_queries: DjangoAssertNumQueries, view: str
) -> None:
    begin = datetime(2027, 3, 1, tzinfo=UTC)
    PostGroup.objects.bulk_create(
        PostGroup(
            workspace=dashboard.workspace,
            status="scheduled",
            scheduled_at=begin + timedelta(days=day, minutes=number),
            text="\"'" * 200,  # six and five bytes each, once they are escaped
            created_by_type="user",
            trace_id="0" * 32,
        )
        for day in range(31)
        for number in range(200 if day == 9 or (view == "week" and 7 <= day < 14) else 4)
    )
    PostTarget.objects.bulk_create(
        PostTarget(group=group, account=account, platform=account.platform, position=place, scheduled_at=group.scheduled_at)
        for group in PostGroup.objects.all()
        for place, account in enumerate(accounts if group.scheduled_at and group.scheduled_at.day == 10 else accounts[:1])
    )

    with django_assert_max_num_queries(15):
        page = dashboard.get("calendar", view=view, date="2027-03-10")

    assert len(gzip.compress(page.content)) < 30_000
    if view == "day":
        seen = set()
        for number in ("1", "2", "3"):
            found = re.findall(
                r"/posts/(pgr_\w+)", dashboard.get("calendar", view="day", date="2027-03-10", page=number).text
            )
            seen |= set(found)
            assert len(found) == (40 if number == "3" else 80)
        assert len(seen) == 200
    else:
        hidden = 200 - {"month": 3, "week": 12, "list": 10}[view]
        assert f"{hidden} more" in words(page)


def test_filters_by_platform_state_and_text(dashboard: Dashboard, accounts: list[ConnectedAccount]) -> None:
    early, late = (group_at(dashboard.workspace, at) for at in ("2027-03-11T08:00:00+00:00", "2027-03-11T09:00:00+00:00"))
    own = group_at(dashboard.workspace, "2027-03-12T09:00:00+00:00", "pending_confirmation")
    own.targets.update(text="Rye 100% \\ today", account=accounts[1], platform=accounts[1].platform)

    def found(**query: str) -> dict[str, list[str]]:
        return days(dashboard.get("calendar", **query))

    assert found(platform=accounts[1].platform) == {"2027-03-12": [own.id]}
    assert found(status="pending_confirmation") == {"2027-03-12": [own.id]}
    assert found(q="t08:00") == {"2027-03-11": [early.id]}
    assert found(q="100% \\", view="list") == {"2027-03-12": [own.id]}
    assert found(q="2027-03-12") == {}, "The text of the group is not published."
    assert found(q="T0", status="nonsense", platform="nonsense") == {"2027-03-11": [early.id, late.id]}
    page = dashboard.get("calendar", q='">&', status="scheduled").content.decode()
    assert 'value="&quot;&gt;&amp;"' in page
    assert "q=%22%3E%26&amp;status=scheduled" in page.partition('rel="next"')[0].rpartition("href")[2]


def test_a_post_has_an_entry_for_each_time_of_its_targets(dashboard: Dashboard, accounts: list[ConnectedAccount]) -> None:
    group = group_at(dashboard.workspace, "2027-03-11T08:00:00+00:00")
    PostTarget.objects.create(
        group=group,
        account=accounts[1],
        platform=accounts[1].platform,
        position=1,
        scheduled_at=datetime(2027, 3, 11, 17, tzinfo=UTC),
    )

    for view in ("month", "week", "list"):
        assert days(dashboard.get("calendar", view=view, date="2027-03-10")) == {"2027-03-11": [group.id, group.id]}
    shown = words(dashboard.get("calendar", view="day", date="2027-03-11"))
    assert shown.index("08:00 2027-03-11T08") < shown.index("17:00 2027-03-11T08")


def test_a_post_without_a_time_has_one_entry_at_the_creation_of_its_first_target(
    dashboard: Dashboard, accounts: list[ConnectedAccount]
) -> None:
    group = group_with_target(dashboard.workspace, None, "published")
    PostTarget.objects.filter(group=group).update(account=accounts[0], created_at="2027-03-10T08:00:00.5Z")
    later = PostTarget.objects.create(group=group, account=accounts[1], platform="mastodon", position=1)
    PostTarget.objects.filter(pk=later.pk).update(created_at="2027-03-10T08:00:00.75Z")
    scheduled = group_at(dashboard.workspace, "2027-03-10T08:00:00.5+00:00")

    page = dashboard.get("calendar", view="week", date="2027-03-10")

    assert days(page) == {"2027-03-10": sorted([group.id, scheduled.id])}
    assert page.text.count('<li class="entry') == 2


def test_the_calendar_reads_a_limited_number_of_targets(dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(day_lists, "MAX_TARGETS", 2)
    later = [group_at(dashboard.workspace, f"2027-03-1{day}T08:00:00+00:00") for day in (3, 2, 1)]

    assert days(dashboard.get("calendar", view="month", date="2027-03-10")) == {
        "2027-03-11": [later[2].id],
        "2027-03-12": [later[1].id],
    }


def test_the_composer_opens_at_the_day_or_hour_of_the_plus(dashboard: Dashboard, clock: Any) -> None:
    page = dashboard.get("calendar").content.decode()  # it is 2027-03-10 12:00
    assert re.findall(r'class="add" href="[^"]*when=([^"]*)"', page)[:2] == ["2027-03-10T13:00", "2027-03-11T09:00"]
    page = dashboard.get("calendar", view="day").content.decode()
    assert re.findall(r'class="add" href="[^"]*when=([^"]*)"', page)[0] == "2027-03-10T12:05"
    assert "Now: 12:00" in page


@pytest.mark.parametrize(
    ("now", "first", "second"),
    [
        ("2027-03-10T12:31:40Z", "2027-03-10T12:40", "2027-03-10T13:00"),
        ("2027-03-10T12:55:01Z", "2027-03-10T13:00", "2027-03-10T14:00"),  # this hour has no time left
        ("2027-03-10T12:58:00Z", "2027-03-10T13:05", "2027-03-10T14:00"),
    ],
)
def test_the_plus_of_the_current_hour_names_a_time_to_come(
    dashboard: Dashboard, clock: Any, now: str, first: str, second: str
) -> None:
    clock.move_to(now)
    page = dashboard.get("calendar", view="day").content.decode()

    assert re.findall(r'class="add" href="[^"]*when=([^"]*)"', page)[:2] == [first, second]
    assert f"Now: {now[11:16]}" in page


def set_slots(account: ConnectedAccount, *times: str) -> None:
    """Give an account slots at these times of each Wednesday and Thursday; it is Wednesday noon."""
    account.slot_timezone, account.slots = "UTC", [{"weekday": day, "time": at} for day in ("wed", "thu") for at in times]
    account.save()


def slots_of_month(page: Any) -> list[tuple[str, str]]:
    """The day and time of each empty slot that the page shows, and its words."""
    found = re.findall(r'<li class="slot" data-day="([^"]*)" data-time="([^"]*)".*?class="excerpt">(.*?)</span></', page.text)
    return [(f"{day} {at}", re.sub("<[^>]*>", "", text)) for day, at, text in found]


def test_the_month_says_how_many_slots_of_each_day_are_empty(
    dashboard: Dashboard, accounts: list[ConnectedAccount], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    """A day has one line, which leads to the composer with the first slot; slots of the past are not shown."""
    group_at(dashboard.workspace, "2027-03-18T09:00:00+00:00").targets.update(slot=True, account=accounts[0])
    with CaptureQueriesContext(connection) as without_slots:
        dashboard.get("calendar")
    set_slots(accounts[0], "09:00", "17:00")
    set_slots(accounts[1], "11:00")

    with django_assert_num_queries(len(without_slots) + 1):
        page = dashboard.get("calendar")

    first, second, third, fourth = slots_of_month(page)[:4]
    handle, other = accounts[0].handle, accounts[1].handle
    assert first == ("2027-03-10 17:00", f"1 free slot of Bluesky {handle}")
    assert second == ("2027-03-11 09:00", f"3 free slots, the first of Bluesky {handle}")
    assert third == ("2027-03-17 09:00", f"3 free slots, the first of Bluesky {handle}")
    assert fourth == ("2027-03-18 11:00", f"2 free slots, the first of Mastodon {other}")
    [link] = re.findall(r'<a href="([^"]*)"><time datetime="2027-03-18T11:00:00Z"', page.text)
    composer = dashboard.http.get(link.replace("&amp;", "&")).text
    assert f'name="slot" value="{accounts[1].id}@2027-03-18T11:00:00Z"' in composer
    assert slots_of_month(dashboard.get("calendar", account=accounts[1].id))[0][0] == "2027-03-11 11:00"
    assert slots_of_month(dashboard.get("calendar", date="2027-02-10")) == []


def test_an_empty_calendar_teaches_the_next_step(dashboard: Dashboard) -> None:
    assert "No posts in this period." in words(dashboard.get("calendar"))
    page = dashboard.get("calendar", view="day", date="2027-03-12")
    assert "No posts on this day." in words(page)
    assert f"{dashboard.address('compose')}?when=2027-03-12T09:00" in page.content.decode()
