"""Actions on several posts at once: approve, move or cancel them; each makes the same plan as the page of a single post.

A preview makes the plans, and a confirmation commits them one by one: what is refused does not stop the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop, ngettext_lazy, pgettext, pgettext_lazy

from accounts.local_time import first_instant_at_local_time
from config.api.errors import Conflict
from config.pages.language import format_date
from config.pages.sentences import PageRefusal
from posts.content import UNCHANGED, PostEdit, own_scheduled_at
from posts.dashboard.approval_words import needs_approval_if_moved
from posts.dashboard.approvals import whether_approval_publishes_and_when
from posts.dashboard.undo_offers import (
    UndoOffer,
    undo_offer_after_scheduling_or_publishing,
    undo_offer_of_deletion_or_none,
    undo_offer_of_move,
)
from posts.models import PostGroup
from posts.plan import Plan
from posts.services.cancel import plan_cancel
from posts.services.changes import is_unattempted_target
from posts.services.review import plan_confirm
from posts.services.target_moves import TargetTime, target_inputs_with_times
from posts.services.update import plan_update
from posts.states import GroupStatus
from workspaces.workspace_page import WorkspacePage

TIME_PATTERN = "D j M Y, H:i"
Words = str | Promise
SHOWN_CHARACTERS = 1000  # of a post's text in the preview


@dataclass(frozen=True)
class TimeShift:
    """How the action "move" changes the times of chosen posts: to one time, or by days (same local time) and hours."""

    at: datetime | None = None
    days: int = 0
    hours: int = 0

    def time_after_shift(self, page: WorkspacePage, before: datetime) -> datetime:
        """Return the time to which this TimeShift moves a post that has the time `before`."""
        if self.at:
            return self.at
        local = before.astimezone(page.zone).replace(tzinfo=None, fold=0) + timedelta(days=self.days)
        return (first_instant_at_local_time(local, page.zone) if self.days else before) + timedelta(hours=self.hours)


@dataclass(frozen=True)
class PreparedAction:
    """An action on one of the chosen posts: what it does, in words, how to plan it, and how to undo it once it is committed.

    `waits`: it sends the post to an owner or admin for approval.
    """

    words: str
    plan: Callable[[], Plan]
    undo: Callable[[], UndoOffer | None]
    waits: bool = False


@dataclass(frozen=True)
class ActionOnChosenPosts:
    """An action on chosen posts, such as moving them: the operation, its words on pages, and how it is prepared.

    `possible`, `impossible`, `done` and `not_done` are sentences with a `%(count)d` of posts.
    """

    operation: str
    title: Words
    button: Words
    confirm: Words
    possible: Words
    impossible: Words
    on_its_own: Words
    done: Words
    not_done: Words
    prepare: Callable[[WorkspacePage, PostGroup, TimeShift], PreparedAction]


def prepare_action(
    page: WorkspacePage, action: ActionOnChosenPosts, group: PostGroup, move: TimeShift, version: int | None
) -> PreparedAction:
    """Prepare an action on a chosen post. Raises API errors, such as Conflict if its content is not the `version` shown."""
    if version not in (None, group.content_version):
        raise Conflict(gettext_noop("Somebody else changed the group in the meantime."))
    return action.prepare(page, group, move)


def _approval(page: WorkspacePage, group: PostGroup, move: TimeShift) -> PreparedAction:
    if group.status != GroupStatus.PENDING_CONFIRMATION:
        raise PageRefusal(_("It does not await approval."))
    if _has_unshown_content(group):
        raise PageRefusal(_("It has more than is shown here. Open it to read it all, and approve it there."))
    publishes, at = whether_approval_publishes_and_when(page, group)
    first = group.shown_scheduled_at_or_none
    words = pgettext("of a post", "Published") if publishes else _("Scheduled for a slot")
    if first and not publishes:
        words = _("Scheduled for %(time)s") % {"time": _in_words(page, first)}
    return PreparedAction(
        words,
        lambda: plan_confirm(page.caller, group.id, content_version=group.content_version, scheduled_at=at),
        lambda: (
            undo_offer_after_scheduling_or_publishing(group, group.id, publishes=publishes) if at or not publishes else None
        ),
    )


def _moving(page: WorkspacePage, group: PostGroup, move: TimeShift) -> PreparedAction:
    moved = [each for each in group.targets.all() if is_unattempted_target(each)]
    if not moved:
        raise PageRefusal(_("It is being published, or it is finished."))
    times = {each.account_id: each.scheduled_at for each in moved if each.scheduled_at}
    if len(times) < len(moved):
        raise PageRefusal(_("It has no time yet. Open it to schedule it."))
    later = {account_id: TargetTime(move.time_after_shift(page, at), slot=False) for account_id, at in times.items()}
    own = move.time_after_shift(page, group.scheduled_at) if group.scheduled_at else UNCHANGED
    edit = PostEdit(scheduled_at=own)
    if len(moved) < len(group.targets.all()) or any(each.slot or own_scheduled_at(group, each) for each in moved):
        edit = PostEdit(scheduled_at=own, targets=target_inputs_with_times(group, later))
    first = min(times.values())
    waits, words = (
        needs_approval_if_moved(page, group),
        f"{_in_words(page, first)} → {_in_words(page, move.time_after_shift(page, first))}",
    )
    return PreparedAction(
        _("%(move)s, and waits for approval") % {"move": words} if waits else words,
        lambda: plan_update(page.caller, group.id, edit, content_version=group.content_version),
        lambda: undo_offer_of_move(group, moved),
        waits=waits,
    )


def _cancellation(page: WorkspacePage, group: PostGroup, move: TimeShift) -> PreparedAction:
    words = {
        GroupStatus.DRAFT: pgettext("of a post", "Deleted"),
        GroupStatus.PUBLISHING: _("Cancelled where it has not begun"),
    }
    return PreparedAction(
        words.get(GroupStatus(group.status), pgettext("of a post", "Cancelled")),
        lambda: plan_cancel(page.caller, group.id),
        lambda: undo_offer_of_deletion_or_none(group),
    )


def _has_unshown_content(group: PostGroup) -> bool:
    """Return whether a chosen post has more than the preview of the action shows, such as a long text or a thread."""
    targets = group.targets.all()
    return len(group.text) > SHOWN_CHARACTERS or any(each.options or each.shown_text != group.text for each in targets)


def _in_words(page: WorkspacePage, at: datetime) -> str:
    return format_date(at.astimezone(page.zone), TIME_PATTERN)


ACTIONS = {
    "approve": ActionOnChosenPosts(
        "posts.confirm",
        title=gettext_lazy("Approve posts"),
        button=gettext_lazy("Approve"),
        confirm=gettext_lazy("Approve the checked posts"),
        possible=ngettext_lazy("%(count)d post will be approved", "%(count)d posts will be approved", "count"),
        impossible=ngettext_lazy("%(count)d cannot be approved", "%(count)d cannot be approved", "count"),
        on_its_own=gettext_lazy("Each post is approved on its own: if one is refused, the others are approved."),
        done=ngettext_lazy("%(count)d post approved.", "%(count)d posts approved.", "count"),
        not_done=ngettext_lazy("%(count)d post was not approved.", "%(count)d posts were not approved.", "count"),
        prepare=_approval,
    ),
    "move": ActionOnChosenPosts(
        "posts.update",
        title=gettext_lazy("Move posts"),
        button=gettext_lazy("Move"),
        confirm=gettext_lazy("Move the checked posts"),
        possible=ngettext_lazy("%(count)d post will be moved", "%(count)d posts will be moved", "count"),
        impossible=ngettext_lazy("%(count)d cannot be moved", "%(count)d cannot be moved", "count"),
        on_its_own=gettext_lazy("Each post is moved on its own: if one is refused, the others are moved."),
        done=ngettext_lazy("%(count)d post moved.", "%(count)d posts moved.", "count"),
        not_done=ngettext_lazy("%(count)d post was not moved.", "%(count)d posts were not moved.", "count"),
        prepare=_moving,
    ),
    "cancel": ActionOnChosenPosts(
        "posts.cancel",
        title=gettext_lazy("Cancel posts"),
        button=pgettext_lazy("a post", "Cancel"),
        confirm=gettext_lazy("Cancel the checked posts"),
        possible=ngettext_lazy("%(count)d post will be cancelled", "%(count)d posts will be cancelled", "count"),
        impossible=ngettext_lazy("%(count)d cannot be cancelled", "%(count)d cannot be cancelled", "count"),
        on_its_own=gettext_lazy("Each post is cancelled on its own: if one is refused, the others are cancelled."),
        done=ngettext_lazy("%(count)d post cancelled.", "%(count)d posts cancelled.", "count"),
        not_done=ngettext_lazy("%(count)d post was not cancelled.", "%(count)d posts were not cancelled.", "count"),
        prepare=_cancellation,
    ),
}
