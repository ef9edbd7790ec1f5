"""`manage.py after_restore`: a restored database does not publish posts that may have been published since its dump."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.models import ConnectedAccount
from accounts.platforms.errors import Transient
from accounts.platforms.types import Content, Progress, Published
from billing import selectors as billing
from billing.models import MonthCounter
from posts.publishing.attempts import LEASE
from tests.conftest import ApiClient
from tests.console.operators import operator_audit_entries
from tests.posts.publishing.steps import await_platform, begin, take_first_step, take_up
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import NOON, TOMORROW, create, kinds_of, publish_rounds, read
from tests.posts.scripted_platform import ScriptedPlatform, publish_content

RESTORED = NOON + timedelta(hours=6)
SOON, LATE = "2027-03-10T13:00:00Z", "2027-03-10T17:00:00Z"
LINK = "https://t.me/example/1"


@pytest.fixture(autouse=True)
def _books_balance(db: None) -> Any:
    yield
    assert billing.find_wrong_month_counters() == []


def after_restore(*words: str) -> str:
    """The command's output, with white space collapsed."""
    output = StringIO()
    call_command("after_restore", *words, stdout=output, stderr=StringIO())
    return " ".join(output.getvalue().split())


def test_targets_due_since_the_dump_become_unconfirmed(
    api: ApiClient, telegram_account: ConnectedAccount, scripted: type[ScriptedPlatform], clock: Any
) -> None:
    at_once, soon = create(api, telegram_account), create(api, telegram_account, scheduled_at=SOON)
    clock.move_to(RESTORED)

    assert after_restore("--apply").endswith("2 targets are now unconfirmed. You can start the workers.")
    publish_rounds(clock)

    assert scripted.sent == []
    for group in (at_once, soon):
        [target] = read(api, group)["targets"]
        assert (target["status"], target["error"]["code"]) == ("unconfirmed", "PUBLISH_OUTCOME_UNKNOWN")
        assert "restored from a backup" in target["error"]["message"]
        assert target["error"]["trace_id"] == group["trace_id"]
        assert kinds_of(group)[-1] == "post.unconfirmed"
    assert MonthCounter.objects.get().held_cents == 2
    assert operator_audit_entries("ops.after_restore") == [("", "", False, None)]
    resolution = {"target_id": read(api, soon)["targets"][0]["id"], "permalink": LINK}
    assert api.post(f"/posts/{soon['id']}/resolve", resolution).json()["post_group"]["status"] == "published"
    api.post(f"/posts/{at_once['id']}/retry", {"include_unconfirmed": True})
    publish_rounds(clock)
    assert (read(api, at_once)["status"], len(scripted.sent)) == ("published", 1)


def test_without_apply_the_command_only_reports(
    api: ApiClient, telegram_account: ConnectedAccount, account: ConnectedAccount, clock: Any
) -> None:
    groups = [
        create(api, telegram_account, scheduled_at=SOON),
        create(api, telegram_account, scheduled_at=TOMORROW),
        create(api, telegram_account, draft=True),
        create(api, account, scheduled_at=SOON),  # of a sandbox: nothing real goes out there
    ]
    clock.move_to(RESTORED)
    before = [read(api, group) for group in groups]

    output = after_restore()

    assert "The database is from 2027-03-10 12:00:00 UTC" in output
    assert "until 2027-03-10 18:00:00 UTC: 1 telegram As of the dump" in output
    assert "1 targets are due later" in output
    assert "1 groups are drafts" in output
    assert output.endswith("are not sent again.")
    assert [read(api, group) for group in groups] == before


def test_other_posts_are_published_normally(
    api: ApiClient,
    telegram_account: ConnectedAccount,
    account: ConnectedAccount,
    scripted: type[ScriptedPlatform],
    clock: Any,
) -> None:
    """Posts that came due while nothing ran, later posts, and sandbox posts."""
    soon = create(api, telegram_account, scheduled_at=SOON)
    rest = [
        create(api, telegram_account, scheduled_at=LATE),
        create(api, telegram_account, scheduled_at=TOMORROW),
        create(api, account, scheduled_at=SOON),
    ]
    clock.move_to(RESTORED)

    after_restore("--apply", "--stopped-at", "2027-03-10T17:30:00+01:00")
    publish_rounds(clock)

    assert read(api, soon)["status"] == "unconfirmed"
    assert [read(api, group)["status"] for group in rest] == ["published"] * 3
    assert len(scripted.sent) == 2


def failed_once(scripted: type[ScriptedPlatform]) -> None:
    def refuse(content: Content) -> Any:
        raise Transient("The server is down.")

    scripted.send = staticmethod(refuse)
    run_until_idle()
    scripted.send = staticmethod(publish_content)


def prepared(scripted: type[ScriptedPlatform]) -> None:
    worker = take_up()
    take_first_step(worker)
    await_platform(worker, worker.stored_progress.with_next_step("send", worker.progress, ready_at=NOON))


def begun(scripted: type[ScriptedPlatform]) -> None:
    worker = take_up()
    take_first_step(worker)
    begin(worker)


@pytest.mark.parametrize("prepare", [failed_once, prepared, begun], ids=["retrying", "processing", "publishing"])
def test_posts_in_progress_in_the_dump_become_unconfirmed(
    api: ApiClient,
    telegram_account: ConnectedAccount,
    scripted: type[ScriptedPlatform],
    clock: Any,
    prepare: Callable[[type[ScriptedPlatform]], None],
) -> None:
    group = create(api, telegram_account)
    prepare(scripted)
    sent = len(scripted.sent)
    clock.move_to(RESTORED)

    after_restore("--apply")
    publish_rounds(clock)

    assert (read(api, group)["status"], len(scripted.sent)) == ("unconfirmed", sent)


def test_published_posts_stay_published(
    api: ApiClient, telegram_account: ConnectedAccount, scripted: type[ScriptedPlatform], clock: Any
) -> None:
    group = create(api, telegram_account)
    worker = take_up()
    begin(worker)
    await_platform(worker, Progress("send", ready_at=NOON, published=Published("1", LINK)))
    clock.move_to(RESTORED)

    after_restore("--apply")

    [target] = read(api, group)["targets"]
    assert (target["status"], target["permalink"]) == ("published", LINK)
    assert target["error"]["code"] == "PUBLISHED_INCOMPLETE"


def test_the_command_fails_while_a_worker_is_running(
    api: ApiClient, telegram_account: ConnectedAccount, scripted: type[ScriptedPlatform], clock: Any
) -> None:
    group = create(api, telegram_account)
    clock.move_to(RESTORED)
    take_up()

    with pytest.raises(CommandError, match="A worker has claimed 1 of them"):
        after_restore("--apply")
    assert read(api, group)["status"] == "publishing"

    clock.shift(LEASE)
    after_restore("--apply")
    assert read(api, group)["status"] == "unconfirmed"


@pytest.mark.parametrize(
    ("at", "says"),
    [
        ("yesterday", "is not a valid time"),
        ("2027-03-10T13:00:00", "needs a UTC offset"),
        ("2027-03-10T19:00:00Z", "is in the future"),
        ("2027-03-10T11:59:00Z", "after --stopped-at"),
    ],
)
def test_an_invalid_stopped_at_is_refused(
    api: ApiClient, telegram_account: ConnectedAccount, clock: Any, at: str, says: str
) -> None:
    group = create(api, telegram_account, scheduled_at=SOON)
    clock.move_to(RESTORED)

    with pytest.raises(CommandError, match=says):
        after_restore("--apply", "--stopped-at", at)
    assert read(api, group)["status"] == "scheduled"
