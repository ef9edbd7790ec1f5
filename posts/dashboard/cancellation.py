"""What a person cancels on the page of a post: the draft, the post, the accounts still to come, or further attempts."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils import timezone
from django.utils.translation import gettext as _

from posts.dashboard.undo_offers import PUBLISHING_DELAY_FOR_UNDO
from posts.models import PostGroup
from posts.services.changes import is_pending_and_unclaimed
from posts.states import UNFINISHED_GROUP_STATUSES, Certainty, GroupStatus, TargetStatus


@dataclass(frozen=True)
class Cancellation:
    """A way to cancel a post: the label of its button, the question before it, and what is said after it."""

    label: str
    question: str
    done: str


def cancellation_or_none(group: PostGroup, *, begins: bool) -> Cancellation | None:
    """Return what a person can cancel of a post, in words; None if there is nothing.

    `begins`: the post is about to be published, or sent again. While only retries that can still be undone are unfinished,
    nothing is cancelled: that would not bring back the failure.
    """
    targets = list(group.targets.all())
    unstarted = [each for each in targets if is_pending_and_unclaimed(each)]
    if group.status not in UNFINISHED_GROUP_STATUSES or not unstarted:
        return None
    if group.status == GroupStatus.DRAFT:
        return Cancellation(_("Delete the draft"), _("Delete this draft?"), _("The draft was deleted."))
    soon = timezone.now() + PUBLISHING_DELAY_FOR_UNDO
    if group.status == GroupStatus.PUBLISHING and begins and all(each.due_at and each.due_at <= soon for each in unstarted):
        return None
    if group.status == GroupStatus.PUBLISHING and all(each.attempts for each in unstarted):
        return Cancellation(_("Stop trying"), _("Stop trying to send this post?"), _("The post is not tried again."))
    may_be_sent = any(Certainty(each.certainty).final_status == TargetStatus.UNCONFIRMED for each in unstarted)
    if group.status == GroupStatus.PUBLISHING and (len(unstarted) < len(targets) or may_be_sent):
        return Cancellation(
            _("Cancel the other accounts"),
            _("Cancel the post for the accounts where it has not begun?"),
            _("The post was cancelled for the accounts where it had not begun."),
        )
    question = _("Cancel this post? It will not be published.")
    return Cancellation(_("Cancel post"), question, _("The post was cancelled."))
