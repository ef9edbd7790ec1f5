"""Applies a file of posts: commits the plans for its new and changed posts that the comparison page has shown.

The new posts are one plan (posts.create_batch): all of them are made, or none. Each changed post is a plan of its own
(posts.update). Rows are remembered with the posts that they made, so that the same file makes no second posts.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from django.core import signing
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from config.api.caller import Caller
from config.api.errors import ApiError
from config.pages.sentences import PageRefusal
from posts import services
from posts.models import ImportedRow, StoredPlan
from posts.post_files.comparison import Comparison, imported_row_key
from posts.services.stored_plans import PLAN_LIFETIME
from posts.stored_plan_requests import commit_plan_by_id, make_and_store_plan_for_dashboard

SALT, PAGE = "posts.post_files", "post-files"


@dataclass(frozen=True)
class FilePlans:
    """The plans that apply a file of posts: one for all new posts, and one for each changed post by the number of its row."""

    workspace_id: str
    file_sha256: str
    new_rows: list[int] = field(default_factory=list)
    create_plan_id: str = ""
    update_plan_ids: Mapping[str, str] = field(default_factory=dict)

    def to_signed_text(self) -> str:
        """Return these FilePlans as a signed text, which the form that applies a file sends back."""
        return signing.dumps(asdict(self), salt=SALT, compress=True)


@dataclass
class FileApplyResult:
    """The result of applying a file of posts: how many posts were created and changed, and why changes were refused."""

    created: int = 0
    changed: int = 0
    refusals: list[tuple[int, ApiError]] = field(default_factory=list)


@transaction.atomic
def store_file_plans(caller: Caller, workspace_id: str, comparison: Comparison) -> FilePlans:
    """Store the plans by which a file of posts that has no problems will be applied, and set the prices of its rows.

    They replace those of the person's earlier comparisons that were not applied. Raises the spend errors, Conflict.
    """
    new, create_plan_id = comparison.rows_in_state("new"), ""
    services.delete_open_plans_of_dashboard_page(caller=caller, workspace_id=workspace_id, dashboard_page=PAGE)
    store = functools.partial(
        make_and_store_plan_for_dashboard, caller=caller, workspace_id=workspace_id, dashboard_page=PAGE
    )
    if new:
        stored = store(operation="posts.create_batch", request={"posts": [row.request for row in new]})
        for row, planned in zip(new, stored.preview["would_create"]["post_groups"], strict=True):
            row.cost_cents = planned["cost_cents"]
        create_plan_id = stored.id
    updates = {}
    for row in comparison.rows_in_state("changed"):
        assert row.group is not None  # noqa: S101 - for the type checker: a changed row has a post
        stored = store(operation="posts.update", group_id=row.group.id, request=row.request)
        row.cost_cents = stored.preview["would_update"]["cost_cents"] - row.group.cost_cents
        updates[str(row.number)] = stored.id
    return FilePlans(workspace_id, comparison.file_sha256, [row.number for row in new], create_plan_id, updates)


def read_signed_plans(text: str, workspace_id: str) -> FilePlans:
    """Return the FilePlans in the signed text of a form. Raises PageRefusal if it is too old or of another workspace."""
    try:
        plans = FilePlans(**signing.loads(text, salt=SALT, max_age=PLAN_LIFETIME))
    except signing.BadSignature:
        raise PageRefusal(_("The difference was shown too long ago. Choose the file again.")) from None
    if plans.workspace_id != workspace_id:
        raise PageRefusal(_("This file was compared with another workspace. Choose it again."))
    return plans


def commit_file_plans(caller: Caller, plans: FilePlans) -> FileApplyResult:
    """Commit the plans of a file of posts: first all new posts, or none, then each change. A repeated call does nothing.

    A change that is refused does not undo others. Raises the errors of creating the new posts, and PageRefusal if the file
    was imported meanwhile or another comparison has replaced its plans.
    """
    applied = FileApplyResult()
    ids = {plans.create_plan_id, *plans.update_plan_ids.values()} - {""}
    if StoredPlan.objects.filter(pk__in=ids).count() < len(ids):
        raise PageRefusal(_("You have compared another file since. Choose this file again."))
    if plans.create_plan_id:
        applied.created = _commit_new_posts(caller, plans)
    for number, plan_id in plans.update_plan_ids.items():
        try:
            applied.changed += commit_plan_by_id(caller=caller, plan_id=plan_id).plan is not None
        except ApiError as error:
            applied.refusals.append((int(number), error))
    return applied


def _commit_new_posts(caller: Caller, plans: FilePlans) -> int:
    """Commit the plan of a file's new posts and store their rows as imported; returns how many posts this call created."""
    try:
        with transaction.atomic():
            committed = commit_plan_by_id(caller=caller, plan_id=plans.create_plan_id)
            keys = [imported_row_key(plans.workspace_id, plans.file_sha256, number) for number in plans.new_rows]
            ids = committed.stored.result_ids or []
            rows = [ImportedRow(key=key, group_id=group_id) for key, group_id in zip(keys, ids, strict=True)]
            # A plan that was committed before, here or through the API, has made its posts; their rows may be stored already.
            ImportedRow.objects.bulk_create(rows, ignore_conflicts=committed.plan is None)
            return 0 if committed.plan is None else len(rows)
    except IntegrityError:
        raise PageRefusal(_("The same file was imported meanwhile. Nothing was made twice.")) from None
