"""Request and response bodies of the reference API."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

ID = "_[0-7][0123456789abcdefghjkmnpqrstvwxyz]{25}$"


class Strict(BaseModel):
    """A body that refuses unknown fields."""

    model_config = ConfigDict(extra="forbid")


class Options(Strict):
    """The options of a Bluesky post; threads are not supported."""

    langs: list[str] = Field(default=[], max_length=3)


class Target(Strict):
    """One target in a request: the account to post to."""

    platform: str
    connected_account_id: str = Field(pattern=f"^acc{ID}")
    text: str | None = Field(default=None, max_length=100_000)
    options: Options = Options()

    def options_json(self) -> str:
        """Return the given options as they are stored."""
        return json.dumps(self.options.model_dump(exclude_unset=True))


class CreatePost(Strict):
    """The request body of a scheduled post."""

    workspace_id: str | None = Field(default=None, pattern=f"^wrk{ID}")
    text: str = Field(max_length=100_000)
    targets: list[Target] = Field(min_length=1, max_length=50)
    scheduled_at: AwareDatetime
    metadata: dict[str, str] = Field(default={}, max_length=50)


def format_time(at: datetime | None) -> str | None:
    """Format a time as in API answers: in UTC, with a Z."""
    return None if at is None else at.isoformat().replace("+00:00", "Z")


def target_body(row: tuple[Any, ...]) -> dict[str, Any]:
    """Return a target's answer body, from a row of READ_TARGETS."""
    target_id, platform, account_id, status, text, options, external_id, permalink, attempts = row[:9]
    due_at, published_at, price_cents, error, scheduled_at, slot = row[9:15]
    return {
        "id": target_id,
        "platform": platform,
        "connected_account_id": account_id,
        "status": status,
        "text": text,
        "options": options,
        "scheduled_at": format_time(scheduled_at),
        "slot": slot,
        "external_id": external_id,
        "permalink": permalink,
        "attempts": attempts,
        "next_attempt_at": format_time(due_at),
        "published_at": format_time(published_at),
        "cost_cents": 0 if status in ("failed", "cancelled") else price_cents,
        "error": error,
    }


def group_body(row: tuple[Any, ...], targets: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a post group's answer body, from a row of READ_GROUP and its targets' bodies."""
    group_id, workspace_id, status, version, text, media, scheduled_at, sandbox, webhook_url, metadata = row[:10]
    actor_type, actor_id, rejection_reason, trace_id, created_at, updated_at, finished_at = row[10:17]
    return {
        "id": group_id,
        "workspace_id": workspace_id,
        "status": status,
        "content_version": version,
        "text": text,
        "media": media,
        "scheduled_at": format_time(scheduled_at),
        "sandbox": sandbox,
        "webhook_url": webhook_url,
        "metadata": metadata,
        "cost_cents": sum(target["cost_cents"] for target in targets),
        "created_by": {"actor_type": actor_type, "actor_id": actor_id},
        "rejection_reason": rejection_reason,
        "trace_id": trace_id,
        "created_at": format_time(created_at),
        "updated_at": format_time(updated_at),
        "finished_at": format_time(finished_at),
        "targets": targets,
    }
