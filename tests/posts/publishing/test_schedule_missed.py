"""A post whose time passed while no worker ran is published within the grace period and fails after it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from accounts.platforms.errors import OutcomeUnknown
from accounts.platforms.types import Content, Published
from billing.models import MonthCounter
from tests.conftest import ApiClient
from tests.fakes.bluesky import FakeBluesky
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import NOON, TOMORROW, create, kinds_of, publish_rounds, read
from tests.posts.scripted_platform import ScriptedPlatform

IN_AN_HOUR = NOON + timedelta(hours=1)


@pytest.fixture
def group(api: ApiClient, telegram_account: ConnectedAccount, clock: Any) -> dict[str, Any]:
    return create(api, telegram_account, scheduled_at=IN_AN_HOUR.isoformat())


def test_a_late_post_is_published_within_the_grace_period(api: ApiClient, group: dict[str, Any], clock: Any) -> None:
    clock.move_to(IN_AN_HOUR + timedelta(hours=24))
    run_until_idle()

    assert read(api, group)["status"] == "published"


def test_a_post_beyond_the_grace_period_fails_and_costs_nothing(
    api: ApiClient, group: dict[str, Any], scripted: type[ScriptedPlatform], clock: Any
) -> None:
    clock.move_to(IN_AN_HOUR + timedelta(hours=24, seconds=1))
    run_until_idle()

    ended = read(api, group)
    target = ended["targets"][0]
    assert (ended["status"], target["error"]["code"], target["attempts"]) == ("failed", "SCHEDULE_MISSED", 0)
    assert kinds_of(group) == ["post.scheduled", "post.failed"]
    assert (scripted.sent, MonthCounter.objects.get().held_cents) == ([], 0)


def test_the_grace_period_is_a_setting(api: ApiClient, group: dict[str, Any], clock: Any, settings: Any) -> None:
    settings.SCHEDULE_GRACE_HOURS = 2
    clock.move_to(IN_AN_HOUR + timedelta(hours=2, seconds=1))
    run_until_idle()

    assert read(api, group)["targets"][0]["error"]["code"] == "SCHEDULE_MISSED"


@pytest.mark.parametrize("fields", [{}, {"scheduled_at": (NOON + timedelta(days=9)).isoformat()}])
def test_a_missed_post_is_published_when_retried(
    api: ApiClient, group: dict[str, Any], clock: Any, fields: dict[str, Any]
) -> None:
    clock.move_to(IN_AN_HOUR + timedelta(days=7))
    run_until_idle()

    api.post(f"/posts/{group['id']}/retry", fields)
    publish_rounds(clock)

    assert read(api, group)["status"] == "published"


def test_the_grace_period_of_a_retried_post_begins_at_its_new_time(api: ApiClient, group: dict[str, Any], clock: Any) -> None:
    clock.move_to(IN_AN_HOUR + timedelta(days=7))
    run_until_idle()
    api.post(f"/posts/{group['id']}/retry")
    clock.shift(timedelta(hours=24, seconds=1))

    run_until_idle()

    assert read(api, group)["targets"][0]["error"]["code"] == "SCHEDULE_MISSED"


def test_a_post_begun_in_time_is_completed(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    group = create(api, account, text="[sandbox:flaky]", scheduled_at=IN_AN_HOUR.isoformat())
    clock.move_to(IN_AN_HOUR)
    run_until_idle()
    clock.shift(timedelta(days=3))
    run_until_idle()

    assert read(api, group)["status"] == "published"


def test_a_post_without_a_time_is_never_too_late(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    group = create(api, account)
    clock.shift(timedelta(days=30))
    run_until_idle()

    assert read(api, group)["status"] == "published"


def _retried_tomorrow(api: ApiClient, account: ConnectedAccount) -> dict[str, Any]:
    """An unconfirmed post with a retry scheduled for tomorrow."""
    group = create(api, account)
    run_until_idle()
    assert read(api, group)["status"] == "unconfirmed"
    answer = api.post(f"/posts/{group['id']}/retry", {"include_unconfirmed": True, "scheduled_at": TOMORROW})
    assert answer.status_code == 200, answer.content
    return group


@pytest.mark.parametrize(("hours_late", "status", "sends"), [(23, "published", 2), (25, "failed", 1)])
def test_a_retry_that_searches_and_finds_nothing_has_a_grace_period(
    api: ApiClient,
    telegram_account: ConnectedAccount,
    verifiable: type[ScriptedPlatform],
    clock: Any,
    hours_late: int,
    status: str,
    sends: int,
) -> None:
    def lose(content: Content) -> Published:
        raise OutcomeUnknown("No answer came.", final=True)

    send = verifiable.send
    verifiable.send = staticmethod(lose)
    group = _retried_tomorrow(api, telegram_account)
    verifiable.send = staticmethod(send)
    clock.move_to(NOON + timedelta(hours=24 + hours_late))

    publish_rounds(clock)

    [target] = read(api, group)["targets"]
    assert (target["status"], len(verifiable.sent), len(verifiable.searches)) == (status, sends, 1)
    assert target["error"] is None or target["error"]["code"] == "SCHEDULE_MISSED"


def test_a_retry_that_searches_first_is_completed_once_sent(
    api: ApiClient, telegram_account: ConnectedAccount, verifiable: type[ScriptedPlatform], clock: Any
) -> None:
    def lose(content: Content) -> Published:
        raise OutcomeUnknown("No answer came.", final=len(verifiable.sent) == 1)

    send = verifiable.send
    verifiable.send = staticmethod(lose)
    group = _retried_tomorrow(api, telegram_account)
    clock.move_to(TOMORROW)
    run_until_idle()  # searches, and sends again without a response
    verifiable.send = staticmethod(send)
    clock.shift(timedelta(hours=25))

    publish_rounds(clock)

    assert (read(api, group)["status"], len(verifiable.sent)) == ("published", 3)


def test_a_retry_that_misses_its_time_leaves_the_target_unconfirmed(
    api: ApiClient, pds: FakeBluesky, bluesky_account: ConnectedAccount, clock: Any, settings: Any
) -> None:
    settings.PUBLISH_RETRY_SCHEDULE = []
    pds.drop_next("com.atproto.repo.putRecord", after_accept=False)
    group = _retried_tomorrow(api, bluesky_account)
    clock.move_to(NOON + timedelta(hours=49))

    publish_rounds(clock)

    [target] = read(api, group)["targets"]
    assert (target["status"], pds.writes) == ("unconfirmed", 0)
    words = "The post could not be published within 24 hours of its time. An earlier attempt may have been published."
    assert target["error"]["message"] == words
