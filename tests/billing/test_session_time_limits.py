"""Requests for processor sessions have a limited share of web threads and a total time limit."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import Settings

from tests.billing.test_sessions import CHECKOUT, PORTAL, open_session
from tests.config.outbound_servers import Server, drips, hangs
from tests.config.test_errors import assert_envelope
from tests.fakes.payment_processor import FakePaymentProcessor
from tests.occupied_threads import occupy_all_outbound_threads
from tests.pages import Pages, words
from tests.people import as_user
from workspaces.models import User, Workspace


@pytest.mark.parametrize("path", [CHECKOUT, PORTAL])
def test_a_session_is_refused_when_no_thread_for_outbound_requests_is_free(
    owner: User, workspace: Workspace, processor: FakePaymentProcessor, path: str
) -> None:
    with occupy_all_outbound_threads():
        preview = open_session(as_user(owner), path, workspace, dry_run=True)
        refused = open_session(as_user(owner), path, workspace)
    assert preview.status_code == 200
    assert_envelope(refused, 429, "RATE_LIMITED")
    assert (refused["Retry-After"], processor.requests) == ("5", ())
    assert open_session(as_user(owner), path, workspace).status_code == 200


def test_the_dashboard_shows_that_no_thread_is_free(
    owner: User, workspace: Workspace, processor: FakePaymentProcessor
) -> None:
    with occupy_all_outbound_threads():
        page = Pages(workspace, owner).post("usage-checkout", {"plan": "payg"}, follow=True)

    assert (page.status_code, page["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "Too many requests are waiting for other servers. Try again in a few seconds." in words(page)


@pytest.mark.parametrize("behaviour", ["silent", "drips"])
def test_a_processor_that_never_finishes_its_response_times_out(
    owner: User, workspace: Workspace, processor: FakePaymentProcessor, settings: Settings, monkeypatch: Any, behaviour: str
) -> None:
    """A time limit per read would let a slowly dripping response block the thread forever."""
    monkeypatch.setattr("config.api.request_limits.OUTBOUND_SECONDS", 0.3)
    answers = hangs if behaviour == "silent" else drips(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    with Server(answers) as server:
        settings.STRIPE_API_BASE = f"http://127.0.0.1:{server.port}"
        assert_envelope(open_session(as_user(owner), CHECKOUT, workspace), 503, "BILLING_UNAVAILABLE")
