"""Helpers to create, read and publish post groups in tests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from accounts.models import ConnectedAccount
from posts.models import PostGroup, PostTarget
from posts.states import SCHEDULE_MISSED
from tests.conftest import ApiClient
from tests.factories import AccountFactory
from tests.posts.publishing.worker import run_until_idle
from webhooks.models import Event
from workspaces.models import Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
TOMORROW = "2027-03-11T12:00:00Z"


def body_for(*accounts: ConnectedAccount, texts: Sequence[str] = (), **fields: Any) -> dict[str, Any]:
    """The request body of a post to these accounts; `texts` are the targets' own texts."""
    targets = [{"platform": account.platform, "connected_account_id": account.id} for account in accounts]
    for target, text in zip(targets, texts, strict=False):
        target["text"] = text
    return {"text": "Hello", "targets": targets, **fields}


def create(api: ApiClient, *accounts: ConnectedAccount, **fields: Any) -> dict[str, Any]:
    """Create a group through the API; returns its body."""
    answer = api.post("/posts", body_for(*accounts, **fields))
    assert answer.status_code == 201, answer.content
    return dict(answer.json()["post_group"])


def group_with_target(workspace: Workspace, at: datetime | None, status: str = "scheduled", **fields: Any) -> PostGroup:
    """A stored group with this status and one target, without the checks of the API."""
    account = ConnectedAccount.objects.filter(workspace=workspace, sandbox=True).first() or AccountFactory(
        workspace=workspace
    )
    made = {"created_by_type": "user", "trace_id": "0" * 32, **fields}
    group = PostGroup.objects.create(workspace=workspace, status=status, scheduled_at=at, **made)
    target = {"account": account, "platform": account.platform, "content_sha256": ""}
    PostTarget.objects.create(group=group, position=0, scheduled_at=at, **target)
    return group


def read(api: ApiClient, group: dict[str, Any]) -> dict[str, Any]:
    """The group's current body."""
    return dict(api.get(f"/posts/{group['id']}").json()["post_group"])


def publish_rounds(clock: Any, rounds: int = 20) -> int:
    """Publish what is due and advance the clock to the next due time, repeatedly; returns the number of rounds."""
    for done in range(rounds):
        ahead = PostTarget.objects.filter(due_at__isnull=False).order_by("due_at").first()
        if ahead is None or ahead.due_at is None:
            return done
        clock.move_to(max(ahead.due_at, datetime.now(UTC)))
        run_until_idle()
    raise AssertionError(f"There is still something to publish after {rounds} rounds.")


def the_target(group: dict[str, Any]) -> PostTarget:
    """The only target of the group."""
    return PostTarget.objects.get(group_id=group["id"])


def fail_as_missed(group_id: str) -> None:
    """Let a group fail as if the service had been down at its time."""
    error = {"code": SCHEDULE_MISSED, "message": "Too late."}
    PostTarget.objects.filter(group=group_id).update(status="failed", error=error, due_at=None)
    PostGroup.objects.filter(pk=group_id).update(status="failed")


def events_of(group: dict[str, Any]) -> list[dict[str, Any]]:
    """The payloads of the group's events in order of sequence."""
    return [
        json.loads(bytes(event.payload)) for event in Event.objects.filter(post_group_id=group["id"]).order_by("sequence")
    ]


def kinds_of(group: dict[str, Any]) -> list[str]:
    """The kinds of the group's events in order of sequence."""
    return [event["type"] for event in events_of(group)]
