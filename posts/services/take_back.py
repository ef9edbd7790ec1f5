"""Taking back the approval of a post before it is published."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext_noop

from config.api.caller import Caller
from config.api.errors import InvalidState
from posts import selectors
from posts.content import own_scheduled_at
from posts.plan import GroupChange, Plan, copy_of_group
from posts.services.changes import (
    existing_assets_of_group,
    publishing_begun_error,
    unfinished_targets_or_raise_if_begun,
    withdraw_unsaved_target_from_publisher,
)
from posts.services.commit import plan_and_commit
from posts.services.review import CONFIRMABLE_GROUP_STATUSES, REVIEW_SCOPES, require_approver
from posts.states import GroupStatus


def take_back_approval(*, caller: Caller, post_group_id: str, status: GroupStatus, scheduled_at: datetime | None) -> Plan:
    """Take back the approval of a post that is not being published yet: it awaits approval again, or is a draft again.

    `status` and `scheduled_at` are those before the approval. Releases the money held for the post. Raises Forbidden (an
    agent or editor), ScopeMissing, NotFound, InvalidState.
    """
    return plan_and_commit(lambda: _plan(caller, post_group_id, status, scheduled_at))


def _plan(caller: Caller, post_group_id: str, status: GroupStatus, scheduled_at: datetime | None) -> Plan:
    group = selectors.get_post_group(caller=caller, post_group_id=post_group_id, scope=REVIEW_SCOPES, write=True)
    require_approver(caller, status)
    if status not in CONFIRMABLE_GROUP_STATUSES:
        raise InvalidState(gettext_noop("Only a draft or a post awaiting approval can have been approved."))
    if group.status != GroupStatus.SCHEDULED or group.was_attempted:
        raise publishing_begun_error(group)
    after = copy_of_group(group)
    stopped = unfinished_targets_or_raise_if_begun(after)
    for target in stopped:
        withdraw_unsaved_target_from_publisher(target)
        target.scheduled_at = own_scheduled_at(group, target) or scheduled_at
        if target.slot and status == GroupStatus.DRAFT:  # a draft takes no slot
            target.scheduled_at = None
    after.status, after.scheduled_at = status, scheduled_at
    change = GroupChange(
        before=group,
        after=after,
        moment=scheduled_at,
        due=timezone.now(),
        assets=existing_assets_of_group(group),
        releases=stopped,
        events=((f"post.{status}", None),) if status == GroupStatus.PENDING_CONFIRMATION else (),
        audit={"taken_back": True},
    )
    return Plan("posts.confirm", caller, group.workspace_id, [change])
