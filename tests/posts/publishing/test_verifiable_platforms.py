"""Verifiable platforms: after an unknown outcome the post is searched for, and sent again only if it is absent."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from accounts.platforms.errors import OutcomeUnknown, PlatformError, ReauthRequired, Transient
from accounts.platforms.types import Content, Published
from billing import selectors as billing
from billing.models import MonthCounter
from config.api.caller import WorkspaceStatus
from posts.publishing.attempts import LEASE
from tests.conftest import ApiClient
from tests.posts.publishing.steps import begin, do, take_first_step, take_up
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import create, kinds_of, publish_rounds, read, the_target
from tests.posts.scripted_platform import ScriptedPlatform, publish_content
from workspaces.models import Workspace


@pytest.fixture
def group(
    api: ApiClient, telegram_account: ConnectedAccount, verifiable: type[ScriptedPlatform], clock: Any
) -> dict[str, Any]:
    """A post that is due."""
    return create(api, telegram_account)


@pytest.fixture(autouse=True)
def _books_balance(db: None) -> Any:
    yield
    assert billing.find_wrong_month_counters() == []


def _find_post(content: Content) -> Published:
    return publish_content(content)


def _no_answer(content: Content) -> Published:
    raise OutcomeUnknown("The server closed the connection.")


def _raises(error: PlatformError) -> Any:
    def fail(content: Content) -> Published:
        raise error

    return fail


def _die_while_sending(clock: Any) -> None:
    worker = take_up()
    take_first_step(worker)
    begin(worker)
    clock.shift(LEASE)


def test_a_post_that_a_dead_worker_sent_is_found(
    api: ApiClient, verifiable: type[ScriptedPlatform], group: dict[str, Any], clock: Any
) -> None:
    worker = take_up()
    take_first_step(worker)
    begin(worker)
    do(worker)
    clock.shift(LEASE)
    verifiable.search = staticmethod(_find_post)

    run_until_idle()

    [target] = read(api, group)["targets"]
    assert (target["status"], target["external_id"]) == ("published", f"message-{target['id']}")
    assert (len(verifiable.sent), len(verifiable.searches)) == (1, 1)
    assert kinds_of(group) == ["post.published"]


def test_an_absent_post_is_sent_again_once_no_earlier_attempt_can_arrive(
    api: ApiClient, verifiable: type[ScriptedPlatform], group: dict[str, Any], clock: Any
) -> None:
    _die_while_sending(clock)

    run_until_idle()
    [target] = read(api, group)["targets"]
    assert (target["status"], target["next_attempt_at"]) == ("retrying", "2027-03-10T12:01:00Z")
    assert verifiable.sent == []

    publish_rounds(clock)
    assert read(api, group)["targets"][0]["status"] == "published"
    assert (len(verifiable.sent), len(verifiable.searches)) == (1, 2)


@pytest.mark.parametrize(
    "error",
    [
        OutcomeUnknown("There are more posts since than can be read.", final=True),
        ReauthRequired("The token is revoked."),
        Transient("The server does not answer."),
    ],
    ids=["outcome unknown", "access refused", "no response"],
)
def test_a_failed_search_leaves_the_post_unconfirmed_and_held(
    api: ApiClient, verifiable: type[ScriptedPlatform], group: dict[str, Any], clock: Any, error: PlatformError
) -> None:
    _die_while_sending(clock)
    verifiable.search = staticmethod(_raises(error))

    publish_rounds(clock)

    [target] = read(api, group)["targets"]
    assert (target["status"], target["error"]["code"]) == ("unconfirmed", "PUBLISH_OUTCOME_UNKNOWN")
    assert (verifiable.sent, MonthCounter.objects.get().held_cents) == ([], 1)
    assert kinds_of(group) == ["post.unconfirmed"]


def test_an_absent_post_of_a_deleted_workspace_is_not_sent_again(
    api: ApiClient, verifiable: type[ScriptedPlatform], group: dict[str, Any], clock: Any, workspace: Workspace
) -> None:
    _die_while_sending(clock)
    Workspace.objects.update(status=WorkspaceStatus.DELETED)

    publish_rounds(clock)

    target = the_target(group)
    assert (target.status, (target.error or {})["code"], verifiable.sent) == ("failed", "WORKSPACE_DELETED", [])
    assert MonthCounter.objects.get().held_cents == 0


def test_a_retry_of_an_unconfirmed_post_searches_before_it_sends(
    api: ApiClient, verifiable: type[ScriptedPlatform], group: dict[str, Any], clock: Any
) -> None:
    _die_while_sending(clock)
    verifiable.search = staticmethod(_raises(OutcomeUnknown("The post cannot be found.", final=True)))
    run_until_idle()
    clock.shift(3600)
    verifiable.search = staticmethod(_find_post)

    api.post(f"/posts/{group['id']}/retry", {"include_unconfirmed": True})
    run_until_idle()

    assert (read(api, group)["status"], verifiable.sent) == ("published", [])


@pytest.fixture
def unknown(api: ApiClient, verifiable: type[ScriptedPlatform], group: dict[str, Any], clock: Any) -> dict[str, Any]:
    """A post after an attempt with unknown outcome, with a request to send it anyway."""
    _die_while_sending(clock)
    verifiable.search = staticmethod(_raises(OutcomeUnknown("The post cannot be found.", final=True)))
    publish_rounds(clock)
    assert (read(api, group)["status"], verifiable.sent) == ("unconfirmed", [])
    clock.shift(3600)
    answer = api.post(f"/posts/{group['id']}/retry", {"include_unconfirmed": True})
    assert answer.status_code == 200
    return group


def test_an_unverifiable_post_is_sent_again_if_a_person_asks(
    api: ApiClient, verifiable: type[ScriptedPlatform], unknown: dict[str, Any], clock: Any
) -> None:
    publish_rounds(clock)

    assert (read(api, unknown)["status"], len(verifiable.sent)) == ("published", 1)


def test_a_post_is_sent_once_for_each_retry_of_a_person(
    api: ApiClient, verifiable: type[ScriptedPlatform], unknown: dict[str, Any], clock: Any
) -> None:
    verifiable.send = staticmethod(_no_answer)

    publish_rounds(clock)

    [target] = read(api, unknown)["targets"]
    assert (target["status"], target["error"]["code"]) == ("unconfirmed", "PUBLISH_OUTCOME_UNKNOWN")
    assert len(verifiable.sent) == 1
