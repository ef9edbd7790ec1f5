"""Pauses between attempts (config/jobs/backoff.py)."""

from __future__ import annotations

from datetime import timedelta

from config.jobs.backoff import exponential_retry_pause, retry_pause_from_list_or_none


def test_scheduled_pauses_vary_by_20_percent_until_the_schedule_is_used_up() -> None:
    pauses = [retry_pause_from_list_or_none([10, 100], 2) for _ in range(200)]

    assert {timedelta(seconds=80) <= pause <= timedelta(seconds=120) for pause in pauses if pause} == {True}
    assert len(set(pauses)) > 100
    assert retry_pause_from_list_or_none([10, 100], 3) is None


def test_a_longer_retry_after_replaces_the_pause() -> None:
    assert retry_pause_from_list_or_none([10], 1, retry_after=13) == timedelta(seconds=13)
    assert retry_pause_from_list_or_none([10], 1, retry_after=1) != timedelta(seconds=1)
    assert exponential_retry_pause(1, first=10, longest=60, retry_after=90) == timedelta(seconds=90)


def test_a_doubling_pause_is_at_most_the_longest() -> None:
    pauses = [exponential_retry_pause(failures, first=10, longest=60).total_seconds() for failures in (1, 2, 3, 4, 1000)]

    assert pauses == [10, 20, 40, 60, 60]
