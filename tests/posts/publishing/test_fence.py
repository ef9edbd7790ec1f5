"""A worker that lost its claim cannot write its outcome."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import ConnectedAccount
from accounts.platforms.types import Progress, Published
from billing.models import LedgerEntry
from posts.models import PostTarget
from posts.publishing import outcomes
from posts.publishing.attempts import LEASE
from posts.publishing.decision import finish_unconfirmed
from posts.publishing.decision_types import (
    Postpone,
    Retry,
    TargetProblem,
    TargetState,
    Wait,
)
from posts.states import Certainty
from tests.conftest import ApiClient
from tests.posts.publishing.steps import await_platform, begin, finish, record, take_first_step, take_up
from tests.posts.publishing.worker import publish_claimed, run_until_idle
from tests.posts.rows import create, kinds_of, read
from tests.posts.scripted_platform import ScriptedPlatform

REFUSED = TargetProblem("PLATFORM_REJECTED", "Stale.", "Nothing.")
WRITES: list[Callable[[PostTarget], Any]] = [
    lambda target: finish(target, Published("stale", "https://t.me/stale")),
    lambda target: finish(target, REFUSED),
    lambda target: record(target, finish_unconfirmed(TargetState("at_most_once", publishes=True), "Stale.")),
    lambda target: record(target, Retry(REFUSED, 0, Certainty.NOT_SENT, unanswered=False)),
    lambda target: record(target, Wait(timezone.now(), Certainty.NOT_SENT)),
    lambda target: await_platform(target, Progress("send")),
    lambda target: record(target, Postpone(timezone.now() + timedelta(seconds=30))),
    begin,
]
NAMES = ["published", "failed", "unconfirmed", "retry", "uncounted", "processing", "postpone", "begin"]


def written(group: dict[str, Any]) -> tuple[Any, ...]:
    return PostTarget.objects.values().get(), kinds_of(group), list(LedgerEntry.objects.values_list("kind", flat=True))


@pytest.fixture
def group(api: ApiClient, telegram_account: ConnectedAccount, clock: Any) -> dict[str, Any]:
    """A post that is due."""
    return create(api, telegram_account)


@pytest.mark.parametrize("write", WRITES, ids=NAMES)
def test_a_stale_worker_writes_nothing_while_another_is_publishing(
    group: dict[str, Any], clock: Any, write: Callable[[PostTarget], Any]
) -> None:
    stale = take_up()
    begin(stale)
    clock.shift(LEASE)
    take_first_step(take_up())
    before = written(group)

    with pytest.raises(outcomes.ClaimLost):
        write(stale)

    assert written(group) == before


@pytest.mark.parametrize("write", WRITES[:1] + WRITES[3:4], ids=NAMES[:1] + NAMES[3:4])
def test_a_step_that_was_not_begun_has_no_outcome(group: dict[str, Any], write: Callable[[PostTarget], Any]) -> None:
    worker = take_up()
    before = written(group)

    with pytest.raises(outcomes.ClaimLost):
        write(worker)

    assert written(group) == before


def test_a_stale_claim_publishes_nothing(
    api: ApiClient, group: dict[str, Any], scripted: type[ScriptedPlatform], clock: Any
) -> None:
    stale = take_up()
    clock.shift(LEASE)
    run_until_idle()
    assert len(scripted.sent) == 1

    publish_claimed(stale)

    assert len(scripted.sent) == 1
    assert read(api, group)["targets"][0]["attempts"] == 1
