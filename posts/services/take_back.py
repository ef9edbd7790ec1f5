"""Taking back the approval of a post before it is published."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from config.api.caller import Caller
from config.api.errors import Forbidden, InvalidState
from posts import selectors
from posts.events import emit_group_event
from posts.models import PostGroup
from posts.services.changes import audit_group_operation, stop_all_targets_or_raise, too_late_error
from posts.services.review import REVIEWERS
from posts.states import GroupStatus


def take_back_approval(*, caller: Caller, post_group_id: str, scheduled_at: datetime | None) -> PostGroup:
    """Take back the approval of an agent's post that is not being published yet, so that it awaits approval again.

    `scheduled_at` is the time that the agent had asked for. Releases the money held for the post. Raises Forbidden (an
    agent), ScopeMissing, NotFound, InvalidState.
    """
    group = selectors.get_post_group(caller=caller, post_group_id=post_group_id, scope=REVIEWERS, write=True)
    if caller.agent_id:
        raise Forbidden("Agents cannot take back an approval. Use a person's session or a workspace key.")
    if not group.agent_id:
        raise InvalidState("This post was not approved: no agent had asked for it.")
    with transaction.atomic():
        locked = PostGroup.objects.select_for_update().get(pk=group.pk)
        if locked.status != GroupStatus.SCHEDULED or locked.was_attempted:
            raise too_late_error(locked)
        stop_all_targets_or_raise(locked, cancel=False)
        changes = {"status": GroupStatus.PENDING_CONFIRMATION, "scheduled_at": scheduled_at, "updated_at": timezone.now()}
        PostGroup.objects.filter(pk=group.pk).update(**changes)
        written = selectors.groups_with_targets().get(pk=group.pk)
        emit_group_event(written)
        audit_group_operation(caller, written, "posts.confirm", metadata={"taken_back": True})
    return written
