"""The worker loop makes the posts of series within SERIES_AHEAD_DAYS, each as its maker would."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from agents.models import ApiKey
from posts.models import PostGroup, Series, SeriesOccurrence
from tests.conftest import ApiClient
from tests.people import as_user
from tests.posts.rows import publish_rounds, read
from tests.posts.series.rows import create_series, days_made, made_posts, read_series, run_series_loop
from webhooks.models import Event
from workspaces.models import Member, User, Workspace

WEEK_OF_DAILY = [f"03-{day} 08:00" for day in range(11, 18)]

pytestmark = pytest.mark.usefixtures("clock")


def test_posts_of_the_next_seven_days_are_scheduled(api: ApiClient, account: ConnectedAccount) -> None:
    series = create_series(api, account, post={"text": "Good morning", "metadata": {"kind": "greeting"}})

    run_series_loop()

    assert days_made(series, status="scheduled") == WEEK_OF_DAILY
    shown = read_series(api, series)
    assert shown["made"] == 7
    assert [each["post_group_id"] for each in shown["next"]] == [post.id for post in made_posts(series)] + [None] * 3
    post = read(api, {"id": made_posts(series)[0].id})
    assert (post["series_id"], post["text"], post["metadata"]) == (series["id"], "Good morning", {"kind": "greeting"})
    assert post["created_by"] == series["created_by"]


def test_further_posts_follow_as_time_passes(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    series = create_series(api, account)
    run_series_loop()

    clock.move_to(datetime(2027, 3, 12, 8, 0, 1, tzinfo=UTC))
    run_series_loop()

    assert days_made(series) == [*WEEK_OF_DAILY, "03-18 08:00", "03-19 08:00"]


def test_made_posts_are_published_at_their_times(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    series = create_series(api, account, rrule="FREQ=DAILY;COUNT=5")
    run_series_loop()

    publish_rounds(clock)

    assert days_made(series, status="published") == ["03-11 08:00", "03-12 08:00"]


def test_series_ends_after_its_last_occurrence(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    series = create_series(api, account, rrule="FREQ=DAILY;UNTIL=20270312T235959Z")
    run_series_loop()
    assert read_series(api, series)["status"] == "active"

    clock.move_to(datetime(2027, 3, 12, 9, tzinfo=UTC))
    run_series_loop()

    assert (read_series(api, series)["status"], read_series(api, series)["made"]) == ("ended", 2)
    assert days_made(series, status="scheduled") == WEEK_OF_DAILY[:2]  # the publisher has not run


def test_last_post_is_published_although_the_series_has_ended(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    series = create_series(api, account, rrule="FREQ=DAILY;UNTIL=20270311T235959Z")
    run_series_loop()

    clock.move_to(datetime(2027, 3, 11, 8, 0, 1, tzinfo=UTC))
    run_series_loop()
    assert read_series(api, series)["status"] == "ended"
    publish_rounds(clock)

    assert days_made(series, status="published") == WEEK_OF_DAILY[:1]


def test_clock_change_keeps_the_local_time(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    clock.move_to(datetime(2027, 3, 26, 12, tzinfo=UTC))
    series = create_series(api, account, starts_at="2027-03-01T02:30")

    run_series_loop()

    assert days_made(series)[:3] == ["03-27 01:30", "03-28 01:00", "03-29 00:30"]


def test_posts_of_an_agent_await_approval_as_its_other_posts_do(agent_client: Any, account: ConnectedAccount) -> None:
    agent = agent_client(default_mode="requires_confirmation")
    series = create_series(agent, account)

    run_series_loop()

    assert days_made(series, status="pending_confirmation") == WEEK_OF_DAILY


def test_refused_post_is_reported_once_and_tried_until_its_time(
    api: ApiClient, workspace: Workspace, account: ConnectedAccount, clock: Any
) -> None:
    account.sandbox = False
    account.save()
    series = create_series(api, account)
    Workspace.objects.filter(pk=workspace.pk).update(monthly_spend_cap_cents=0, free_monthly_credit_cents=2)

    run_series_loop()
    clock.shift(timedelta(minutes=11))
    run_series_loop()

    shown = read_series(api, series)
    assert [each["error"] and each["error"]["code"] for each in shown["next"]] == [None] * 2 + ["SPEND_CAP_EXCEEDED"] * 5 + [
        None
    ] * 3
    assert (shown["made"], len(made_posts(series)), shown["status"]) == (2, 2, "active")
    events = Event.objects.filter(kind="series.occurrence_refused")
    assert events.count() == 5
    assert json.loads(bytes(events[0].payload))["data"]["series"]["id"] == series["id"]

    Workspace.objects.filter(pk=workspace.pk).update(free_monthly_credit_cents=100)
    clock.shift(timedelta(minutes=11))
    run_series_loop()

    assert days_made(series, status="scheduled") == WEEK_OF_DAILY
    assert {each["error"] and each["error"]["code"] for each in read_series(api, series)["next"]} == {None}
    assert events.count() == 5


def test_content_that_became_invalid_is_refused(api: ApiClient, workspace: Workspace, account: ConnectedAccount) -> None:
    series = create_series(api, account)
    ConnectedAccount.objects.filter(pk=account.pk).update(status="needs_reauth")

    run_series_loop()

    codes = {each["error"]["code"] for each in read_series(api, series)["next"][:7]}
    assert codes == {"CONTENT_INVALID"}


def test_revoked_key_makes_no_more_posts(api: ApiClient, account: ConnectedAccount) -> None:
    series = create_series(api, account)
    ApiKey.objects.update(revoked_at=datetime(2027, 3, 10, tzinfo=UTC))

    run_series_loop()

    assert made_posts(series) == []
    [code] = set(SeriesOccurrence.objects.values_list("error__code", flat=True))
    assert code == "API_KEY_REVOKED"


def test_person_who_left_makes_no_more_posts(workspace: Workspace, teammate: User, account: ConnectedAccount) -> None:
    Member.objects.filter(user=teammate).update(role="admin")
    series = create_series(as_user(teammate), account, workspace_id=workspace.id)
    Member.objects.filter(user=teammate).delete()

    run_series_loop()

    assert made_posts(series) == []
    assert set(SeriesOccurrence.objects.values_list("error__code", flat=True)) == {"FORBIDDEN"}


def test_paused_workspace_makes_none_and_reports_nothing(
    api: ApiClient, workspace: Workspace, account: ConnectedAccount, clock: Any
) -> None:
    series = create_series(api, account)
    Workspace.objects.filter(pk=workspace.pk).update(status="paused")

    run_series_loop()

    assert (made_posts(series), SeriesOccurrence.objects.count()) == ([], 0)
    Workspace.objects.filter(pk=workspace.pk).update(status="active")
    clock.shift(timedelta(minutes=6))
    run_series_loop()
    assert days_made(series) == WEEK_OF_DAILY


def test_deleted_workspace_ends_its_series(api: ApiClient, workspace: Workspace, account: ConnectedAccount) -> None:
    create_series(api, account)
    Workspace.objects.filter(pk=workspace.pk).update(status="deleted")

    run_series_loop()

    assert (Series.objects.get().status, PostGroup.objects.count()) == ("ended", 0)


def test_many_posts_are_made_in_several_turns(api: ApiClient, account: ConnectedAccount) -> None:
    series = create_series(api, account, rrule=f"FREQ=DAILY;BYHOUR={','.join(map(str, range(24)))}")

    run_series_loop()

    assert len(made_posts(series)) == 7 * 24


def test_refused_posts_do_not_keep_others_from_their_turn(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    series = create_series(api, account, rrule=f"FREQ=DAILY;BYHOUR={','.join(map(str, range(24)))}")
    ConnectedAccount.objects.filter(pk=account.pk).update(status="needs_reauth")

    run_series_loop()

    assert SeriesOccurrence.objects.filter(error__isnull=False).count() == 7 * 24
    ConnectedAccount.objects.filter(pk=account.pk).update(status="active")
    for _ in range(7):
        clock.shift(timedelta(minutes=11))
        run_series_loop()
    assert len(made_posts(series)) >= 7 * 24 - 2  # an occurrence or two have passed
