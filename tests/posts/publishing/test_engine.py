"""The engine on the simulator: all sandbox markers, the retry schedule, and unexpected errors."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.conf import settings as project

from accounts.models import ConnectedAccount
from accounts.platforms.base import Platform
from accounts.platforms.errors import RateLimited
from accounts.platforms.types import Content, Progress, Published
from tests.conftest import ApiClient
from tests.fakes.bluesky import FakeBluesky
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import NOON, create, publish_rounds, read, the_target
from tests.posts.scripted_platform import ScriptedPlatform, publish_content

SCHEDULE = project.PUBLISH_RETRY_SCHEDULE


def only_target(api: ApiClient, group: dict[str, Any]) -> dict[str, Any]:
    return dict(read(api, group)["targets"][0])


@pytest.mark.parametrize(
    ("text", "status", "attempts", "code"),
    [
        ("Hello", "published", 1, None),
        ("[sandbox:reject]", "failed", 1, "PLATFORM_REJECTED"),
        ("[sandbox:reauth]", "failed", 1, "ACCOUNT_NEEDS_REAUTH"),
        ("[sandbox:unknown]", "unconfirmed", 1, "PUBLISH_OUTCOME_UNKNOWN"),
        ("[sandbox:rate_limit]", "failed", 7, "PLATFORM_RATE_LIMITED"),
        ("[sandbox:outage]", "failed", 7, "PLATFORM_UNAVAILABLE"),
        ("[sandbox:flaky]", "published", 2, None),
        ("[sandbox:slow]", "published", 1, None),
    ],
)
def test_a_sandbox_marker_in_the_text_decides_the_outcome(
    api: ApiClient, account: ConnectedAccount, clock: Any, text: str, status: str, attempts: int, code: str | None
) -> None:
    group = create(api, account, text=text)

    publish_rounds(clock)

    ended = read(api, group)
    target = ended["targets"][0]
    assert (ended["status"], target["status"], target["attempts"]) == (status, status, attempts)
    assert ended["finished_at"] is not None
    assert target["next_attempt_at"] is None
    assert (target["published_at"] is not None) is (status == "published")
    if code is None:
        assert target["error"] is None
    else:
        assert target["error"]["code"] == code
        assert target["error"]["trace_id"] == group["trace_id"]
        assert set(target["error"]) == {"code", "message", "suggested_action", "auto_fixable", "trace_id"}
    assert ConnectedAccount.objects.get().status == "active"


def test_the_pauses_between_attempts_follow_the_schedule(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    group = create(api, account, text="[sandbox:outage]")

    for number, seconds in enumerate(SCHEDULE, start=1):
        run_until_idle()
        target = only_target(api, group)
        row = the_target(group)
        assert (target["status"], target["attempts"]) == ("retrying", number)
        assert target["error"]["code"] == "PLATFORM_UNAVAILABLE"
        assert read(api, group)["status"] == "publishing"
        assert row.due_at is not None
        pause = (row.due_at - datetime.now(row.due_at.tzinfo)).total_seconds()
        assert seconds * 0.8 <= pause <= seconds * 1.2
        clock.move_to(row.due_at - timedelta(milliseconds=1))
        assert run_until_idle() == 0
        clock.move_to(row.due_at)
    run_until_idle()

    assert only_target(api, group)["status"] == "failed"
    assert "retry the post" in only_target(api, group)["error"]["suggested_action"]


@pytest.mark.parametrize(("asked", "least", "most"), [(5000.0, 5000, 5000), (2.0, 8, 12), (None, 8, 12)])
def test_the_platforms_retry_after_is_used_if_it_is_longer(
    api: ApiClient,
    telegram_account: ConnectedAccount,
    scripted: type[ScriptedPlatform],
    monkeypatch: pytest.MonkeyPatch,
    clock: Any,
    asked: float | None,
    least: float,
    most: float,
) -> None:
    def limit(content: Content) -> Published:
        raise RateLimited("Too much.", retry_after=asked)

    monkeypatch.setattr(scripted, "send", staticmethod(limit))
    group = create(api, telegram_account)

    run_until_idle()

    due_at = the_target(group).due_at
    assert due_at is not None
    assert least <= (due_at - NOON).total_seconds() <= most


def test_polling_a_processing_target_counts_no_attempts(
    api: ApiClient,
    telegram_account: ConnectedAccount,
    scripted: type[ScriptedPlatform],
    monkeypatch: pytest.MonkeyPatch,
    clock: Any,
) -> None:
    def transcode(content: Content) -> Progress | Published:
        if len(scripted.sent) > 20:
            return publish_content(content)
        return Progress("send", {"id": 1}, ready_at=datetime.now(NOON.tzinfo) + timedelta(seconds=30))

    monkeypatch.setattr(scripted, "send", staticmethod(transcode))
    group = create(api, telegram_account)
    run_until_idle()
    target = only_target(api, group)
    assert (target["status"], target["next_attempt_at"]) == ("processing", "2027-03-10T12:00:30Z")
    assert read(api, group)["status"] == "publishing"

    assert publish_rounds(clock, rounds=30) == 20

    assert (only_target(api, group)["status"], only_target(api, group)["attempts"]) == ("published", 1)


def test_an_unexpected_adapter_error_leaves_the_outcome_unknown(
    api: ApiClient, telegram_account: ConnectedAccount, scripted: type[ScriptedPlatform], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scripted, "send", staticmethod(lambda content: content.no_such_field))
    group = create(api, telegram_account)

    run_until_idle()

    target = only_target(api, group)
    assert (target["status"], target["error"]["code"]) == ("unconfirmed", "PUBLISH_OUTCOME_UNKNOWN")
    assert "no_such_field" not in str(target)


def test_a_platform_that_cannot_be_published_to_fails_at_once(
    api: ApiClient, telegram_account: ConnectedAccount, scripted: type[ScriptedPlatform], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scripted, "publish_step", Platform.publish_step)
    group = create(api, telegram_account)

    run_until_idle()

    target = only_target(api, group)
    assert (target["status"], target["error"]["code"]) == ("failed", "PLATFORM_UNAVAILABLE")


def test_an_account_whose_credentials_cannot_be_decrypted_is_retried(
    api: ApiClient, bluesky_account: ConnectedAccount, pds: FakeBluesky, settings: Any, clock: Any
) -> None:
    keys = settings.ENCRYPTION_KEYS
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    group = create(api, bluesky_account)
    run_until_idle()
    target = only_target(api, group)
    assert (target["status"], target["attempts"]) == ("retrying", 1)
    assert target["error"]["code"] == "PLATFORM_UNAVAILABLE"

    publish_rounds(clock)
    target = only_target(api, group)
    assert (target["status"], target["attempts"], pds.writes) == ("failed", 7, 0)
    api.post(f"/posts/{group['id']}/retry")
    run_until_idle()
    settings.ENCRYPTION_KEYS = keys
    publish_rounds(clock)

    assert (only_target(api, group)["status"], pds.writes) == ("published", 1)
