"""Creation of single post groups and of batches, with dry runs; and validation of content without creating a post."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from config.api.caller import Caller, requested_or_own_workspace_id, require_access
from config.api.errors import ValidationFailed
from config.api.scopes import any_scope_of
from posts.attached_media import match_media_to_assets
from posts.content import PostInput
from posts.errors import prefixing_error_fields_with_index
from posts.models import PostGroup
from posts.plan import Plan
from posts.plan_building import WRITE_SCOPES, RowsForPlans, build_targets_to_validate, new_group_change
from posts.services.commit import plan_and_commit
from posts.target_times import refuse_past_or_too_late_times
from posts.validation import Validation, validate_targets

ANY_POSTS_SCOPE = any_scope_of("posts.read", "posts.draft", "posts.schedule", "posts.publish")


def validate_post(*, caller: Caller, post: PostInput, group: PostGroup | None = None) -> Validation:
    """Validate a post's content against the platforms of its targets, without creating the post.

    `group` is the stored group that the content will replace, if any. Invalid content is in the result and raises nothing.
    Raises ScopeMissing, ValidationFailed (workspace_id, media, targets and their times), AccountNotAllowed.
    """
    chosen = requested_or_own_workspace_id(caller, post.workspace_id)
    require_access(caller, chosen, ANY_POSTS_SCOPE, write=False, body_field="workspace_id")
    sandbox, group_id = (group.sandbox, group.id) if group else (False, "")
    rows = RowsForPlans.read(chosen, [post], group_id=group_id)
    attached = match_media_to_assets(post.media, rows.assets)
    refuse_past_or_too_late_times(post.scheduled_at, post.targets)
    inputs = build_targets_to_validate(caller, rows.accounts, post.text, post.targets, sandbox, attached)
    return validate_targets(inputs, duplicates=rows.duplicates)


def create_post(*, caller: Caller, post: PostInput, dry_run: bool = False, plan_hash: str | None = None) -> Plan:
    """Create a post group, which is published now, scheduled, saved as a draft, or left awaiting approval.

    Raises ScopeMissing, AgentModeForbids, WorkspacePaused, ValidationFailed, WebhookUrlNotAllowed, AccountNotAllowed,
    ContentInvalid, PlanChanged, and the spend errors SpendCapExceeded, PaymentMethodRequired, UrlPostCapExceeded,
    PostsPerDayCapExceeded.
    """
    return plan_and_commit(lambda: plan_create(caller, post, dry_run=dry_run), dry_run=dry_run, plan_hash=plan_hash)


def plan_create(caller: Caller, post: PostInput, *, dry_run: bool = False) -> Plan:
    """Plan a new post group, with the errors of `create_post` except the spend errors."""
    change = new_group_change(caller, post, dry_run=dry_run)
    return Plan("posts.create", caller, change.after.workspace_id, [change])


def create_batch(
    *,
    caller: Caller,
    posts: Sequence[PostInput],
    workspace_id: str | None = None,
    dry_run: bool = False,
    plan_hash: str | None = None,
) -> Plan:
    """Create a batch of post groups, either all or none.

    Error `details` name the post, such as `posts[2].targets[0].text`. Raises the errors of `create_post`.
    """
    return plan_and_commit(
        lambda: plan_create_batch(caller, posts, workspace_id=workspace_id, dry_run=dry_run),
        dry_run=dry_run,
        plan_hash=plan_hash,
    )


def plan_create_batch(
    caller: Caller, posts: Sequence[PostInput], *, workspace_id: str | None = None, dry_run: bool = False
) -> Plan:
    """Plan a batch of new post groups, with the errors of `create_batch` except the spend errors."""
    chosen = requested_or_own_workspace_id(caller, workspace_id)
    require_access(caller, chosen, WRITE_SCOPES, body_field="workspace_id")
    rows = RowsForPlans.read(chosen, posts)
    changes = []
    for index, post in enumerate(posts):
        with prefixing_error_fields_with_index(index):
            if post.workspace_id not in (None, chosen):
                raise ValidationFailed.for_field(
                    "workspace_id", "All posts of a batch must belong to one workspace.", "mismatch"
                )
            changes.append(new_group_change(caller, replace(post, workspace_id=chosen), dry_run=dry_run, rows=rows))
    return Plan("posts.create_batch", caller, chosen, changes, batch=True)
