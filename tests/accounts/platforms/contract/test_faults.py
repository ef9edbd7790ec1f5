"""Errors while publishing are reported by their meaning and never publish a post twice."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.conf import settings as project

from accounts.models import ConnectedAccount
from billing import selectors as billing
from posts.models import PostTarget
from tests.accounts.platforms.contract.content import ended, post
from tests.accounts.platforms.contract.world import World
from tests.conftest import ApiClient
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import publish_rounds

ATTEMPTS = len(project.PUBLISH_RETRY_SCHEDULE) + 1
PUBLISHED = ("published", None)
UNKNOWN = ("unconfirmed", "PUBLISH_OUTCOME_UNKNOWN")


@pytest.fixture(autouse=True)
def _books_balance(db: None) -> Any:
    yield
    assert billing.find_wrong_month_counters() == []


def meet_the_fault(world: World, clock: Any) -> None:
    """Publish on, through what has to be prepared, until the fault that waits has befallen."""
    for _ in range(20):
        due_at = PostTarget.objects.get(due_at__isnull=False).due_at
        assert due_at is not None
        clock.move_to(max(due_at, datetime.now(UTC)))
        run_until_idle()
        if not world.server.faults_ahead(world.create):
            return
    raise AssertionError("The fault was never met.")


def test_haste_is_answered_by_waiting_as_long_as_the_platform_says(
    api: ApiClient, world: World, account: ConnectedAccount, clock: Any
) -> None:
    target = post(api, world, account)
    world.server.refuse_next(world.create, world.limit(world.pause))

    meet_the_fault(world, clock)

    assert ended(target) == ("retrying", "PLATFORM_RATE_LIMITED")
    assert target.due_at
    assert target.due_at - datetime.now(UTC) >= timedelta(seconds=world.pause - 1)
    publish_rounds(clock)
    assert (ended(target), len(world.posts())) == (PUBLISHED, 1)


def test_a_permanent_refusal_fails_the_post_at_once(
    api: ApiClient, world: World, account: ConnectedAccount, clock: Any
) -> None:
    """First the content of a post, then the account."""
    target = post(api, world, account)
    world.server.refuse_next(world.create, world.rejection(), times=ATTEMPTS)
    publish_rounds(clock)
    assert (ended(target), world.posts()) == (("failed", "PLATFORM_REJECTED"), [])
    assert world.server.faults_ahead(world.create) == ATTEMPTS - 1
    world.server.forget_faults()

    world.withdraw()
    target = post(api, world, account)
    publish_rounds(clock)

    account.refresh_from_db()
    assert (ended(target), account.status) == (("failed", "ACCOUNT_NEEDS_REAUTH"), "needs_reauth")
    assert world.posts() == []
    assert api.get(f"/accounts/{account.id}/status").json()["account"]["status"] == "needs_reauth"


def test_an_unknown_error_is_logged_for_the_operator_without_its_text(
    api: ApiClient, world: World, account: ConnectedAccount, clock: Any, caplog: pytest.LogCaptureFixture
) -> None:
    target = post(api, world, account)
    world.server.refuse_next(world.create, world.odd(), times=ATTEMPTS)

    publish_rounds(clock)

    assert (ended(target)[0], world.posts()) == ("failed", [])
    logged = [record.getMessage() for record in caplog.records if record.name == "accounts.platforms"]
    assert logged
    assert all(line.startswith(f"{world.name} gave an answer that this service does not know: ") for line in logged)
    assert not [line for line in logged if "Hello" in line]


@pytest.mark.parametrize("taken", [True, False], ids=["after it was taken", "before it was taken"])
def test_a_post_whose_answer_is_lost(
    api: ApiClient, world: World, account: ConnectedAccount, clock: Any, taken: bool
) -> None:
    for number, fault in enumerate(("drop", 503)):
        before = len(world.posts())
        target = post(api, world, account, f"Post {number}")
        if fault == "drop":
            world.server.drop_next(world.create, after_accept=taken)
        else:
            world.server.fail_next(world.create, after_accept=taken)

        publish_rounds(clock)

        settled = world.finds if taken else world.proves_absence
        assert (fault, *ended(target)) == (fault, *(PUBLISHED if settled else UNKNOWN))
        assert len(world.posts()) - before == int(taken or settled)


def test_a_post_whose_answer_is_lost_is_never_doubled_where_no_list_holds_it(
    api: ApiClient, world: World, account: ConnectedAccount, clock: Any
) -> None:
    world.stop_listing()
    for number, fault in enumerate(("drop", 503)):
        target = post(api, world, account, f"Post {number}")
        if fault == "drop":
            world.server.drop_next(world.create)
        else:
            world.server.fail_next(world.create, after_accept=True)

        publish_rounds(clock)

        assert len(world.posts()) == number + 1
        assert ended(target) == UNKNOWN or ended(target)[0] == "published"


def test_a_server_that_goes_on_failing_before_it_takes_anything_never_doubles(
    api: ApiClient, world: World, account: ConnectedAccount, clock: Any
) -> None:
    target = post(api, world, account)
    for _ in range(ATTEMPTS):
        world.server.drop_next(world.create, after_accept=False)

    publish_rounds(clock)

    assert (ended(target), world.posts()) == (UNKNOWN, [])
