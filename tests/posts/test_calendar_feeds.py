"""Calendar feeds: who may create, list and delete them, and what a calendar program reads at their addresses."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from icalendar import Calendar
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.models import ConnectedAccount
from auditlog.models import AuditEntry
from posts import calendar_feed_selectors
from posts.models import CalendarFeed, PostGroup, PostTarget
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.factories import AccountFactory, workspace_key
from tests.people import as_user
from tests.plan_hashes import ANY_PLAN_HASH, OTHER_HASH
from tests.posts.rows import NOON, TOMORROW, create, group_with_target
from tests.posts.series.rows import create_series, run_series_loop
from workspaces.models import Member, User, Workspace

pytestmark = pytest.mark.usefixtures("clock")


def path(workspace: Workspace) -> str:
    return f"/workspaces/{workspace.id}/calendar-feeds"


def new_feed(workspace: Workspace, person: User) -> dict[str, Any]:
    answer = as_user(person).post(path(workspace))
    assert answer.status_code == 201, answer.content
    return dict(answer.json()["calendar_feed"])


def read(url: str) -> Any:
    return Client().get(url[url.index("/calendar/") :])


def events(url: str) -> list[Any]:
    answer = read(url)
    assert answer.status_code == 200, answer.content
    return list(Calendar.from_ical(answer.content).walk("VEVENT"))


def test_the_address_is_shown_once_and_only_its_hash_is_stored(workspace: Workspace, owner: User, settings: Settings) -> None:
    feed = new_feed(workspace, owner)

    assert set(feed) == {"id", "url", "created_at"}
    assert feed["url"].startswith(f"{settings.BASE_URL}/calendar/sps_cal_")
    listed = as_user(owner).get(path(workspace)).json()
    assert listed == {"calendar_feeds": [{"id": feed["id"], "created_at": feed["created_at"]}], "next_cursor": None}
    token = feed["url"].rpartition("/")[2].removesuffix(".ics")
    assert token not in repr(CalendarFeed.objects.values_list())
    entry = AuditEntry.objects.get(operation="calendar_feeds.create")
    assert (entry.resource_id, entry.actor_id, token in repr(entry.metadata)) == (feed["id"], owner.id, False)


def test_a_repeated_request_creates_one_feed_and_does_not_show_its_address_again(workspace: Workspace, owner: User) -> None:
    person = as_user(owner)
    first = person.post(path(workspace), idempotency_key="k").json()["calendar_feed"]

    again = person.post(path(workspace), idempotency_key="k")

    assert again.json() == {"calendar_feed": {**first, "url": None}}
    assert CalendarFeed.objects.count() == 1


def test_dry_runs_change_nothing_and_their_hashes_hold(workspace: Workspace, owner: User) -> None:
    person = as_user(owner)
    preview = person.post(path(workspace), {"dry_run": True})
    assert (preview.status_code, preview.json()["plan_hash"]) == (200, ANY_PLAN_HASH)
    assert not CalendarFeed.objects.exists()
    assert_envelope(person.post(path(workspace), Plan_Hash=OTHER_HASH), 409, "PLAN_CHANGED")
    feed = person.post(path(workspace), Plan_Hash=preview.json()["plan_hash"]).json()["calendar_feed"]

    preview = person.delete(f"{path(workspace)}/{feed['id']}?dry_run=true")
    assert preview.json()["would_delete"]["id"] == feed["id"]
    assert_envelope(person.delete(f"{path(workspace)}/{feed['id']}", Plan_Hash=OTHER_HASH), 409, "PLAN_CHANGED")
    assert read(feed["url"]).status_code == 200
    deleted = person.delete(f"{path(workspace)}/{feed['id']}", Plan_Hash=preview.json()["plan_hash"])
    assert deleted.json()["calendar_feed"]["id"] == feed["id"]
    assert_envelope(person.delete(f"{path(workspace)}/{feed['id']}"), 404, "NOT_FOUND")


def test_only_people_of_the_workspace_have_feeds(
    api: ApiClient, agent_client: Any, workspace: Workspace, owner: User, stranger: User
) -> None:
    feed = new_feed(workspace, owner)
    for program in (api, agent_client()):
        assert_envelope(program.post(path(workspace)), 403, "USER_SESSION_REQUIRED")
        assert_envelope(program.get(path(workspace)), 403, "USER_SESSION_REQUIRED")
        assert_envelope(program.delete(f"{path(workspace)}/{feed['id']}"), 403, "USER_SESSION_REQUIRED")
    key_of_another = ApiClient(workspace_key(Workspace.objects.get(owner_user=stranger)))
    for answer in (
        key_of_another.get(path(workspace)),
        as_user(stranger).post(path(workspace)),
        as_user(stranger).get(path(workspace)),
        as_user(stranger).delete(f"{path(workspace)}/{feed['id']}"),
        as_user(stranger).delete(f"{path(Workspace.objects.get(owner_user=stranger))}/{feed['id']}"),
    ):
        assert_envelope(answer, 404, "NOT_FOUND")
    assert read(feed["url"]).status_code == 200


def test_members_delete_their_own_feeds_and_owners_all(workspace: Workspace, owner: User, teammate: User) -> None:
    of_owner, own, other = new_feed(workspace, owner), new_feed(workspace, teammate), new_feed(workspace, teammate)

    assert_envelope(as_user(teammate).delete(f"{path(workspace)}/{of_owner['id']}"), 403, "FORBIDDEN")
    assert as_user(teammate).delete(f"{path(workspace)}/{own['id']}").status_code == 200
    assert as_user(owner).delete(f"{path(workspace)}/{other['id']}").status_code == 200
    assert [read(feed["url"]).status_code for feed in (of_owner, own, other)] == [200, 404, 404]


def test_a_workspace_has_a_limited_number_of_feeds(workspace: Workspace, owner: User) -> None:
    member = Member.objects.get(user=owner)
    CalendarFeed.objects.bulk_create([CalendarFeed(member=member, token_sha256=str(number)) for number in range(100)])

    assert_envelope(as_user(owner).post(path(workspace)), 409, "CONFLICT")


def test_a_feed_ends_with_the_membership_of_its_person(workspace: Workspace, owner: User, teammate: User) -> None:
    feed = new_feed(workspace, teammate)

    as_user(owner)
    Member.objects.get(user=teammate).delete()

    assert read(feed["url"]).status_code == 404


def test_unknown_deleted_and_malformed_addresses_get_the_same_answer(workspace: Workspace, owner: User) -> None:
    feed, gone = new_feed(workspace, owner), new_feed(workspace, owner)
    as_user(owner).delete(f"{path(workspace)}/{gone['id']}")
    Workspace.objects.update(status="deleted")

    answers = [read(url) for url in (gone["url"], feed["url"], "/calendar/sps_cal_0.ics", "/calendar/x.ics")]

    bodies = [{**answer.json(), "trace_id": ""} for answer in answers]
    assert [answer.status_code for answer in answers] == [404] * 4
    assert all(body == bodies[0] for body in bodies)


def test_a_calendar_has_an_event_for_each_moment_of_a_target(
    api: ApiClient, workspace: Workspace, owner: User, accounts: list[ConnectedAccount], settings: Settings
) -> None:
    first, second = accounts[:2]
    later = "2027-03-12T08:30:00Z"
    group = api.post(
        "/posts",
        {
            "text": "Fresh bread,\nevery day; at eight",
            "scheduled_at": TOMORROW,
            "targets": [
                {"platform": first.platform, "connected_account_id": first.id},
                {"platform": second.platform, "connected_account_id": second.id, "scheduled_at": later, "text": "Own"},
            ],
        },
    ).json()["post_group"]
    answer = read(url := new_feed(workspace, owner)["url"])

    assert answer["Content-Type"] == "text/calendar; charset=utf-8"
    assert "private" in answer["Cache-Control"]
    assert all(len(line) <= 75 for line in answer.content.split(b"\r\n"))
    bluesky, mastodon = events(url)
    assert [str(each["uid"]) for each in (bluesky, mastodon)] == [target["id"] for target in group["targets"]]
    assert bluesky["dtstart"].dt == datetime(2027, 3, 11, 12, tzinfo=UTC)
    assert mastodon["dtstart"].dt == datetime(2027, 3, 12, 8, 30, tzinfo=UTC)
    assert str(bluesky["summary"]) == "[Sandbox] Bluesky · Fresh bread, every day; at eight"
    page = f"{settings.BASE_URL}/dashboard/workspaces/{workspace.id}/posts/{group['id']}"
    assert str(bluesky["url"]) == page
    about = str(bluesky["description"])
    assert about.startswith(f"Scheduled · {first.handle} (Bluesky)\nSandbox:")
    assert "Fresh bread,\nevery day; at eight" in about
    assert about.endswith(page)
    assert "Own" in str(mastodon["summary"])
    assert (str(bluesky["status"]), str(bluesky["transp"])) == ("CONFIRMED", "TRANSPARENT")


def test_an_event_keeps_its_uid_when_its_post_moves(
    api: ApiClient, workspace: Workspace, owner: User, account: ConnectedAccount
) -> None:
    group, url = create(api, account, scheduled_at=TOMORROW), new_feed(workspace, owner)["url"]
    [before] = events(url)
    api.request("PATCH", f"/posts/{group['id']}", {"scheduled_at": "2027-03-20T12:00:00Z"})

    [after] = events(url)

    assert (before["uid"], after["dtstart"].dt) == (after["uid"], datetime(2027, 3, 20, 12, tzinfo=UTC))


def test_posts_of_a_series_and_those_that_await_approval_are_marked(
    api: ApiClient, agent_client: Any, workspace: Workspace, owner: User, account: ConnectedAccount
) -> None:
    create(agent_client(default_mode="requires_confirmation"), account, scheduled_at="2027-03-10T13:00:00Z")
    create_series(api, account, rrule="FREQ=DAILY;COUNT=4")
    run_series_loop()

    waiting, of_series = events(new_feed(workspace, owner)["url"])

    assert (str(waiting["status"]), "Awaiting approval" in waiting["description"]) == ("TENTATIVE", True)
    assert "Series" in of_series["categories"].cats
    assert "belongs to a series" in of_series["description"]


def test_a_text_cannot_break_out_of_its_event(
    api: ApiClient, workspace: Workspace, owner: User, account: ConnectedAccount
) -> None:
    text = "One\nEND:VEVENT\nBEGIN:VEVENT\nUID:x\n\\n;,“ü🎉" + "é" * 200
    create(api, account, text=text, scheduled_at=TOMORROW)

    [event] = events(new_feed(workspace, owner)["url"])

    assert text in str(event["description"])


def test_drafts_rejected_cancelled_distant_and_foreign_posts_are_left_out(
    workspace: Workspace, owner: User, stranger: User
) -> None:
    for status in ("draft", "rejected", "cancelled"):
        group_with_target(workspace, NOON, status)
    group = group_with_target(workspace, NOON, "published")
    PostTarget.objects.filter(group=group).update(status="cancelled")
    group_with_target(workspace, NOON - timedelta(days=91), "published")
    group_with_target(workspace, NOON + timedelta(days=367))
    group_with_target(workspace, None, "pending_confirmation")
    group_with_target(Workspace.objects.get(owner_user=stranger), NOON)
    shown = [group_with_target(workspace, NOON + timedelta(days=days)) for days in (-89, 365)]

    found = events(new_feed(workspace, owner)["url"])

    assert [str(each["uid"]) for each in found] == [group.targets.get().id for group in shown]


def test_a_large_workspace_shows_the_targets_nearest_to_now(
    workspace: Workspace, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calendar_feed_selectors, "MAX_TARGETS_BEFORE", 2)
    monkeypatch.setattr(calendar_feed_selectors, "MAX_TARGETS_AHEAD", 3)
    for hours in range(-5, 6):
        group = group_with_target(workspace, NOON + timedelta(hours=hours))
        if hours % 2:
            other = AccountFactory(workspace=workspace)
            PostTarget.objects.filter(group=group).update(account=other)

    found = events(new_feed(workspace, owner)["url"])

    assert [each["dtstart"].dt - NOON for each in found] == [timedelta(hours=hours) for hours in (-2, -1, 0, 1, 2)]


def test_posts_that_are_not_shown_do_not_count_for_the_limits(
    workspace: Workspace, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calendar_feed_selectors, "MAX_TARGETS_BEFORE", 1)
    monkeypatch.setattr(calendar_feed_selectors, "MAX_TARGETS_AHEAD", 2)
    for hours, status in ((-1, "cancelled"), (1, "cancelled"), (2, "draft"), (3, "rejected"), (4, "published")):
        group_with_target(workspace, NOON + timedelta(hours=hours), status)
    PostTarget.objects.filter(group__status="published").update(status="cancelled")
    shown = [group_with_target(workspace, NOON + timedelta(hours=hours)) for hours in (-2, 5, 6)]

    found = events(new_feed(workspace, owner)["url"])

    assert [str(each["uid"]) for each in found] == [group.targets.get().id for group in shown]


def test_a_read_runs_the_same_number_of_queries_for_any_number_of_posts(
    api: ApiClient,
    workspace: Workspace,
    owner: User,
    accounts: list[ConnectedAccount],
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    url = new_feed(workspace, owner)["url"]
    for _ in range(2):
        create(api, *accounts, scheduled_at=TOMORROW)
        with django_assert_num_queries(4):
            read(url)
    assert PostGroup.objects.count() == 2


def test_reads_are_limited(workspace: Workspace, owner: User) -> None:
    url = new_feed(workspace, owner)["url"]

    answers = [read(url) for _ in range(11)]

    assert [answer.status_code for answer in answers] == [200] * 10 + [429]
    assert "Retry-After" in answers[-1]
    assert_envelope(answers[-1], 429, "RATE_LIMITED")


def test_programs_may_only_read_a_calendar(workspace: Workspace, owner: User) -> None:
    url = new_feed(workspace, owner)["url"]
    local = url[url.index("/calendar/") :]

    assert Client().post(local).status_code == 405
    head = Client().head(local)
    assert (head.status_code, head.content) == (200, b"")
    assert ApiClient(local.rpartition("/")[2].removesuffix(".ics")).get("/posts/search").status_code == 401
