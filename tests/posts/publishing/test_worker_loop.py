"""The publishing worker loop, with real threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from django.db import OperationalError, connection

from accounts.models import ConnectedAccount
from accounts.platforms.types import Content, Published
from posts.models import PostTarget
from posts.publishing.worker_loop import MAX_SLOW_PER_PLATFORM, SHARES, PublishLoop
from tests.conftest import ApiClient
from tests.factories import AccountFactory
from tests.posts.rows import create, read
from tests.posts.scripted_platform import ScriptedPlatform, publish_content
from tests.until import wait_until
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _close_connections_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Close connections of the pool's threads, which would prevent the test database from being dropped."""
    monkeypatch.setitem(connection.settings_dict, "CONN_MAX_AGE", 0)


@pytest.fixture
def loop() -> Iterator[PublishLoop]:
    made = PublishLoop()
    yield made
    if not made.stopping:
        made.stop_and_wait(10)


@pytest.fixture
def gate(scripted: type[ScriptedPlatform], monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """The scripted platform answers only when this event is set."""
    opened = threading.Event()

    def wait_and_publish(content: Content) -> Published:
        opened.wait(30)
        return publish_content(content)

    monkeypatch.setattr(scripted, "send", staticmethod(wait_and_publish))
    yield opened
    opened.set()


def published(platform: str) -> int:
    return PostTarget.objects.filter(platform=platform, status="published").count()


def test_a_new_post_is_published_at_once_by_the_loop(api: ApiClient, account: ConnectedAccount, loop: PublishLoop) -> None:
    loop.start()

    group = create(api, account, wait=True)

    assert group["status"] == "published"


def test_a_hanging_platform_uses_only_its_share_of_threads(
    api: ApiClient,
    workspace: Workspace,
    account: ConnectedAccount,
    scripted: type[ScriptedPlatform],
    gate: threading.Event,
    loop: PublishLoop,
) -> None:
    create(api, *AccountFactory.create_batch(20, workspace=workspace, platform="telegram", sandbox=False))
    loop.start()
    wait_until(lambda: len(scripted.sent) == MAX_SLOW_PER_PLATFORM)

    others = [create(api, account, text=str(number)) for number in range(20)]
    wait_until(lambda: published("bluesky") == len(others))

    assert (len(scripted.sent), published("telegram")) == (MAX_SLOW_PER_PLATFORM, 0)
    gate.set()
    wait_until(lambda: published("telegram") == 20)
    assert len(scripted.sent) == 20


def test_a_database_error_in_a_claim_does_not_leak_the_accounts_places(
    api: ApiClient, telegram_account: ConnectedAccount, scripted: type[ScriptedPlatform], monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*args: object) -> None:
        raise OperationalError("away")

    for number in range(SHARES.slow + 2):
        create(api, telegram_account, text=str(number))
    monkeypatch.setattr("posts.publishing.worker_loop.release_claims", away)
    loop = PublishLoop()
    with pytest.raises(OperationalError):
        loop.run_once()

    assert loop._shares.running_job_count == 0


def test_stopped_targets_are_written_by_the_threads_and_free_their_places(
    api: ApiClient, telegram_account: ConnectedAccount, scripted: type[ScriptedPlatform], loop: PublishLoop
) -> None:
    for number in range(SHARES.slow + 2):
        create(api, telegram_account, text=str(number))
    ConnectedAccount.objects.update(status="needs_reauth")
    loop.start()
    wait_until(lambda: PostTarget.objects.filter(status="failed").count() == SHARES.slow + 2)

    wait_until(lambda: loop._shares.running_job_count == 0)
    assert scripted.sent == []


def test_stopping_completes_attempts_that_have_begun(
    api: ApiClient,
    telegram_account: ConnectedAccount,
    scripted: type[ScriptedPlatform],
    gate: threading.Event,
    loop: PublishLoop,
) -> None:
    group = create(api, telegram_account)
    loop.start()
    wait_until(lambda: len(scripted.sent) == 1)
    stopping = threading.Thread(target=loop.stop_and_wait, args=[20])
    stopping.start()
    gate.set()
    stopping.join()

    assert read(api, group)["status"] == "published"


def test_targets_beyond_an_accounts_share_are_released(
    api: ApiClient,
    telegram_account: ConnectedAccount,
    scripted: type[ScriptedPlatform],
    gate: threading.Event,
    loop: PublishLoop,
) -> None:
    for number in range(SHARES.slow + 2):
        create(api, telegram_account, text=str(number))
    loop.start()
    wait_until(lambda: len(scripted.sent) == SHARES.slow)

    pending = PostTarget.objects.filter(status="pending")
    wait_until(lambda: set(pending.values_list("attempts", "lease_until")) == {(0, None)})
    assert pending.count() == 2
    gate.set()
    wait_until(lambda: published("telegram") == SHARES.slow + 2)


def test_many_quick_accounts_of_a_hanging_platform_leave_half_of_the_threads(
    api: ApiClient,
    workspace: Workspace,
    account: ConnectedAccount,
    scripted: type[ScriptedPlatform],
    gate: threading.Event,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("posts.publishing.worker_loop.THREADS", 8)
    loop = PublishLoop()
    quick = AccountFactory.create_batch(6, workspace=workspace, platform="telegram", sandbox=False)
    gate.set()
    create(api, *quick)
    loop.start()
    wait_until(lambda: published("telegram") == 6)
    gate.clear()

    for number in range(3):
        create(api, *quick, text=str(number))
    wait_until(lambda: len(scripted.sent) == 6 + 4)
    others = [create(api, account, text=str(number)) for number in range(20)]
    wait_until(lambda: published("bluesky") == len(others))

    assert (len(scripted.sent), published("telegram")) == (6 + 4, 6)
    gate.set()
    wait_until(lambda: published("telegram") == 6 + 18)
    loop.stop_and_wait(10)
    assert len(scripted.sent) == 6 + 18


def test_a_thread_that_waits_for_a_platform_holds_no_connection(
    api: ApiClient,
    telegram_account: ConnectedAccount,
    scripted: type[ScriptedPlatform],
    monkeypatch: pytest.MonkeyPatch,
    loop: PublishLoop,
) -> None:
    held = []

    def check_and_publish(content: Content) -> Published:
        held.append(connection.connection)
        return publish_content(content)

    monkeypatch.setattr(scripted, "send", staticmethod(check_and_publish))
    create(api, telegram_account)
    loop.start()
    wait_until(lambda: published("telegram") == 1)

    assert held == [None]


def test_the_claim_of_a_long_step_is_renewed_while_the_worker_lives(
    api: ApiClient,
    telegram_account: ConnectedAccount,
    scripted: type[ScriptedPlatform],
    gate: threading.Event,
    monkeypatch: pytest.MonkeyPatch,
    loop: PublishLoop,
) -> None:
    monkeypatch.setattr("posts.publishing.worker_loop.RENEW_SECONDS", 0.01)
    group = create(api, telegram_account)
    loop.start()
    wait_until(lambda: len(scripted.sent) == 1)
    seen = set()

    def has_moved_on_twice() -> bool:
        seen.add(PostTarget.objects.get().lease_until)
        return len(seen) > 2

    wait_until(has_moved_on_twice)
    gate.set()
    wait_until(lambda: published("telegram") == 1)
    loop.wake()
    loop.stop_and_wait(10)

    assert PostTarget.objects.get().lease_until is None
    assert (read(api, group)["status"], len(scripted.sent)) == ("published", 1)


def test_two_workers_publish_each_target_once(api: ApiClient, workspace: Workspace, scripted: type[ScriptedPlatform]) -> None:
    workers = [PublishLoop(), PublishLoop()]
    for _ in range(5):
        create(api, *AccountFactory.create_batch(10, workspace=workspace, platform="telegram", sandbox=False))
    for worker in workers:
        worker.start()
    wait_until(lambda: published("telegram") == 50)
    for worker in workers:
        worker.stop_and_wait(10)

    assert len(scripted.sent) == 50
    assert len({content.key for content in scripted.sent}) == 50
    assert set(PostTarget.objects.values_list("attempts", flat=True)) == {1}
