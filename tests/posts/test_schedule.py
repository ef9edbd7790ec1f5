"""Scheduled times: up to 60 s in the past means now, at most 366 days ahead, with a UTC offset."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import NOON, body_for, create, kinds_of, read


def at(**delta: float) -> str:
    return (NOON + timedelta(**delta)).isoformat()


@pytest.mark.parametrize(
    ("scheduled_at", "code"),
    [
        (at(seconds=-61), "past"),
        (at(days=366, seconds=1), "too_far"),
        ("2027-03-11T12:00:00", "invalid"),
        ("2027-03-11", "invalid"),
        ("2027-02-30T12:00:00Z", "invalid"),
        ("0001-01-01T00:00:00+23:59", "invalid"),
        (1_800_000_000, "invalid"),
    ],
)
def test_an_invalid_time_is_refused(
    api: ApiClient, account: ConnectedAccount, clock: Any, scheduled_at: Any, code: str
) -> None:
    answer = api.post("/posts", body_for(account, scheduled_at=scheduled_at))

    details = assert_envelope(answer, 422, "VALIDATION_FAILED")["details"]
    assert [(detail["field"], detail["code"]) for detail in details] == [("scheduled_at", code)]


@pytest.mark.parametrize("scheduled_at", [at(seconds=-60), at(seconds=0)])
def test_a_time_up_to_a_minute_ago_means_now(
    api: ApiClient, account: ConnectedAccount, clock: Any, scheduled_at: str
) -> None:
    group = create(api, account, scheduled_at=scheduled_at)

    assert run_until_idle() == 1
    assert read(api, group)["status"] == "published"


def test_a_scheduled_post_is_published_at_its_time_and_not_before(
    api: ApiClient, account: ConnectedAccount, clock: Any
) -> None:
    group = create(api, account, scheduled_at="2027-03-11T01:30:00.250+02:00")
    assert (group["status"], group["scheduled_at"]) == ("scheduled", "2027-03-10T23:30:00.250000Z")
    assert group["targets"][0]["next_attempt_at"] == group["scheduled_at"]
    assert kinds_of(group) == ["post.scheduled"]

    clock.move_to("2027-03-10T23:30:00.249Z")
    assert run_until_idle() == 0
    clock.move_to("2027-03-10T23:30:00.250Z")
    assert run_until_idle() == 1

    assert read(api, group)["status"] == "published"
    assert kinds_of(group) == ["post.scheduled", "post.published"]


def test_a_time_366_days_ahead_is_accepted(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    assert create(api, account, scheduled_at=at(days=366))["status"] == "scheduled"
