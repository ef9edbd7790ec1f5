"""Helpers that act on existing post groups: update, cancel, and batches."""

from __future__ import annotations

from typing import Any

from accounts.models import ConnectedAccount
from billing.models import DayCounter, LedgerEntry, MonthCounter
from config.api.models import IdempotencyRecord
from posts.models import PostGroup, PostTarget
from tests.conftest import ApiClient
from tests.posts.rows import body_for
from webhooks.models import Event


def patch(client: ApiClient, group: dict[str, Any], key: str | None = None, **changes: Any) -> Any:
    return client.request("PATCH", f"/posts/{group['id']}", changes, **_headers(key))


def confirm(client: ApiClient, group: dict[str, Any], version: int = 1, key: str | None = None, **fields: Any) -> Any:
    return client.post(f"/posts/{group['id']}/confirm", {"content_version": version, **fields}, **_headers(key))


def batch(client: ApiClient, *posts: dict[str, Any], key: str | None = None, **fields: Any) -> Any:
    return client.post("/posts/batch", {"posts": list(posts), **fields}, **_headers(key))


def group_in(answer: Any) -> dict[str, Any]:
    """The group in a successful response."""
    assert answer.status_code == 200, answer.content
    return dict(answer.json()["post_group"])


def groups_in(answer: Any) -> list[dict[str, Any]]:
    """The groups in the response to a batch."""
    assert answer.status_code == 201, answer.content
    assert set(answer.json()) == {"post_groups"}
    return list(answer.json()["post_groups"])


def targets_for(*accounts: ConnectedAccount, **fields: Any) -> list[dict[str, Any]]:
    return [{**target, **fields} for target in body_for(*accounts)["targets"]]


def assert_nothing_written() -> None:
    """Assert that no post, money, event or idempotency record was written."""
    for model in (PostGroup, PostTarget, LedgerEntry, MonthCounter, DayCounter, Event, IdempotencyRecord):
        assert not model._default_manager.exists(), model


def _headers(key: str | None) -> dict[str, str]:
    return {"idempotency_key": key} if key else {}
