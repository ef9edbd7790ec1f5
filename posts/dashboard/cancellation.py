"""What a person cancels on the page of a post: the draft, the post, the accounts still to come, or further attempts."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from posts.models import PostGroup
from posts.services.changes import is_pending_and_unclaimed
from posts.states import UNFINISHED_GROUP_STATUSES, GroupStatus


@dataclass(frozen=True)
class Cancellation:
    """A way to cancel a post: the label of its button, the question before it, and what is said after it."""

    label: str
    question: str
    done: str


def cancellation_or_none(group: PostGroup, *, begins: bool) -> Cancellation | None:
    """Return what a person can cancel of a post, in words; None if there is nothing.

    `begins`: all that is unfinished begins within seconds. A retry that waits so long is undone instead, by the button that
    the person who has begun it sees; cancelling it would not bring back the failure.
    """
    targets = list(group.targets.all())
    unstarted = [each for each in targets if is_pending_and_unclaimed(each)]
    if group.status not in UNFINISHED_GROUP_STATUSES or not unstarted:
        return None
    if group.status == GroupStatus.DRAFT:
        return Cancellation(_("Delete the draft"), _("Delete this draft?"), _("The draft was deleted."))
    if group.status == GroupStatus.PUBLISHING and all(each.attempts for each in unstarted):
        if begins:
            return None
        return Cancellation(_("Stop trying"), _("Stop trying to send this post?"), _("The post is not tried again."))
    if group.status == GroupStatus.PUBLISHING and len(unstarted) < len(targets):
        return Cancellation(
            _("Cancel the other accounts"),
            _("Cancel the post for the accounts where it has not begun?"),
            _("The post was cancelled for the accounts where it had not begun."),
        )
    question = _("Cancel this post? It will not be published.")
    return Cancellation(_("Cancel post"), question, _("The post was cancelled."))
