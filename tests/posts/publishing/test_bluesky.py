"""A Bluesky post whose outcome was unknown is published once, and is not reported as failed while it may be published."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from billing import selectors as billing
from billing.models import MonthCounter
from posts.models import PostTarget
from posts.publishing.worker_loop import publish_due
from tests.conftest import ApiClient
from tests.fakes.bluesky import FakeBluesky
from tests.posts.rows import create, kinds_of, publish_rounds, read
from workspaces.models import Workspace

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


def test_the_next_attempt_settles_an_unknown_outcome(
    api: ApiClient, pds: FakeBluesky, unknown_outcome: dict[str, Any], clock: Any
) -> None:
    publish_rounds(clock)

    assert_published_once(api, pds, unknown_outcome, attempts=2)


def test_a_rejected_repetition_proves_that_nothing_was_published(
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


def test_a_post_that_may_be_published_has_not_failed_when_the_account_is_refused(
    api: ApiClient, pds: FakeBluesky, unknown_outcome: dict[str, Any], clock: Any
) -> None:
    pds.expire_access_tokens()
    pds.expire_refresh_tokens()
    account = ConnectedAccount.objects.get()
    seal = ConnectedAccount._meta.get_field("credentials").seal
    right = account.grant().credentials
    ConnectedAccount.objects.update(credentials=seal(account.id, {**right, "app_password": "withdrawn"}))

    publish_rounds(clock)

    target = read(api, unknown_outcome)["targets"][0]
    assert (target["status"], target["error"]["code"]) == ("unconfirmed", "PUBLISH_OUTCOME_UNKNOWN")
    assert ConnectedAccount.objects.get().status == "needs_reauth"
    assert MonthCounter.objects.get().held_cents == 1

    ConnectedAccount.objects.update(credentials=seal(account.id, dict(right)), status="active")
    api.post(f"/posts/{unknown_outcome['id']}/retry", {"include_unconfirmed": True})
    publish_rounds(clock)
    assert_published_once(api, pds, unknown_outcome, attempts=3)


def test_a_post_that_may_be_published_has_not_failed_after_its_last_attempt(
    api: ApiClient, pds: FakeBluesky, unknown_outcome: dict[str, Any], clock: Any
) -> None:
    pds.rate_limit_next(6)

    publish_rounds(clock)

    assert read(api, unknown_outcome)["targets"][0]["status"] == "unconfirmed"
    api.post(f"/posts/{unknown_outcome['id']}/retry", {"include_unconfirmed": True})
    publish_rounds(clock)
    assert_published_once(api, pds, unknown_outcome, attempts=8)


def test_a_post_that_may_be_published_has_not_failed_after_a_refused_retry(
    api: ApiClient, pds: FakeBluesky, unknown_outcome: dict[str, Any], clock: Any
) -> None:
    pds.rate_limit_next(6)
    publish_rounds(clock)
    api.post(f"/posts/{unknown_outcome['id']}/retry", {"include_unconfirmed": True})
    ConnectedAccount.objects.update(status="needs_reauth")
    pds.expire_access_tokens()

    publish_rounds(clock)

    assert read(api, unknown_outcome)["targets"][0]["status"] == "unconfirmed"
    assert MonthCounter.objects.get().held_cents == 1


@pytest.mark.parametrize(
    ("model", "status", "code"),
    [(ConnectedAccount, "disconnected", "ACCOUNT_NEEDS_REAUTH"), (Workspace, "deleted", "WORKSPACE_DELETED")],
)
def test_a_post_that_was_certainly_not_published_fails_with_its_account_or_workspace(
    pds: FakeBluesky, group: dict[str, Any], clock: Any, model: Any, status: str, code: str
) -> None:
    pds.rate_limit_next(1)
    publish_due()
    model.objects.update(status=status)

    publish_rounds(clock)

    assert PostTarget.objects.filter(status="failed", error__code=code).exists()
    assert (pds.writes, MonthCounter.objects.get().held_cents) == (0, 0)
