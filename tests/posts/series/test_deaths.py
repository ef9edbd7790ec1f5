"""A year of a daily series: each post is made and published once, although workers die all the time."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import ConnectedAccount
from billing.selectors import find_wrong_month_counters
from posts.models import PostGroup, PostTarget, Series, SeriesOccurrence
from posts.publishing.attempts import LEASE as PUBLISHING_LEASE
from posts.services.series_occurrences import LEASE, apply_changes_of_claimed_series, claim_due_series
from posts.states import Certainty
from tests.conftest import ApiClient
from tests.fakes.bluesky import FakeBluesky
from tests.posts.publishing.worker import DyingWriter, WorkerKilled, run_until_idle
from tests.posts.series.rows import change, create_series, read_series, run_series_loop

BERLIN = ZoneInfo("Europe/Berlin")
DAY = timedelta(days=1)


@contextmanager
def killed_at_statement(number: int) -> Iterator[None]:
    """A context manager in which the worker dies before its SQL statement of this number, so its transaction is undone."""
    left = number

    def execute_or_die(execute: Callable[..., Any], *arguments: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise WorkerKilled
        return execute(*arguments)

    with connection.execute_wrapper(execute_or_die):
        yield


def run_and_die(number: int) -> bool:
    """Run a worker for series that dies at a statement; False if it finishes before it comes to that."""
    try:
        with killed_at_statement(number):
            run_series_loop()
    except WorkerKilled:
        return True
    return False


def nine_in_berlin(first: str, days: int) -> list[datetime]:
    """09:00 in Berlin on each of the days, as UTC."""
    locals_ = (datetime.fromisoformat(f"{first} 09:00") + number * DAY for number in range(days))
    return [local.replace(tzinfo=BERLIN).astimezone(UTC) for local in locals_]


def publish_and_die(deaths: random.Random) -> Certainty | None:
    """Publish what is due by a worker that may die at a statement, or before or after it has written a step or a result.

    Returns how certain it is then that the latest due post is out; None if the worker lives.
    """
    number, committed = deaths.randrange(2), deaths.random() < 0.5
    try:
        with killed_at_statement(deaths.randrange(1, 30)):
            run_until_idle(DyingWriter(number, committed=committed) if deaths.random() < 0.5 else None)
    except WorkerKilled:
        latest = PostTarget.objects.filter(scheduled_at__lte=datetime.now(UTC)).order_by("scheduled_at").last()
        return Certainty(latest.certainty) if latest else None
    return None


@pytest.mark.django_db(transaction=True)
def test_a_year_under_deaths_publishes_each_day_once(
    api: ApiClient, bluesky_account: ConnectedAccount, pds: FakeBluesky, clock: Any
) -> None:
    deaths = random.Random(7)
    create_series(api, bluesky_account, post={"metadata": {"year": "2027"}})
    died, died_publishing = 0, Counter[Certainty | None]()

    while datetime.now(UTC) < datetime(2028, 3, 10, 12, tzinfo=UTC):
        died += run_and_die(deaths.randrange(2, 60))
        clock.shift(LEASE)  # so that a dead worker's claim ends
        run_series_loop()
        for _ in range(deaths.choice([1, 1, 2])):  # a third death in the same step would end the post
            died_publishing[publish_and_die(deaths)] += 1
            clock.shift(PUBLISHING_LEASE)
        run_until_idle()
        clock.shift(timedelta(hours=deaths.choice([21, 23])))
    run_until_idle()

    published = PostGroup.objects.filter(status="published").order_by("scheduled_at")
    assert [post.scheduled_at for post in published] == nine_in_berlin("2027-03-11", published.count())
    assert published.count() >= 366
    assert PostGroup.objects.exclude(status__in=["published", "scheduled"]).count() == 0
    assert PostGroup.objects.count() == SeriesOccurrence.objects.count() == Series.objects.get().made
    ids = PostTarget.objects.filter(status="published").values_list("external_id", flat=True)
    assert sorted(map(str, ids)) == sorted(record["uri"] for record in pds.records(bluesky_account.external_id))
    assert pds.writes == published.count()
    assert find_wrong_month_counters() == []
    assert died > 50
    assert min(died_publishing[known] for known in (Certainty.NOT_SENT, Certainty.MAYBE_SENT, Certainty.CONFIRMED)) > 20


@pytest.mark.django_db(transaction=True)
def test_worker_that_dies_at_any_statement_leaves_each_post_made_once(
    api: ApiClient, account: ConnectedAccount, clock: Any
) -> None:
    series = create_series(api, account, rrule="FREQ=DAILY;UNTIL=20270313T000000Z")
    number = 1
    while run_and_die(number):
        number += 1
        clock.shift(LEASE)

    times = list(PostGroup.objects.order_by("scheduled_at").values_list("scheduled_at", flat=True))
    assert times == nine_in_berlin("2027-03-11", 2)
    assert read_series(api, series)["made"] == 2
    assert number > 10


def test_worker_that_lost_its_claim_makes_nothing(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    create_series(api, account)
    [slow] = claim_due_series(1)
    clock.shift(LEASE)
    run_series_loop()

    apply_changes_of_claimed_series(slow)

    assert PostGroup.objects.count() == Series.objects.get().made == 7


def test_change_during_a_pass_stops_the_worker(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    series = create_series(api, account)
    [claimed] = claim_due_series(1)
    change(api, series, status="paused")

    apply_changes_of_claimed_series(claimed)

    assert not PostGroup.objects.exists()


STEPS = st.lists(
    st.sampled_from(["pause", "resume", "skip", "weekdays", "daily", "text", "work", "die", "publish", "day"]), max_size=8
)


class History:
    """A series under steps of people and workers."""

    def __init__(self, api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
        self.api, self.clock = api, clock
        self.series = create_series(api, account)
        self.skipped: set[str] = set()

    def take(self, step: str) -> None:
        rules = {"weekdays": "FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR", "daily": "FREQ=DAILY"}
        if step in ("pause", "resume"):
            change(self.api, self.series, status="paused" if step == "pause" else "active")
        elif step in rules:
            change(self.api, self.series, rrule=rules[step], apply_to_scheduled=True)
        elif step == "text":
            target = {name: self.series["post"]["targets"][0][name] for name in ("platform", "connected_account_id")}
            change(self.api, self.series, post={"text": "New", "targets": [target]}, apply_to_scheduled=True)
        elif step == "skip":
            [first, *_] = read_series(self.api, self.series)["next"]
            assert self.api.post(f"/series/{self.series['id']}/skip", {"at": first["at"]}).status_code == 200
            self.skipped.add(first["at"])
        elif step == "work":
            run_series_loop()
        elif step == "die":
            run_and_die(17)
            self.clock.shift(LEASE)
        elif step == "publish":
            run_until_idle()
        else:
            self.clock.shift(DAY)


@pytest.mark.django_db(transaction=True)
@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_any_order_of_steps_keeps_one_post_for_each_occurrence(
    api: ApiClient, account: ConnectedAccount, clock: Any, steps: list[str]
) -> None:
    clock.move_to(datetime(2027, 3, 10, 12, tzinfo=UTC))
    history = History(api, account, clock)
    for step in steps:
        history.take(step)
    run_series_loop()

    series = read_series(api, history.series)
    live = PostGroup.objects.filter(series_id=series["id"]).exclude(status="cancelled")
    times = list(live.values_list("scheduled_at", flat=True))
    assert len(times) == len(set(times))  # no day twice
    assert not {f"{at:%Y-%m-%dT%H:%M:%SZ}" for at in times} & history.skipped
    shown = {each["at"] for each in series["next"]}
    ahead = live.filter(status="scheduled", scheduled_at__gt=datetime.now(UTC))
    assert {f"{at:%Y-%m-%dT%H:%M:%SZ}" for at in ahead.values_list("scheduled_at", flat=True)} <= shown
    if series["status"] == "active":  # everything within seven days is made
        week = f"{datetime.now(UTC) + 7 * DAY:%Y-%m-%dT%H:%M:%SZ}"
        assert all(each["post_group_id"] for each in series["next"] if each["at"] <= week)
    assert not PostTarget.objects.filter(group__status="cancelled").exclude(status="cancelled").exists()
    Series.objects.filter(pk=series["id"]).update(status="ended", due_at=None)
