"""The post page: what its button for cancelling says while a post is sent again, or is still to come at other accounts."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from tests.conftest import ApiClient
from tests.posts.dashboard.dashboard import Dashboard, words
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, body_for, create, fail_as_missed, read

LABELS = ("Cancel post", "Cancel the other accounts", "Stop trying", "Delete the draft")


def offered(dashboard: Dashboard, group: dict[str, Any]) -> list[str]:
    """The labels of the page's buttons for cancelling."""
    page = words(dashboard.get("post", group))
    return [label for label in LABELS if label in page]


@pytest.fixture
def half_out(api: ApiClient, accounts: list[ConnectedAccount], clock: Any) -> dict[str, Any]:
    """A post that is published at one account, and has failed at another a minute ago."""
    group = create(api, *accounts[:2], texts=["[sandbox:reject]", "Hello"])
    run_until_idle()
    clock.shift(60)
    return group


def test_a_retry_that_waits_is_undone_but_not_cancelled(
    dashboard: Dashboard, half_out: dict[str, Any], rejected: dict[str, Any], clock: Any
) -> None:
    clock.shift(60)
    for group in (half_out, rejected):
        assert offered(dashboard, group) == []
        page = dashboard.http.post(dashboard.address("post-retry", group), follow=True)
        assert "Undo" in page.content.decode()
        assert offered(dashboard, group) == []


def test_a_retry_that_no_worker_takes_is_stopped(
    dashboard: Dashboard, api: ApiClient, half_out: dict[str, Any], clock: Any
) -> None:
    dashboard.post("post-retry", half_out)
    clock.shift(60)
    assert offered(dashboard, half_out) == ["Stop trying"]
    assert "Stop trying to send this post?" in dashboard.get("post", half_out).content.decode()

    page = dashboard.http.post(dashboard.address("post-cancel", half_out), follow=True)

    assert "The post is not tried again." in words(page)
    assert [each["status"] for each in read(api, half_out)["targets"]] == ["cancelled", "published"]
    assert offered(dashboard, half_out) == []


def test_the_account_to_come_is_cancelled_while_another_one_waits_for_its_retry(
    dashboard: Dashboard, api: ApiClient, accounts: list[ConnectedAccount]
) -> None:
    body = body_for(*accounts[:2], texts=["[sandbox:reject]"])
    body["targets"][1]["scheduled_at"] = TOMORROW
    group = dict(api.post("/posts", body).json()["post_group"])
    run_until_idle()
    assert offered(dashboard, group) == ["Cancel the other accounts"]
    dashboard.post("post-retry", group)
    assert offered(dashboard, group) == ["Cancel post"]  # nothing is published, and both are stopped


def test_a_missed_post_that_is_sent_again_is_undone_but_not_cancelled(
    dashboard: Dashboard, api: ApiClient, account: ConnectedAccount
) -> None:
    group = create(api, account, scheduled_at=TOMORROW)
    assert offered(dashboard, group) == ["Cancel post"]
    fail_as_missed(group["id"])
    dashboard.post("missed", post=group["id"])
    assert offered(dashboard, group) == []


def test_a_post_that_may_be_public_is_not_said_to_stay_unpublished(
    dashboard: Dashboard, api: ApiClient, accounts: list[ConnectedAccount]
) -> None:
    body = body_for(*accounts[:2], texts=["[sandbox:unknown]"])
    body["targets"][1]["scheduled_at"] = TOMORROW
    group = dict(api.post("/posts", body).json()["post_group"])
    run_until_idle()
    assert [each["status"] for each in read(api, group)["targets"]] == ["unconfirmed", "pending"]
    dashboard.post("post-retry", group, include_unconfirmed="on")

    assert offered(dashboard, group) == ["Cancel the other accounts"]
