"""The classes of plans: what an operation on post groups would change. A dry run shows it, and a real call commits it.

A plan holds each post group as it is stored and as it will be. posts/services/commit.py writes the difference, provided that
nobody has changed the stored rows since. So a preview cannot differ from what is written.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from django.utils import timezone

from billing.caps import SpendCapStatus
from billing.prices import PublishingCharge
from config.api.caller import Caller
from config.api.plan import hash_of_content
from media.models import MediaAsset
from posts import selectors
from posts.models import PostGroup, PostTarget
from posts.post_group_json import format_timestamp
from posts.validation import Validation
from workspaces.models import Workspace


@dataclass(frozen=True)
class GroupChange:
    """One post group of a plan: `before` is the stored group (None for a new one), `after` the group as it will be.

    Both have their targets. `moment` is when targets without a time of their own are published, None for now; `due` is that
    moment as a time.
    `assets` are the media attached before and after, as far as they exist. `audit` is the metadata of the audit entry.

    `holds` are the targets whose price is reserved against the caps of the workspace and of `agent_id_for_caps`. `workspace`
    is the row of the workspace, if it has been read. The reservation of `releases` ends, that of `settles` is spent, and that
    of `failures` ends because the target failed.
    `events` are the webhook events in order, each as its kind and, if it is about one target, the target's id.
    """

    before: PostGroup | None
    after: PostGroup
    moment: datetime | None
    due: datetime
    assets: Mapping[str, MediaAsset] = field(default_factory=dict)
    validation: Validation | None = None
    holds: Sequence[PostTarget] = ()
    releases: Sequence[PostTarget] = ()
    settles: Sequence[PostTarget] = ()
    failures: Sequence[PostTarget] = ()
    agent_id_for_caps: str | None = None
    workspace: Workspace | None = None
    events: Sequence[tuple[str, str | None]] = ()
    audit: Mapping[str, Any] = field(default_factory=dict)

    @property
    def targets(self) -> list[PostTarget]:
        """Return the targets of this GroupChange as the plan makes them, in their order."""
        return list(self.after.targets.all())

    @property
    def targets_before(self) -> list[PostTarget]:
        """Return the targets of this GroupChange as they are stored before the plan, in their order."""
        return list(self.before.targets.all()) if self.before else []

    @property
    def charges_by_due(self) -> list[tuple[datetime, list[PublishingCharge]]]:
        """Return the prices that this GroupChange of a plan reserves, by the time when targets are due, earliest first.

        Sandbox targets cost nothing.
        """
        found: dict[datetime, list[PublishingCharge]] = {}
        for each in self.holds:
            if not each.sandbox:
                charge = PublishingCharge(each.id, each.platform, each.price_cents, each.url_posts)
                found.setdefault(each.due_at or self.due, []).append(charge)
        return sorted(found.items())


@dataclass(frozen=True)
class Plan:
    """The plan of an operation on post groups of one workspace: what it would change.

    `spend_cap` is what a dry run shows of the spend cap. The errors of a `batch` name the post. A plan that `refuses_changes`
    is not made again when somebody else has changed the group meanwhile. When a person commits an
    agent's plan, `approved_hash` is the hash of that plan and `approved_by` the person. `audit` is added to the metadata of
    the audit entries.
    """

    operation: str
    caller: Caller
    workspace_id: str
    changes: Sequence[GroupChange] = ()
    spend_cap: SpendCapStatus | None = None
    batch: bool = False
    refuses_changes: bool = False
    approved_hash: str | None = None
    approved_by: Caller | None = None
    audit: Mapping[str, Any] = field(default_factory=dict)

    def with_spend_cap(self, spend_cap: SpendCapStatus | None) -> Plan:
        return replace(self, spend_cap=spend_cap)

    @property
    def group(self) -> PostGroup:
        """Return the only post group of this plan, as it will be. Raises ValueError for a plan of several posts."""
        [change] = self.changes
        return change.after

    @property
    def resource_ids(self) -> list[str]:
        """Return the ids of the post groups that the plan creates or changes."""
        return [change.after.id for change in self.changes]

    @cached_property
    def hashed_data(self) -> dict[str, Any]:
        """Return the JSON data of this Plan of posts from which its hash is computed.

        The same request in the same circumstances has the same content: ids of new rows, the current time, balances, trace
        ids, metadata and the caller are left out.
        """
        return {
            "operation": self.operation,
            "workspace_id": self.workspace_id,
            "ceiling": str(self.caller.mode),
            "posts": [_hashed_change(change) for change in self.changes],
        }

    @cached_property
    def hash(self) -> str:
        """Return the hash of this Plan of posts, or that of the agent's stored plan which a person has approved.

        It is `sha256:` and 64 hex digits over the canonical JSON (RFC 8785) of the content.
        """
        return self.approved_hash or hash_of_content(self.hashed_data)


def copy_of_group(group: PostGroup) -> PostGroup:
    """Return a copy of a post group with copies of its targets, to change in a plan."""
    copied = copy.copy(group)
    vars(copied).pop("_prefetched_objects_cache", None)
    targets = [copy.copy(target) for target in group.targets.all()]
    for target in targets:
        target.group = copied
    copied.updated_at = timezone.now()
    selectors.set_prefetched_targets(copied, targets)
    return copied


def _hashed_change(change: GroupChange) -> dict[str, Any]:
    before, after = change.before, change.after
    return {
        "post_group_id": before.id if before else None,
        "before": _hashed_group(before, change.assets, before.scheduled_at, before.scheduled_at) if before else None,
        "after": _hashed_group(after, change.assets, change.moment, change.due),
    }


def _hashed_group(
    group: PostGroup, assets: Mapping[str, MediaAsset], moment: datetime | None, due: datetime | None
) -> dict[str, Any]:
    """Return a post group's part of a plan's hash; a target published with the group, at `due`, has no `moment` there."""
    return {
        "status": str(group.status),
        "text": group.text,
        "media": [attachment_data_for_hash(entry, assets) for entry in group.media],
        "moment": format_timestamp(moment),
        "sandbox": group.sandbox,
        "webhook_url": group.webhook_url,
        "rejection_reason": group.rejection_reason,
        "cost_cents": group.cost_cents,
        "targets": [
            {
                "connected_account_id": target.account_id,
                "status": str(target.status),
                "moment": None if target.scheduled_at == due else format_timestamp(target.scheduled_at),
                "slot": target.slot,
                "permalink": target.permalink,
                "text": target.text,
                "options": target.options,
                "sandbox": target.sandbox,
                "cost_cents": target.cost_cents,
            }
            for target in group.targets.all()
        ],
    }


def attachment_data_for_hash(entry: Mapping[str, str], assets: Mapping[str, MediaAsset]) -> dict[str, Any]:
    """Return an attached media asset for a plan's hash: the hash of its bytes and its alternative text, not its id."""
    asset = assets.get(entry["media_id"])
    alt_text = entry.get("alt_text", asset.alt_text if asset else None)
    return {"sha256": asset.sha256 if asset else None, "alt_text": alt_text}
