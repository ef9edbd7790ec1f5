"""A Bluesky post whose outcome was unknown is published once, and is not reported as failed while it may be published."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from billing import selectors as billing
from billing.models import MonthCounter
from posts.models import PostTarget
from tests.conftest import ApiClient
from tests.fakes.bluesky import FakeBluesky
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import create, kinds_of, publish_rounds, read

PUT, GET = "com.atproto.repo.putRecord", "com.atproto.repo.getRecord"


@pytest.fixture
def group(api: ApiClient, bluesky_account: ConnectedAccount, clock: Any) -> dict[str, Any]:
    """A post that is due."""
    return create(api, bluesky_account, text="Hello, world")


@pytest.fixture
def unknown_outcome(pds: FakeBluesky, group: dict[str, Any]) -> dict[str, Any]:
    """A post that its first attempt has published without a response."""
    pds.drop_next(PUT, after_accept=True)
    pds.fail_next(GET)
    run_until_idle()
    assert PostTarget.objects.filter(status="retrying", error__code="PUBLISH_OUTCOME_UNKNOWN").count() == pds.writes == 1
    return group


@pytest.fixture(autouse=True)
def _books_balance(db: None) -> Any:
    yield
    assert billing.find_wrong_month_counters() == []


def assert_published_once(api: ApiClient, pds: FakeBluesky, group: dict[str, Any], *, attempts: int) -> None:
    ended = read(api, group)
    target = ended["targets"][0]
    [record] = pds.records(ConnectedAccount.objects.get().external_id)
    assert record["value"]["text"] == "Hello, world"
    assert (ended["status"], target["attempts"], target["error"]) == ("published", attempts, None)
    assert target["external_id"] == record["uri"]
    assert target["permalink"].endswith(f"/post/{record['rkey']}")
    assert pds.writes == 1
    assert kinds_of(group)[-1] == "post.published"
    month = MonthCounter.objects.get()
    assert (month.held_cents, month.settled_cents) == (0, 1)


def test_a_rejected_repetition_proves_that_nothing_was_published(
    api: ApiClient, pds: FakeBluesky, group: dict[str, Any], clock: Any
) -> None:
    pds.drop_next(PUT, after_accept=False)
    run_until_idle()
    frozen = PostTarget.objects.get().progress
    PostTarget.objects.update(progress={**frozen, "record": {**frozen["record"], "text": "a" * 301}})

    publish_rounds(clock)

    target = read(api, group)["targets"][0]
    assert (target["status"], target["error"]["code"]) == ("failed", "PLATFORM_REJECTED")
    assert (pds.writes, MonthCounter.objects.get().held_cents) == (0, 0)


def test_a_post_that_may_be_published_has_not_failed_after_its_last_attempt(
    api: ApiClient, pds: FakeBluesky, unknown_outcome: dict[str, Any], clock: Any
) -> None:
    pds.rate_limit_next(6)

    publish_rounds(clock)

    assert read(api, unknown_outcome)["targets"][0]["status"] == "unconfirmed"
    api.post(f"/posts/{unknown_outcome['id']}/retry", {"include_unconfirmed": True})
    publish_rounds(clock)
    assert_published_once(api, pds, unknown_outcome, attempts=8)
