"""An agent's `default_mode` is a ceiling: a request may use a lower mode, never a higher one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import ConnectedAccount
from agents.models import Agent
from posts.models import PostGroup
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient

DRAFT = {"draft": True}
NOW: dict[str, Any] = {}
LATER = {"scheduled_at": (timezone.now() + timedelta(days=1)).isoformat()}


def post(client: ApiClient, account: ConnectedAccount, **fields: Any) -> Any:
    target = {"platform": account.platform, "connected_account_id": account.id}
    return client.post("/posts", {"text": "Hello", "targets": [target], **fields})


@pytest.mark.parametrize(
    ("mode", "asked", "status"),
    [
        ("draft", DRAFT, "draft"),
        ("requires_confirmation", DRAFT, "draft"),
        ("requires_confirmation", LATER, "pending_confirmation"),
        ("requires_confirmation", NOW, "pending_confirmation"),
        ("allow_publish", DRAFT, "draft"),
        ("allow_publish", LATER, "scheduled"),
        ("allow_publish", NOW, "publishing"),
    ],
)
def test_a_requested_mode_is_limited_by_the_agents_ceiling(
    agent_client: Callable[..., ApiClient], account: ConnectedAccount, mode: str, asked: dict[str, Any], status: str
) -> None:
    answer = post(agent_client(default_mode=mode), account, **asked)

    assert (answer.status_code, answer.json()["post_group"]["status"]) == (201, status)
    assert PostGroup.objects.get().status == status


@pytest.mark.parametrize(
    "asked", [LATER, NOW, {"draft": False}, {"dry_run": True}], ids=lambda asked: "+".join(asked) or "now"
)
def test_an_agent_in_draft_mode_may_only_create_drafts(
    agent_client: Callable[..., ApiClient], account: ConnectedAccount, asked: dict[str, Any]
) -> None:
    assert_envelope(post(agent_client(default_mode="draft"), account, **asked), 403, "AGENT_MODE_FORBIDS")
    assert not PostGroup.objects.exists()


@pytest.mark.parametrize("asked", [DRAFT, LATER, NOW], ids=lambda asked: "+".join(asked) or "now")
def test_every_post_of_an_agent_in_dry_run_mode_is_a_dry_run(
    agent_client: Callable[..., ApiClient], account: ConnectedAccount, asked: dict[str, Any]
) -> None:
    client = agent_client(default_mode="dry_run")

    for extra in ({}, {"dry_run": True}):
        answer = post(client, account, **asked, **extra)
        assert (answer.status_code, answer.json()["dry_run"]) == (201, True)
    assert_envelope(post(client, account, **asked, dry_run=False), 403, "AGENT_MODE_FORBIDS")
    assert not PostGroup.objects.exists()


def test_every_write_of_an_agent_in_dry_run_mode_is_a_dry_run(
    agent_client: Callable[..., ApiClient], account: ConnectedAccount
) -> None:
    client = agent_client(default_mode="dry_run")

    answer = client.delete(f"/accounts/{account.id}")
    assert (answer.status_code, answer.json()["operation"]) == (200, "accounts.disconnect")
    for refused in (
        client.delete(f"/accounts/{account.id}", {"dry_run": False}),
        client.delete(f"/accounts/{account.id}?dry_run=false"),
    ):
        assert_envelope(refused, 403, "AGENT_MODE_FORBIDS")
    account.refresh_from_db()
    assert account.status == "active"


def test_an_agent_in_dry_run_mode_can_read(agent_client: Callable[..., ApiClient], account: ConnectedAccount) -> None:
    answer = agent_client(default_mode="dry_run").get(f"/accounts?workspace_id={account.workspace_id}")

    assert [row["id"] for row in answer.json()["accounts"]] == [account.id]


def test_a_changed_mode_applies_to_the_next_request(
    agent_client: Callable[..., ApiClient], account: ConnectedAccount
) -> None:
    client = agent_client(default_mode="dry_run")
    path, key = f"/accounts/{account.id}", {"idempotency_key": "one"}
    assert client.delete(path, **key).json()["dry_run"] is True

    Agent.objects.update(default_mode="allow_publish")

    assert client.delete(path, **key).json()["account"]["status"] == "disconnected"
