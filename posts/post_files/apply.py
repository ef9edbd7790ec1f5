"""Commits the difference between a file of posts and a workspace, by the plans that were shown.

The new posts are one plan (posts.create_batch): all of them are made, or none. Each changed post is a plan of its own
(posts.update). Rows are remembered with the posts that they made, so that the same file makes no second posts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from django.core import signing
from django.db import IntegrityError, transaction

from config.api.caller import Caller
from config.api.errors import ApiError
from config.pages.sentences import PageRefusal
from posts import services
from posts.models import ImportedRow
from posts.post_files.comparison import ComparedRow, Comparison, row_key
from posts.services.stored_plans import PLAN_LIFETIME
from posts.stored_plan_requests import commit_plan_by_id, planned_request
from posts.stored_plan_serializers import validated_request

SALT = "posts.post_files"


@dataclass(frozen=True)
class StoredPlans:
    """The plans of a file's difference: of all its new posts, and of each changed post by the number of its row."""

    workspace_id: str
    file_sha256: str
    new_rows: list[int] = field(default_factory=list)
    create_plan_id: str = ""
    update_plan_ids: Mapping[str, str] = field(default_factory=dict)

    def signed(self) -> str:
        """Return the plans as a signed text for a form."""
        return signing.dumps(asdict(self), salt=SALT, compress=True)


@dataclass
class Applied:
    """What the commit of a file's plans did: numbers of posts, and why changes of rows were refused."""

    created: int = 0
    changed: int = 0
    refusals: list[tuple[int, ApiError]] = field(default_factory=list)


def store_plans(caller: Caller, workspace_id: str, comparison: Comparison) -> StoredPlans:
    """Store the plans of a comparison without problems, and set the prices of its rows. Raises the spend errors, Conflict."""
    new, create_plan_id = comparison.in_state("new"), ""
    if new:
        request = {"posts": [row.request for row in new]}
        plan_id, preview = _store(caller, workspace_id, "posts.create_batch", "", request)
        for row, planned in zip(new, preview["would_create"]["post_groups"], strict=True):
            row.cost_cents = planned["cost_cents"]
        create_plan_id = plan_id
    updates = {}
    for row in comparison.in_state("changed"):
        updates[str(row.number)] = _store_update(caller, workspace_id, row)
    return StoredPlans(workspace_id, comparison.file_sha256, [row.number for row in new], create_plan_id, updates)


def _store_update(caller: Caller, workspace_id: str, row: ComparedRow) -> str:
    assert row.group is not None  # noqa: S101 - for the type checker: a changed row has a post
    plan_id, preview = _store(caller, workspace_id, "posts.update", row.group.id, row.request)
    row.cost_cents = preview["would_update"]["cost_cents"] - row.group.cost_cents
    return plan_id


def _store(
    caller: Caller, workspace_id: str, operation: str, group_id: str, request: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    fields = validated_request(operation, request)
    planned = planned_request(operation, group_id, request, fields, workspace_id)
    stored = services.make_and_store_plan(caller=caller, planned=planned)
    return stored.id, stored.preview


def plans_in_form(text: str, workspace_id: str) -> StoredPlans:
    """Return the plans of a signed text that a form has sent back. Raises PageRefusal if it is too old or of elsewhere."""
    try:
        plans = StoredPlans(**signing.loads(text, salt=SALT, max_age=PLAN_LIFETIME))
    except signing.BadSignature:
        raise PageRefusal("The difference was shown too long ago. Choose the file again.") from None
    if plans.workspace_id != workspace_id:
        raise PageRefusal("This file was compared with another workspace. Choose it again.")
    return plans


def commit_plans(caller: Caller, plans: StoredPlans) -> Applied:
    """Commit the plans of a file: first all new posts, or none of them, then each change. A repeated call changes nothing.

    A change that is refused does not undo others. Raises the errors of creating the new posts, and PageRefusal if the file
    was imported meanwhile.
    """
    applied = Applied()
    if plans.create_plan_id:
        applied.created = _commit_new_posts(caller, plans)
    for number, plan_id in plans.update_plan_ids.items():
        try:
            applied.changed += commit_plan_by_id(caller=caller, plan_id=plan_id).plan is not None
        except ApiError as error:
            applied.refusals.append((int(number), error))
    return applied


def _commit_new_posts(caller: Caller, plans: StoredPlans) -> int:
    """Commit the plan of the new posts, and remember their rows, together. Returns how many were made by this call."""
    try:
        with transaction.atomic():
            committed = commit_plan_by_id(caller=caller, plan_id=plans.create_plan_id)
            keys = [row_key(plans.workspace_id, plans.file_sha256, number) for number in plans.new_rows]
            ids = committed.stored.result_ids or []
            rows = [ImportedRow(key=key, group_id=group_id) for key, group_id in zip(keys, ids, strict=True)]
            # A plan that was committed before, here or through the API, has made its posts; their rows may be stored already.
            ImportedRow.objects.bulk_create(rows, ignore_conflicts=committed.plan is None)
            return 0 if committed.plan is None else len(rows)
    except IntegrityError:
        raise PageRefusal("The same file was imported meanwhile. Nothing was made twice.") from None
