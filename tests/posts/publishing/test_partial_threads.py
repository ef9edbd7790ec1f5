"""A thread that stops at an at-most-once platform reports its published segments, keeps its money, and continues on retry."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from accounts.platforms import registry
from accounts.platforms.errors import ContentRejected, OutcomeUnknown, PlatformError, ReauthRequired, Transient
from accounts.platforms.types import Content, Grant, Progress
from billing import selectors as billing
from billing.models import MonthCounter
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.posts.chain_platform import ChainPlatform, post_five
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, kinds_of, publish_rounds, read
from tests.posts.scripted_platform import ScriptedPlatform


@pytest.fixture
def chain(scripted: type[ScriptedPlatform], monkeypatch: pytest.MonkeyPatch) -> type[ChainPlatform]:
    monkeypatch.setitem(registry.PLATFORMS, "telegram", f"{ChainPlatform.__module__}.{ChainPlatform.__name__}")
    monkeypatch.setattr(ChainPlatform, "sent", [], raising=False)
    monkeypatch.setattr(ChainPlatform, "faults", {}, raising=False)
    return ChainPlatform


@pytest.fixture(autouse=True)
def _books_balance(db: None) -> Any:
    yield
    assert billing.find_wrong_month_counters() == []


def retry(api: ApiClient, group: dict[str, Any], **fields: Any) -> None:
    answer = api.post(f"/posts/{group['id']}/retry", {"include_unconfirmed": True, **fields})
    assert answer.status_code == 200, answer.content


def tried(chain: type[ChainPlatform]) -> list[str]:
    return [content.text for content in chain.sent]


UNKNOWN = OutcomeUnknown("No answer came.")


@pytest.mark.parametrize(
    ("place", "fault", "words", "status"),
    [
        (2, UNKNOWN, "Segment 1 was published; it is not known whether segment 2 was: No answer came.", "active"),
        (3, ContentRejected("Rude."), "Segments 1 and 2 were published; segment 3 was not: Rude.", "active"),
        (3, ReauthRequired("Gone."), "Segments 1 and 2 were published; segment 3 was not: Gone.", "needs_reauth"),
    ],
)
def test_a_stopped_thread_reports_its_published_segments_and_its_money_stays_held(
    api: ApiClient,
    chain: type[ChainPlatform],
    telegram_account: ConnectedAccount,
    clock: Any,
    place: int,
    fault: PlatformError,
    words: str,
    status: str,
) -> None:
    chain.faults[place] = fault
    group = post_five(api, telegram_account)

    publish_rounds(clock)

    [target] = read(api, group)["targets"]
    assert (target["status"], target["error"]["code"]) == ("unconfirmed", "PUBLISH_OUTCOME_UNKNOWN")
    assert target["error"]["message"] == words
    assert MonthCounter.objects.get().held_cents == 1
    assert kinds_of(group) == ["post.unconfirmed"]
    assert ConnectedAccount.objects.get(pk=telegram_account.pk).status == status
    assert_envelope(api.post(f"/posts/{group['id']}/retry"), 409, "INVALID_STATE")


def test_a_retry_continues_at_the_next_segment(
    api: ApiClient, chain: type[ChainPlatform], telegram_account: ConnectedAccount, clock: Any
) -> None:
    chain.faults[3] = UNKNOWN
    group = post_five(api, telegram_account)
    publish_rounds(clock)
    assert read(api, group)["targets"][0]["error"]["suggested_action"].endswith("which continues at segment 3.")
    chain.faults.clear()

    retry(api, group)
    publish_rounds(clock)

    assert read(api, group)["status"] == "published"
    assert tried(chain) == ["One", "Two", "Three", "Three", "Four", "Five"]


def test_a_disconnected_account_between_segments_is_reported_and_the_thread_waits(
    api: ApiClient, chain: type[ChainPlatform], telegram_account: ConnectedAccount, clock: Any
) -> None:
    chain.faults[3] = Transient("It is down.")
    group = post_five(api, telegram_account)
    run_until_idle()
    assert read(api, group)["targets"][0]["error"]["message"].startswith("Segments 1 and 2 were published; segment 3 was not")
    ConnectedAccount.objects.update(status="needs_reauth")

    publish_rounds(clock)

    [target] = read(api, group)["targets"]
    words = "Segments 1 and 2 were published; segment 3 was not: The account is needs_reauth."
    assert (target["status"], target["error"]["message"]) == ("unconfirmed", words)

    ConnectedAccount.objects.update(status="active")
    chain.faults.clear()
    retry(api, group)
    publish_rounds(clock)
    assert tried(chain) == ["One", "Two", "Three", "Three", "Four", "Five"]


def test_a_thread_resolved_as_not_published_starts_again(
    api: ApiClient, chain: type[ChainPlatform], telegram_account: ConnectedAccount, clock: Any
) -> None:
    chain.faults[2] = ContentRejected("Rude.")
    group = post_five(api, telegram_account, "One", "Two")
    publish_rounds(clock)
    [target] = read(api, group)["targets"]
    api.post(f"/posts/{group['id']}/resolve", {"target_id": target["id"], "published": False})
    chain.faults.clear()

    api.post(f"/posts/{group['id']}/retry")
    publish_rounds(clock)

    assert read(api, group)["status"] == "published"
    assert tried(chain) == ["One", "Two", "One", "Two"]


@pytest.mark.parametrize(
    ("stop", "words"),
    [
        (
            lambda api, group, clock: api.delete(f"/posts/{group['id']}"),
            "The retry was cancelled. The attempt before it may have been published.",
        ),
        (
            lambda api, group, clock: clock.shift(timedelta(hours=49)),
            "The post could not be published within 24 hours of its time. An earlier attempt may have been published.",
        ),
    ],
    ids=["cancelled", "missed"],
)
def test_a_cancelled_retry_still_reports_the_published_segments(
    api: ApiClient,
    chain: type[ChainPlatform],
    telegram_account: ConnectedAccount,
    clock: Any,
    stop: Callable[[ApiClient, dict[str, Any], Any], object],
    words: str,
) -> None:
    chain.faults[2] = UNKNOWN
    group = post_five(api, telegram_account)
    publish_rounds(clock)
    retry(api, group, scheduled_at=TOMORROW)

    stop(api, group, clock)
    run_until_idle()

    [target] = read(api, group)["targets"]
    message = f"Segment 1 was published; it is not known whether segment 2 was: {words}"
    assert (target["status"], target["error"]["message"]) == ("unconfirmed", message)
    assert tried(chain) == ["One", "Two"]


def test_a_thread_whose_account_is_disconnected_between_two_segments_continues_after_the_published_ones(
    api: ApiClient,
    chain: type[ChainPlatform],
    telegram_account: ConnectedAccount,
    clock: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The account is read again before a segment if the attempt has lasted longer than its lease."""
    monkeypatch.setattr("posts.publishing.engine.LEASE", timedelta(0))
    publish = ChainPlatform.publish_step

    def publish_and_disconnect(self: ChainPlatform, grant: Grant, content: Content, progress: Progress) -> Any:
        result = publish(self, grant, content, progress)
        if len(progress.segments) == 1:
            ConnectedAccount.objects.update(status="needs_reauth")
        return result

    monkeypatch.setattr(ChainPlatform, "publish_step", publish_and_disconnect)
    group = post_five(api, telegram_account)
    run_until_idle()
    [target] = read(api, group)["targets"]
    assert (target["status"], len(tried(chain))) == ("unconfirmed", 2)
    assert target["error"]["message"].startswith("Segments 1 and 2 were published; segment 3 was not: ")

    monkeypatch.setattr(ChainPlatform, "publish_step", publish)
    ConnectedAccount.objects.update(status="active")
    retry(api, group)
    publish_rounds(clock)

    assert read(api, group)["status"] == "published"
    assert len(tried(chain)) == len(set(tried(chain))) == 5
