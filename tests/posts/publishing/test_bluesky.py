"""Publishing to Bluesky end to end: the post is published exactly once, whatever fails."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from billing import selectors as billing
from billing.models import MonthCounter
from posts.models import PostTarget
from posts.publishing.engine import LEASE
from posts.publishing.worker_loop import publish_due
from tests.conftest import ApiClient
from tests.fakes.bluesky import FakeBluesky
from tests.posts.publishing.steps import begin, do, take_first_step, take_up
from tests.posts.rows import create, kinds_of, publish_rounds, read
from workspaces.models import Workspace

PUT, GET = "com.atproto.repo.putRecord", "com.atproto.repo.getRecord"


@pytest.fixture
def group(api: ApiClient, bluesky_account: ConnectedAccount, clock: Any) -> dict[str, Any]:
    """A post that is due."""
    return create(api, bluesky_account, text="Hello, world")


@pytest.fixture
def open_outcome(pds: FakeBluesky, group: dict[str, Any]) -> dict[str, Any]:
    """A post whose first attempt had an unknown outcome."""
    pds.drop_next(PUT, after_accept=True)
    pds.fail_next(GET)
    publish_due()
    assert (
        PostTarget.objects.filter(status="retrying", error__code="PUBLISH_OUTCOME_UNKNOWN").count() == pds.writes == 1
    )
    return group


@pytest.fixture(autouse=True)
def _books_balance(db: None) -> Any:
    yield
    assert billing.drift() == []


def assert_published_once(api: ApiClient, pds: FakeBluesky, group: dict[str, Any], *, attempts: int = 1) -> None:
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


def test_a_post_is_published(api: ApiClient, pds: FakeBluesky, group: dict[str, Any]) -> None:
    assert publish_due() == 1

    assert_published_once(api, pds, group)
    assert kinds_of(group) == ["post.published"]


def test_an_expired_session_is_renewed_within_the_attempt(
    api: ApiClient, pds: FakeBluesky, group: dict[str, Any]
) -> None:
    before = ConnectedAccount.objects.get().grant().tokens["access"]
    pds.expire_access_tokens()

    publish_due()

    assert_published_once(api, pds, group)
    assert pds.refreshes == 1
    assert ConnectedAccount.objects.get().grant().tokens["access"] != before
    create(api, ConnectedAccount.objects.get(), text="The next one")
    publish_due()
    assert (pds.refreshes, pds.writes) == (1, 2)


def test_an_account_that_is_refused_is_marked_and_its_next_posts_are_not_taken(
    api: ApiClient, pds: FakeBluesky, group: dict[str, Any], bluesky_account: ConnectedAccount
) -> None:
    pds.take_down(bluesky_account.external_id)
    waiting = create(api, bluesky_account, scheduled_at="2027-03-10T12:30:00Z")

    publish_due()

    target = read(api, group)["targets"][0]
    assert (target["status"], target["error"]["code"]) == ("failed", "ACCOUNT_NEEDS_REAUTH")
    assert ConnectedAccount.objects.get().status == "needs_reauth"
    assert read(api, waiting)["status"] == "scheduled"
    body = {"text": "", "targets": [{"platform": "bluesky", "connected_account_id": bluesky_account.id}]}
    assert api.post("/posts/validate", body).json()["targets"][0]["issues"][0]["code"] == "ACCOUNT_NEEDS_REAUTH"


def test_a_rate_limit_is_waited_for(api: ApiClient, pds: FakeBluesky, group: dict[str, Any], clock: Any) -> None:
    pds.rate_limit_next(1, retry_after=90)

    publish_due()

    target = read(api, group)["targets"][0]
    assert (target["status"], target["error"]["code"]) == ("retrying", "PLATFORM_RATE_LIMITED")
    assert target["next_attempt_at"] == "2027-03-10T12:01:30Z"
    clock.shift(89)
    assert publish_due() == 0
    clock.shift(1)
    publish_due()
    assert_published_once(api, pds, group, attempts=2)


@pytest.mark.parametrize("fault", ["drop", 500, 502, 504])
def test_an_answer_that_is_lost_after_the_post_was_taken_does_not_double_it(
    api: ApiClient, pds: FakeBluesky, group: dict[str, Any], fault: Any
) -> None:
    if fault == "drop":
        pds.drop_next(PUT, after_accept=True)
    else:
        pds.fail_next(PUT, status=fault, after_accept=True)

    publish_due()

    assert_published_once(api, pds, group)


def test_an_open_outcome_is_settled_by_the_next_attempt(
    api: ApiClient, pds: FakeBluesky, open_outcome: dict[str, Any], clock: Any
) -> None:
    publish_rounds(clock)

    assert_published_once(api, pds, open_outcome, attempts=2)


def test_a_post_that_was_not_taken_is_sent_again(
    api: ApiClient, pds: FakeBluesky, group: dict[str, Any], clock: Any
) -> None:
    pds.drop_next(PUT, after_accept=False)
    pds.fail_next(PUT, status=503, after_accept=False)

    publish_rounds(clock)

    assert_published_once(api, pds, group, attempts=3)


def test_what_the_platform_rejects_fails(api: ApiClient, pds: FakeBluesky, group: dict[str, Any]) -> None:
    PostTarget.objects.update(text="a" * 301)  # as if the platform took less than we know

    publish_due()

    target = read(api, group)["targets"][0]
    assert (target["status"], target["error"]["code"]) == ("failed", "PLATFORM_REJECTED")
    assert "grapheme too big" in target["error"]["message"]
    assert (pds.writes, MonthCounter.objects.get().held_cents) == (0, 0)


def test_a_repetition_that_is_rejected_proves_that_nothing_is_out(
    api: ApiClient, pds: FakeBluesky, group: dict[str, Any], clock: Any
) -> None:
    pds.drop_next(PUT, after_accept=False)
    publish_due()
    frozen = PostTarget.objects.get().progress
    PostTarget.objects.update(progress={**frozen, "record": {**frozen["record"], "text": "a" * 301}})

    publish_rounds(clock)

    target = read(api, group)["targets"][0]
    assert (target["status"], target["error"]["code"]) == ("failed", "PLATFORM_REJECTED")
    assert (pds.writes, MonthCounter.objects.get().held_cents) == (0, 0)


@pytest.mark.parametrize("done", [True, False], ids=["after the platform took it", "before it was sent"])
def test_a_worker_that_dies_in_the_middle_of_putting_leaves_one_record(
    api: ApiClient, pds: FakeBluesky, group: dict[str, Any], clock: Any, done: bool
) -> None:
    worker = take_up()
    take_first_step(worker)
    begin(worker)
    if done:
        do(worker)
    assert publish_due() == 0  # the dead worker's claim still runs
    clock.shift(LEASE)

    assert publish_due() == 1

    assert_published_once(api, pds, group, attempts=2)


def test_a_possibly_published_post_does_not_fail_when_the_account_is_refused(
    api: ApiClient, pds: FakeBluesky, open_outcome: dict[str, Any], clock: Any
) -> None:
    pds.expire_access_tokens()
    pds.expire_refresh_tokens()
    account = ConnectedAccount.objects.get()
    seal = ConnectedAccount._meta.get_field("credentials").seal
    right = account.grant().credentials
    ConnectedAccount.objects.update(credentials=seal(account.id, {**right, "app_password": "withdrawn"}))

    publish_rounds(clock)

    target = read(api, open_outcome)["targets"][0]
    assert (target["status"], target["error"]["code"]) == ("unconfirmed", "PUBLISH_OUTCOME_UNKNOWN")
    assert ConnectedAccount.objects.get().status == "needs_reauth"
    assert MonthCounter.objects.get().held_cents == 1

    ConnectedAccount.objects.update(credentials=seal(account.id, dict(right)), status="active")
    api.post(f"/posts/{open_outcome['id']}/retry", {"include_unconfirmed": True})
    publish_rounds(clock)
    assert_published_once(api, pds, open_outcome, attempts=3)


def test_a_possibly_published_post_does_not_fail_when_attempts_are_exhausted(
    api: ApiClient, pds: FakeBluesky, open_outcome: dict[str, Any], clock: Any
) -> None:
    pds.rate_limit_next(6)

    publish_rounds(clock)

    assert read(api, open_outcome)["targets"][0]["status"] == "unconfirmed"
    api.post(f"/posts/{open_outcome['id']}/retry", {"include_unconfirmed": True})
    publish_rounds(clock)
    assert_published_once(api, pds, open_outcome, attempts=8)


def test_a_possibly_published_post_stays_unconfirmed_after_a_refused_retry(
    api: ApiClient, pds: FakeBluesky, open_outcome: dict[str, Any], clock: Any
) -> None:
    pds.rate_limit_next(6)
    publish_rounds(clock)
    api.post(f"/posts/{open_outcome['id']}/retry", {"include_unconfirmed": True})
    ConnectedAccount.objects.update(status="needs_reauth")
    pds.expire_access_tokens()

    publish_rounds(clock)

    assert read(api, open_outcome)["targets"][0]["status"] == "unconfirmed"
    assert MonthCounter.objects.get().held_cents == 1


@pytest.mark.parametrize(
    ("model", "status", "code"),
    [(ConnectedAccount, "disconnected", "ACCOUNT_NEEDS_REAUTH"), (Workspace, "deleted", "WORKSPACE_DELETED")],
)
def test_what_was_certainly_not_taken_is_stopped_with_its_account_and_workspace(
    pds: FakeBluesky, group: dict[str, Any], clock: Any, model: Any, status: str, code: str
) -> None:
    pds.rate_limit_next(1)
    publish_due()
    model.objects.update(status=status)

    publish_rounds(clock)

    assert PostTarget.objects.filter(status="failed", error__code=code).exists()
    assert (pds.writes, MonthCounter.objects.get().held_cents) == (0, 0)
