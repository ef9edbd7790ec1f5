"""Taking back the approval of a post before it is published."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone

from config.api.caller import Caller
from config.api.errors import Forbidden, InvalidState
from posts import selectors
from posts.plan import GroupChange, Plan, copy_of_group
from posts.services.changes import assets_of_group, require_unstarted_targets, stop_target, too_late_error
from posts.services.commit import plan_and_commit
from posts.services.review import REVIEWERS
from posts.states import GroupStatus


def take_back_approval(*, caller: Caller, post_group_id: str, scheduled_at: datetime | None) -> Plan:
    """Take back the approval of an agent's post that is not being published yet, so that it awaits approval again.

    `scheduled_at` is the time that the agent had asked for. Releases the money held for the post. Raises Forbidden (an
    agent), ScopeMissing, NotFound, InvalidState.
    """
    return plan_and_commit(lambda: _plan(caller, post_group_id, scheduled_at))


def _plan(caller: Caller, post_group_id: str, scheduled_at: datetime | None) -> Plan:
    group = selectors.get_post_group(caller=caller, post_group_id=post_group_id, scope=REVIEWERS, write=True)
    if caller.agent_id:
        raise Forbidden("Agents cannot take back an approval. Use a person's session or a workspace key.")
    if not group.agent_id:
        raise InvalidState("This post was not approved: no agent had asked for it.")
    if group.status != GroupStatus.SCHEDULED or group.was_attempted:
        raise too_late_error(group)
    after = copy_of_group(group)
    stopped = require_unstarted_targets(after)
    for target in stopped:
        stop_target(target)
    after.status, after.scheduled_at = GroupStatus.PENDING_CONFIRMATION, scheduled_at
    change = GroupChange(
        before=group,
        after=after,
        moment=scheduled_at,
        due=timezone.now(),
        assets=assets_of_group(group),
        releases=stopped,
        events=((f"post.{after.status}", None),),
        audit={"taken_back": True},
    )
    return Plan("posts.confirm", caller, group.workspace_id, [change])
