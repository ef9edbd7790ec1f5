"""Creation of several post groups in one transaction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from auditlog.services import record
from billing import selectors as billing
from billing.caps import SpendCap
from config.api.caller import Caller, require, resolve_workspace_id
from config.api.errors import ApiError, ValidationFailed
from posts.attached_media import find_attached_assets, lock_media_of_groups, reserve_group_media
from posts.models import PostGroup
from posts.planning import WRITE_SCOPES, PostPlan, plan_post
from posts.services.create import commit_plans


@dataclass(frozen=True)
class BatchPreview:
    """The result of a batch's dry run: the plans, and the spend cap after all of them."""

    workspace_id: str
    plans: list[PostPlan]
    spend_cap: SpendCap


def create_batch(
    *, caller: Caller, posts: Sequence[Mapping[str, Any]], workspace_id: str | None = None, dry_run: bool = False
) -> list[PostGroup] | BatchPreview:
    """Create post groups, all or none. Error `details` name the post, such as `posts[2].targets[0].text`.

    Raises the errors of `create_post`.
    """
    chosen = resolve_workspace_id(caller, workspace_id)
    require(caller, chosen, WRITE_SCOPES, body_field="workspace_id")
    assets = find_attached_assets(chosen, [each for post in posts for each in post.get("media", ())])
    plans = []
    for index, post in enumerate(posts):
        with _naming(index):
            if post.get("workspace_id") not in (None, chosen):
                raise ValidationFailed.of(
                    "workspace_id", "All posts of a batch must belong to one workspace.", "mismatch"
                )
            fields = {**post, "workspace_id": chosen}
            plans.append(plan_post(caller=caller, dry_run=dry_run, assets=assets, **fields))
    # Checked here so that dry runs and real calls refuse alike; `commit_plans` guards against races.
    parts = [(plan.due, plan.charges if plan.released else []) for plan in plans]
    spend_cap = billing.check_charges_by_due_time(workspace_id=chosen, agent_id=caller.agent_id, parts=parts)
    if dry_run:
        record(
            caller=caller,
            operation="posts.create_batch",
            workspace_id=chosen,
            resource_type="post_group",
            dry_run=True,
            metadata={"posts": len(plans)},
        )
        return BatchPreview(chosen, plans, spend_cap)
    with transaction.atomic():
        lock_media_of_groups(plan.group for plan in plans)
        for index, plan in enumerate(plans):
            with _naming(index):
                reserve_group_media(plan.group)
        return commit_plans(caller, plans, "posts.create_batch")


@contextmanager
def _naming(index: int) -> Iterator[None]:
    """Prefix the fields of API errors raised in the block with the post's index in the batch."""
    try:
        yield
    except ApiError as error:
        if error.details:
            error.details = [_under(f"posts[{index}]", row) for row in error.details]
        raise


def _under(where: str, row: dict[str, Any]) -> dict[str, Any]:
    """Return an entry of an error's `details` with a prefix added to its field and its repair hint's field."""
    moved = {**row, "field": f"{where}.{row['field']}"}
    if hint := row.get("repair_hint"):
        moved["repair_hint"] = {**hint, "field": f"{where}.{hint['field']}"}
    return moved
