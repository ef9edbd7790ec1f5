"""The JSON of a post group and of its targets, for API responses and webhook events.

The values are copied by hand because REST framework's field-by-field serialization took most of the time of a long list.
A test checks that the keys are those of the serializers in posts/serializers/responses.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.conf import settings

from posts.models import PostGroup, PostTarget
from posts.states import GroupStatus, shown_scheduled_at_or_none, target_cost_cents
from posts.summaries import PostSummary


def post_group_json(group: PostGroup, targets: Iterable[PostTarget]) -> dict[str, Any]:
    """Return the JSON data of a post group and all its targets, given as model instances or named tuples of columns."""
    rows = list(targets)
    shown = [post_target_json(target) for target in rows]
    return {
        "id": group.id,
        "workspace_id": group.workspace_id,
        "status": str(group.status),
        "content_version": group.content_version,
        "text": group.text,
        "media": group.media,
        "scheduled_at": format_timestamp(shown_scheduled_at_or_none(rows)),
        "sandbox": group.sandbox,
        "webhook_url": group.webhook_url,
        "metadata": group.metadata,
        "cost_cents": sum(target["cost_cents"] for target in shown),
        "created_by": {"actor_type": group.created_by_type, "actor_id": group.created_by_id},
        "rejection_reason": group.rejection_reason,
        "trace_id": group.trace_id,
        "plan_hash": group.plan_hash,
        "approval_url": approval_url(group),
        "series_id": group.series_id,
        "created_at": format_timestamp(group.created_at),
        "updated_at": format_timestamp(group.updated_at),
        "finished_at": format_timestamp(group.finished_at),
        "targets": shown,
    }


def approval_url(group: PostGroup) -> str | None:
    """Return for a post group's JSON the address of the page on which a person approves it; None if it awaits no approval."""
    if group.status != GroupStatus.PENDING_CONFIRMATION:
        return None
    return post_page_url(group)


def decision_url(group: PostGroup, decision: str) -> str:
    """Return the link for e-mails that opens a post's page to approve, or to reject, the post as it is planned now.

    If the post has changed since, the page offers neither until the person has read the post as it is now.
    """
    query = urlencode({"plan_hash": group.plan_hash or "", "decision": decision})
    return f"{post_page_url(group)}?{query}#review"


def post_page_url(group: PostGroup) -> str:
    """Return for a post group's JSON the address of its dashboard page."""
    return f"{settings.BASE_URL}/dashboard/workspaces/{group.workspace_id}/posts/{group.id}"


def post_target_json(target: PostTarget) -> dict[str, Any]:
    """Return the JSON data of a post target: its account, content, status, result and error."""
    return {
        "id": target.id,
        "platform": target.platform,
        "connected_account_id": target.account_id,
        "status": str(target.status),
        "text": target.text,
        "options": target.options,
        "scheduled_at": format_timestamp(target.scheduled_at),
        "slot": target.slot,
        "external_id": target.external_id,
        "permalink": target.permalink,
        "attempts": target.attempts,
        "next_attempt_at": format_timestamp(target.due_at),
        "published_at": format_timestamp(target.published_at),
        "cost_cents": target_cost_cents(target.status, target.price_cents),
        "error": target.error,
    }


def listed_post_json(group: PostSummary, zone: ZoneInfo) -> dict[str, Any]:
    """Return the JSON data of a post group in a list, with its local time in a time zone."""
    local = group.scheduled_at.astimezone(zone) if group.scheduled_at else None
    return {
        "id": group.id,
        "status": group.status,
        "scheduled_at": format_timestamp(group.scheduled_at),
        "local_time": f"{local.hour:02}:{local.minute:02}" if local else None,
        "text": group.text,
        "sandbox": group.sandbox,
        "targets": [
            {"id": target_id, "platform": platform, "connected_account_id": account_id, "status": status}
            for target_id, platform, account_id, status, _ in group.targets
        ],
    }


def format_timestamp(value: datetime | None) -> str | None:
    """Format a time in a post's JSON as ISO 8601 in UTC with a trailing Z.

    The format is that of `fields.Timestamp`.
    """
    if value is None:
        return None
    in_utc = value if value.tzinfo is UTC else value.astimezone(UTC)
    return in_utc.isoformat().removesuffix("+00:00") + "Z"
