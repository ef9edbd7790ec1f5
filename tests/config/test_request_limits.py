"""Limits on threads and CPU time of requests (config/api/request_limits.py)."""

from __future__ import annotations

import contextlib
import time

import pytest

from config.api import request_limits
from config.api.errors import PayloadTooLarge, RateLimited


def test_a_workspace_gets_no_more_than_its_own_limit_of_threads() -> None:
    share = request_limits.WebThreadLimit(3, each=2)
    assert [share.try_acquire_thread("wrk_a") for _ in range(2)] == [True, True]
    assert not share.try_acquire_thread("wrk_a")
    assert share.try_acquire_thread("wrk_b")
    assert not share.try_acquire_thread("wrk_c"), "the whole share is in use"
    share.release_thread("wrk_a")
    assert share.try_acquire_thread("wrk_c")


def test_without_a_free_thread_the_request_is_refused_with_retry_after() -> None:
    share = request_limits.WebThreadLimit(1)
    with share.hold_thread("wrk_a"), pytest.raises(RateLimited) as refusal, share.hold_thread("wrk_b"):
        pass
    assert refusal.value.headers["Retry-After"] == "5"
    assert share.try_acquire_thread("wrk_b"), "the block gave its thread back"


def test_a_request_over_its_cpu_time_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_limits, "REQUEST_CPU_SECONDS", 0.01)
    request_limits.start_cpu_timer()
    used_up_at = time.thread_time() + 0.02
    while time.thread_time() < used_up_at:
        pass
    with pytest.raises(PayloadTooLarge):
        request_limits.check_cpu_time()


def test_slow_servers_of_tenants_do_not_prevent_sign_in() -> None:
    """The identity provider has its own thread limit."""
    with contextlib.ExitStack() as waiting:
        for number in range(100):
            if request_limits.outbound_thread_limit.try_acquire_thread(f"wrk_{number}"):
                waiting.callback(request_limits.outbound_thread_limit.release_thread, f"wrk_{number}")
        with pytest.raises(RateLimited), request_limits.limit_outbound_threads_and_seconds("wrk_new"):
            pass
        with request_limits.limit_outbound_threads_and_seconds("192.0.2.1", operator_chosen=True):
            pass
