"""A possibly published post keeps that state until its outcome is proven or a person resolves it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from accounts.platforms.errors import ContentRejected, OutcomeUnknown, PlatformError, TokenExpired, Transient
from accounts.platforms.types import Content, Published
from billing import selectors as billing
from billing.models import MonthCounter
from posts.models import PostTarget
from posts.publishing import outcomes
from posts.publishing.attempts import LEASE
from posts.publishing.decision_types import Finish
from posts.states import Certainty
from tests.accounts.platforms.contract.worlds import world_of
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.posts.publishing.steps import begin, do, finish, take_first_step, take_up
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import NOON, TOMORROW, create, kinds_of, publish_rounds, read
from tests.posts.scripted_platform import ScriptedPlatform, publish_content
from workspaces.models import Workspace


def raising(error: PlatformError) -> Any:
    def send(content: Content) -> Published:
        raise error

    return staticmethod(send)


@pytest.fixture(autouse=True)
def _books_balance(db: None) -> Any:
    yield
    assert billing.find_wrong_month_counters() == []


@pytest.fixture
def retried(
    api: ApiClient, telegram_account: ConnectedAccount, scripted: type[ScriptedPlatform], clock: Any
) -> dict[str, Any]:
    """An unconfirmed post with a retry scheduled for tomorrow."""
    scripted.send = raising(OutcomeUnknown("The server closed the connection."))
    group = create(api, telegram_account)
    run_until_idle()
    api.post(f"/posts/{group['id']}/retry", {"include_unconfirmed": True, "scheduled_at": TOMORROW})
    clock.move_to(TOMORROW)
    return group


@pytest.mark.parametrize("why", ["the account is closed", "its time is missed", "an outage", "a rejection"])
def test_a_failed_retry_of_an_unconfirmed_target_leaves_it_unconfirmed(
    api: ApiClient, scripted: type[ScriptedPlatform], retried: dict[str, Any], clock: Any, why: str
) -> None:
    if why == "the account is closed":
        ConnectedAccount.objects.update(status="needs_reauth")
    elif why == "its time is missed":
        clock.shift(timedelta(hours=25))
    elif why == "an outage":
        scripted.send = raising(Transient("The server is down."))
    else:
        scripted.send = raising(ContentRejected("Too rude."))
    publish_rounds(clock)

    [target] = read(api, retried)["targets"]
    assert (target["status"], target["error"]["code"]) == ("unconfirmed", "PUBLISH_OUTCOME_UNKNOWN")
    assert MonthCounter.objects.get().held_cents == 1
    assert_envelope(api.post(f"/posts/{retried['id']}/retry"), 409, "INVALID_STATE")


def test_a_person_resolves_a_possibly_published_post(
    api: ApiClient, scripted: type[ScriptedPlatform], retried: dict[str, Any], clock: Any
) -> None:
    ConnectedAccount.objects.update(status="needs_reauth")
    publish_rounds(clock)
    [target] = read(api, retried)["targets"]
    ConnectedAccount.objects.update(status="active")

    api.post(f"/posts/{retried['id']}/resolve", {"target_id": target["id"], "published": False})
    scripted.send = raising(ContentRejected("Too rude."))
    api.post(f"/posts/{retried['id']}/retry")
    publish_rounds(clock)

    assert read(api, retried)["targets"][0]["status"] == "failed"


def test_a_worker_of_the_previous_round_writes_nothing_after_a_retry(
    api: ApiClient, telegram_account: ConnectedAccount, scripted: type[ScriptedPlatform], clock: Any
) -> None:
    group = create(api, telegram_account)
    worker = take_up()
    take_first_step(worker)
    begin(worker)
    finish(worker, ContentRejected("Refused."))
    api.post(f"/posts/{group['id']}/retry")

    with pytest.raises(outcomes.ClaimLost):
        finish(worker, ContentRejected("Refused."))
    run_until_idle()
    assert (read(api, group)["status"], kinds_of(group)) == ("published", ["post.failed", "post.published"])


def test_a_possibly_published_post_of_a_disconnected_account_becomes_unconfirmed_at_once(
    api: ApiClient, workspace: Workspace, settings: Any, clock: Any
) -> None:
    with world_of("mastodon", settings) as world:
        account = world.connect(api, workspace.id)
        group = create(api, account)
        worker = take_up()
        take_first_step(worker)
        begin(worker)
        do(worker)
        clock.shift(LEASE)
        api.delete(f"/accounts/{account.id}")

        run_until_idle()

    [target] = read(api, group)["targets"]
    assert (target["status"], target["attempts"]) == ("unconfirmed", 1)


def test_an_error_while_renewing_tokens_sends_nothing_and_is_retried(
    api: ApiClient,
    telegram_account: ConnectedAccount,
    scripted: type[ScriptedPlatform],
    clock: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scripted.send = raising(TokenExpired("Stale."))
    monkeypatch.setattr(scripted, "refresh_grant", lambda self, grant: grant.tokens["nothing"], raising=False)
    group = create(api, telegram_account)
    run_until_idle()
    assert read(api, group)["targets"][0]["status"] == "retrying"

    scripted.send = staticmethod(publish_content)
    publish_rounds(clock)
    assert read(api, group)["status"] == "published"


def test_a_result_of_a_worker_that_lost_its_claim_resolves_the_target(
    api: ApiClient, telegram_account: ConnectedAccount, scripted: type[ScriptedPlatform], clock: Any
) -> None:
    group = create(api, telegram_account)
    worker = take_up()
    take_first_step(worker)
    begin(worker)
    published = do(worker)
    assert isinstance(published, Published)
    clock.shift(LEASE)
    run_until_idle()  # another worker, which does not know the outcome

    outcomes.mark_unconfirmed_as_published(worker, Finish(Certainty.CONFIRMED, published=published))

    [target] = read(api, group)["targets"]
    assert (target["status"], target["external_id"], target["error"]) == ("published", published.external_id, None)
    assert kinds_of(group) == ["post.unconfirmed", "post.published"]
    assert (MonthCounter.objects.get().held_cents, MonthCounter.objects.get().settled_cents) == (0, 1)


def test_one_platform_post_is_never_recorded_for_two_targets(
    api: ApiClient, telegram_account: ConnectedAccount, verifiable: type[ScriptedPlatform], clock: Any
) -> None:
    def found(content: Content) -> Published:
        return Published("the same", "https://t.me/example/1")

    groups = [create(api, telegram_account) for _ in range(2)]
    verifiable.send = raising(OutcomeUnknown("The server closed the connection."))
    run_until_idle()
    verifiable.search = staticmethod(found)

    publish_rounds(clock)

    assert sorted(read(api, group)["status"] for group in groups) == ["published", "unconfirmed"]


def test_a_target_of_a_removed_platform_is_postponed(
    api: ApiClient, telegram_account: ConnectedAccount, scripted: type[ScriptedPlatform], clock: Any
) -> None:
    create(api, telegram_account)
    PostTarget.objects.update(platform="gone")

    run_until_idle()

    target = PostTarget.objects.get()
    assert (target.status, target.lease_until, target.due_at) == ("pending", None, NOON + timedelta(minutes=5))
