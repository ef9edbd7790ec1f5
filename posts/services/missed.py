"""Sending of missed posts: those whose times passed while the service was down, or the workspace stopped, for too long."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.utils.translation import gettext_noop

from config.api.caller import Caller, requested_or_own_workspace_id, require_access
from config.api.errors import InvalidState, ValidationFailed
from posts import selectors
from posts.errors import prefixing_error_fields
from posts.plan import GroupChange, Plan
from posts.services.commit import plan_and_commit
from posts.services.retry import plan_retry

MAX_MISSED_POSTS = 100  # at a time


def retry_missed_posts(
    *,
    caller: Caller,
    workspace_id: str | None = None,
    post_group_ids: Sequence[str] | None = None,
    due_at: datetime | None = None,
    dry_run: bool = False,
    plan_hash: str | None = None,
) -> Plan:
    """Send missed posts now to the accounts for which their times were missed: all of them, or none.

    Without `post_group_ids` these are the newest 100 of the last seven days. `due_at` is when they are sent, if not at once:
    after the seconds in which a person can take it back. Raises ScopeMissing, WorkspacePaused,
    ValidationFailed (a named post has not missed a time), InvalidState (there are none), AgentModeForbids, AccountNotAllowed,
    PlanChanged and the spend errors.
    """
    return plan_and_commit(
        lambda: plan_retry_missed(caller, workspace_id=workspace_id, post_group_ids=post_group_ids, due_at=due_at),
        dry_run=dry_run,
        plan_hash=plan_hash,
    )


def plan_retry_missed(
    caller: Caller,
    *,
    workspace_id: str | None = None,
    post_group_ids: Sequence[str] | None = None,
    due_at: datetime | None = None,
) -> Plan:
    """Plan to send missed posts now, with the errors of `retry_missed_posts` except the spend errors."""
    chosen = requested_or_own_workspace_id(caller, workspace_id)
    require_access(caller, chosen, "posts.publish", body_field="workspace_id")
    missed = selectors.recently_missed_post_ids(workspace_id=chosen, among=post_group_ids)
    wanted = missed[:MAX_MISSED_POSTS] if post_group_ids is None else list(dict.fromkeys(post_group_ids))
    if not wanted:
        raise InvalidState(
            gettext_noop("There are no missed posts."), suggested_action=gettext_noop("Nothing needs to be done.")
        )
    for index, group_id in enumerate(post_group_ids or ()):
        if group_id not in missed:
            message = gettext_noop("This post has missed no time, or was sent since.")
            raise ValidationFailed.for_field(f"post_group_ids[{index}]", message, "not_missed")
    changes: list[GroupChange] = []
    for group_id in wanted:
        with prefixing_error_fields(group_id):
            changes += plan_retry(caller, group_id, due_at=due_at, only_missed=True).changes
    return Plan("posts.retry_missed", caller, chosen, changes, batch=True)
