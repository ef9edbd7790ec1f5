"""An agent's mode limits what it may do, and its allowlist which accounts it may post to."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from billing.models import LedgerEntry
from posts.models import PostGroup
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, body_for, create, kinds_of, read

PREVIEW, FORBIDDEN = "preview", "AGENT_MODE_FORBIDS"


@pytest.mark.parametrize(
    ("mode", "fields", "outcome"),
    [
        ("dry_run", {}, PREVIEW),
        ("dry_run", {"draft": True}, PREVIEW),
        ("dry_run", {"dry_run": True}, PREVIEW),
        ("dry_run", {"dry_run": False}, FORBIDDEN),
        ("dry_run", {"sandbox": True}, PREVIEW),
        ("draft", {"draft": True}, "draft"),
        ("draft", {}, FORBIDDEN),
        ("draft", {"scheduled_at": TOMORROW}, FORBIDDEN),
        ("draft", {"sandbox": True}, FORBIDDEN),
        ("draft", {"dry_run": True}, FORBIDDEN),
        ("draft", {"dry_run": True, "draft": True}, PREVIEW),
        ("requires_confirmation", {"draft": True}, "draft"),
        ("requires_confirmation", {}, "pending_confirmation"),
        ("requires_confirmation", {"scheduled_at": TOMORROW}, "pending_confirmation"),
        ("requires_confirmation", {"dry_run": True}, PREVIEW),
        ("allow_publish", {"draft": True}, "draft"),
        ("allow_publish", {}, "publishing"),
        ("allow_publish", {"scheduled_at": TOMORROW}, "scheduled"),
        ("allow_publish", {"dry_run": True}, PREVIEW),
    ],
)
def test_the_agents_mode_limits_what_it_may_do(
    agent_client: Any, account: ConnectedAccount, clock: Any, mode: str, fields: dict[str, Any], outcome: str
) -> None:
    answer = agent_client(default_mode=mode).post("/posts", body_for(account, **fields))

    if outcome == FORBIDDEN:
        assert_envelope(answer, 403, FORBIDDEN)
    elif outcome == PREVIEW:
        assert (answer.status_code, answer.json()["dry_run"]) == (201, True)
    else:
        assert (answer.status_code, answer.json()["post_group"]["status"]) == (201, outcome)
    assert PostGroup.objects.count() == (0 if outcome in (FORBIDDEN, PREVIEW) else 1)


def test_a_post_awaiting_confirmation_is_not_due_and_holds_no_money(
    agent_client: Any, api: ApiClient, telegram_account: ConnectedAccount, clock: Any
) -> None:
    group = create(agent_client(default_mode="requires_confirmation"), telegram_account, scheduled_at=TOMORROW)

    assert (group["scheduled_at"], group["targets"][0]["next_attempt_at"]) == (TOMORROW, None)
    assert kinds_of(group) == ["post.pending_confirmation"]
    assert not LedgerEntry.objects.exists()
    clock.move_to("2027-03-12T12:00:00Z")
    assert run_until_idle() == 0
    assert read(api, group)["status"] == "pending_confirmation"


def test_created_by_names_the_agent(agent_client: Any, account: ConnectedAccount) -> None:
    group = create(agent_client(), account)

    assert group["created_by"]["actor_type"] == "agent"
    assert group["created_by"]["actor_id"].startswith("agt_")


@pytest.mark.parametrize("fields", [{}, {"draft": True}, {"scheduled_at": TOMORROW}, {"dry_run": True}])
def test_an_account_that_is_not_on_the_allowlist_is_refused(
    agent_client: Any, accounts: list[ConnectedAccount], clock: Any, fields: dict[str, Any]
) -> None:
    client = agent_client(account_allowlist=[accounts[0].id])

    assert_envelope(client.post("/posts", body_for(*accounts[:2], **fields)), 403, "ACCOUNT_NOT_ALLOWED")
    assert client.post("/posts", body_for(accounts[0], **fields)).status_code == 201


def test_the_allowlist_applies_to_validation_and_an_empty_one_allows_nothing(
    agent_client: Any, account: ConnectedAccount
) -> None:
    client = agent_client(account_allowlist=[])

    assert_envelope(client.post("/posts/validate", body_for(account)), 403, "ACCOUNT_NOT_ALLOWED")


def test_an_agent_in_dry_run_mode_can_validate(agent_client: Any, account: ConnectedAccount) -> None:
    answer = agent_client(default_mode="dry_run").post("/posts/validate", body_for(account))

    assert (answer.status_code, answer.json()["valid"]) == (200, True)
