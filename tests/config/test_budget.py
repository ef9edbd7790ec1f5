"""Limits on threads and CPU time of requests (config/api/request_limits.py)."""

from __future__ import annotations

import contextlib
import time

import pytest

from config.api import request_limits
from config.api.errors import PayloadTooLarge, RateLimited


def test_a_workspace_takes_no_more_than_its_part_of_a_share() -> None:
    share = request_limits.ThreadLimit(3, each=2)
    assert [share.acquire("wrk_a") for _ in range(2)] == [True, True]
    assert not share.acquire("wrk_a")
    assert share.acquire("wrk_b")
    assert not share.acquire("wrk_c"), "the whole share is in use"
    share.release("wrk_a")
    assert share.acquire("wrk_c")


def test_a_full_share_is_refused_with_the_time_to_wait() -> None:
    share = request_limits.ThreadLimit(1)
    with share.held("wrk_a"), pytest.raises(RateLimited) as refusal, share.held("wrk_b"):
        pass
    assert refusal.value.headers["Retry-After"] == "5"
    assert share.acquire("wrk_b"), "the block gave its thread back"


def test_a_request_ends_when_it_used_up_its_cpu_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_limits, "REQUEST_CPU_SECONDS", 0.01)
    request_limits.start_cpu_timer()
    used_up_at = time.thread_time() + 0.02
    while time.thread_time() < used_up_at:
        pass
    with pytest.raises(PayloadTooLarge):
        request_limits.check_cpu_time()


def test_no_tenants_server_keeps_people_from_signing_in() -> None:
    """The identity provider has its own thread limit."""
    with contextlib.ExitStack() as waiting:
        for number in range(100):
            if request_limits.outbound_threads.acquire(f"wrk_{number}"):
                waiting.callback(request_limits.outbound_threads.release, f"wrk_{number}")
        with pytest.raises(RateLimited), request_limits.outbound_slot("wrk_new"):
            pass
        with request_limits.outbound_slot("192.0.2.1", operator_chosen=True):
            pass
