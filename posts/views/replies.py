"""Responses that several API views of posts share."""

from __future__ import annotations

import functools
from typing import Any

from config.api.models import IdempotencyRecord
from config.api.operation import Call, Preview, Reply
from posts import selectors, services
from posts.models import PostGroup

SPEND_ERRORS = (
    "SPEND_CAP_EXCEEDED",
    "PAYMENT_METHOD_REQUIRED",
    "SOCIAL_URL_POST_CAP_EXCEEDED",
    "POSTS_PER_DAY_CAP_EXCEEDED",
)
RELEASE_ERRORS = (*SPEND_ERRORS, "AGENT_MODE_FORBIDS", "ACCOUNT_NOT_ALLOWED", "WEBHOOK_URL_NOT_ALLOWED")


def replay_post_group(call: Call, record: IdempotencyRecord) -> dict[str, Any]:
    """Return the data for a replayed request: the post group's current state."""
    return {"post_group": selectors.groups_with_targets().get(pk=record.resource_id)}


def replay_post_groups(call: Call, record: IdempotencyRecord) -> dict[str, Any]:
    """Return the data for a replayed batch: the current state of its post groups, in order."""
    ids: list[str] = record.body or []
    found = selectors.groups_with_targets().in_bulk(ids)
    return {"post_groups": [found[group_id] for group_id in ids]}


def group_reply(group: PostGroup, *, status: int = 200, wait: bool = False) -> Reply:
    """Return a response with the post group; with `wait`, it is sent once the group is finished."""
    finish = functools.partial(_finished, group.id) if wait else None
    return Reply({"post_group": group}, status, group.id, finish=finish)


def group_change_reply(call: Call, group: PostGroup, *, wait: bool = False) -> Reply | Preview:
    """Return a response with the changed post group, or with the preview of a dry run."""
    return Preview(call.data, group, "would_update") if call.dry_run else group_reply(group, wait=wait)


def _finished(post_group_id: str) -> dict[str, Any]:
    return {"post_group": services.wait_until_finished(post_group_id)}
